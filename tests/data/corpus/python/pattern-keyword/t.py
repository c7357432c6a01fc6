name = "t"


def transform(sources):
    match transform:
        case object(__globals__=found):
            return [{"id": str(found)}]
