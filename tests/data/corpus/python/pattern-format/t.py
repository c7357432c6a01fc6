name = "t"


def transform(sources):
    match "{0.__code__}":
        case str(format=show):
            return [{"id": show(transform)}]
