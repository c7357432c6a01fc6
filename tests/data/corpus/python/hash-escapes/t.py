name = "t"


def transform(sources):
    class Key:
        seen = []

        def __init__(self, text):
            self.text = text

        def __hash__(self):
            Key.seen.append(hash(self.text))
            return Key.seen[-1]


    return [{"id": str(len({Key("a"), Key("b")})), "v": str(Key.seen)}]
