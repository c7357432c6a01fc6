import dataclasses
import re

name = "t"


def transform(sources):
    @dataclasses.dataclass(order=True)
    class Row:
        n: int
        tags: list = dataclasses.field(default_factory=list)

        def __str__(self):
            return f"<{self.n}>"


    return [{"id": str(Row(1)), "field": f"{Row(2)!s:>5}", "kind": str(int), "match": str(re.match("a", "ab")), "error": repr(KeyError("k"))}]
