import dataclasses

name = "t"


def transform(sources):
    made = type("Made", (), {"__annotations__": {"x=().__class__.__base__": int}})
    return [{"id": str(dataclasses.dataclass(made))}]
