import functools
import hashlib
from abc import ABC, abstractmethod
from contextlib import contextmanager

name = "classes"

REGISTRY = {}


class Shape(ABC):
    sides = 0

    def __init_subclass__(cls, *, sides, **rest):
        super().__init_subclass__(**rest)
        cls.sides = sides
        REGISTRY[cls.__name__.lower()] = cls

    def __init__(self, *lengths):
        self.lengths = lengths

    @property
    @abstractmethod
    def area(self): ...

    @classmethod
    def parse(cls, text):
        kind, _, rest = text.partition(" ")
        return REGISTRY[kind](*map(float, rest.split()))

    @staticmethod
    def digest(text):
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def __eq__(self, other):
        return isinstance(other, Shape) and self.area == other.area

    def __lt__(self, other):
        return self.area < other.area

    def __hash__(self):
        return hash(self.area)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self.lengths))})"


class Square(Shape, sides=4):
    @property
    def area(self):
        return self.lengths[0] ** 2


class Box(Square, sides=4):
    @property
    def area(self):
        return self.lengths[0] * self.lengths[1]

    def __format__(self, spec):
        return f"{super().area:.1f}/{self.area:{spec}}"


@functools.total_ordering
class Version:
    __slots__ = ("parts",)

    def __init__(self, text):
        self.parts = tuple(map(int, text.split(".")))

    def __eq__(self, other):
        return self.parts == other.parts

    def __lt__(self, other):
        return self.parts < other.parts

    def __str__(self):
        return ".".join(map(str, self.parts))


class Log:
    def __init__(self):
        self._lines = []

    def __iadd__(self, line):
        self._lines.append(line)
        return self

    def __len__(self):
        return len(self._lines)

    def __getitem__(self, index):
        return self._lines[index]

    def __contains__(self, line):
        return line in self._lines


def logged(log):
    def around(function):
        @functools.wraps(function)
        def inside(*arguments, **named):
            nonlocal log
            log += f"{function.__name__}{arguments}"
            return function(*arguments, **named)

        return inside

    return around


@contextmanager
def section(log, title):
    log += f"<{title}>"
    try:
        yield len(log)
    finally:
        log += f"</{title}>"


def transform(sources):
    log = Log()

    @logged(log)
    @functools.lru_cache(maxsize=None)
    def fib(n):
        """Numbers of Fibonacci."""
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    with section(log, "fib") as before:
        numbers = [fib(n) for n in range(6)]
    shapes = sorted(Shape.parse(line) for line in sources["rows"]["content"].splitlines())
    versions = sorted(map(Version, ["1.10", "1.9", "1.9.1"]))
    try:
        Shape(1)
    except TypeError as error:
        abstract = "abstract" in str(error)
    return [
        {"id": Shape.digest(repr(shape)), "shape": repr(shape), "area": f"{shape.area:g}", "sides": shape.sides} for shape in shapes
    ] + [{"id": "rest", "same": len(set(shapes)), "box": f"{Box(2, 3):>6.2f}", "versions": [*map(str, versions)], "top": str(max(versions)),
          "numbers": numbers, "log": log[:2] + log[-1:], "n": len(log) - before, "in": "</fib>" in log, "doc": fib.__doc__, "abstract": abstract,
          "newest": Version("2") >= versions[-1]}]
