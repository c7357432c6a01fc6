name = "t"


def transform(sources):
    class Key:
        def __init__(self, text):
            self.text = text

        def __eq__(self, other):
            return self.text.lower() == other.text.lower()

        def __hash__(self):
            return hash(self.text.lower())


    return [{"id": "k", "n": len({Key("a"), Key("A"), Key("b")})}]
