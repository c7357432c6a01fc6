import re

name = "t"


def transform(sources):
    return [{"id": str(re.search("(x+x+)+y", "x" * 40))}]
