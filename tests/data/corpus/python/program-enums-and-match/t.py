import enum
import json
from typing import NamedTuple, TypeAlias, Union

name = "expressions"


class Op(enum.Enum):
    ADD = "+"
    SUB = "-"
    MUL = "*"

    @property
    def strength(self):
        return 2 if self is Op.MUL else 1


class Num(NamedTuple):
    value: int


class Bin(NamedTuple):
    op: Op
    left: "Tree"
    right: "Tree"


Tree: TypeAlias = Union[Num, Bin]


def parse(data):
    match data:
        case bool():
            raise TypeError("truth values are no numbers")
        case int(value):
            return Num(value)
        case [left, str(op), right]:
            return Bin(Op(op), parse(left), parse(right))
        case {"value": inner}:
            return parse(inner)
        case _:
            raise ValueError(f"no expression: {data!r}")


def value(tree):
    match tree:
        case Num(number):
            return number
        case Bin(op=Op.ADD, left=left, right=right):
            return value(left) + value(right)
        case Bin(Op.SUB, left, right):
            return value(left) - value(right)
        case Bin(_, left, right):
            return value(left) * value(right)


def show(tree, around=0):
    if isinstance(tree, Num):
        return str(tree.value)
    text = f"{show(tree.left, tree.op.strength)} {tree.op.value} {show(tree.right, tree.op.strength + 1)}"
    return f"({text})" if tree.op.strength < around else text


def transform(sources):
    cases = []
    for number, line in enumerate(filter(str.strip, sources["rows"]["content"].split("\n")), 1):
        try:
            tree = parse(json.loads(line))
        except (TypeError, ValueError) as error:
            cases.append({"id": f"e{number:02}", "error": str(error)})
        else:
            cases.append({"id": f"e{number:02}", "prompt": show(tree), "value": value(tree), "repr": repr(tree)})
    return cases
