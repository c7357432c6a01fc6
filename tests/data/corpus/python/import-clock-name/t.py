from datetime import timezone, datetime as d

name = "t"


def transform(sources):
    return [{'id': str(d)}]
