import typing

name = "t"


def transform(sources):
    def f(x: "open(1)"): pass


    return [{"id": str(typing.get_type_hints(f))}]
