import operator

name = "t"


def transform(sources):
    class Point:
        """Two numbers."""

        def __init__(self, x, y):
            self.x, self.y = x, y

        def __repr__(self):
            return "{0.__class__.__name__}({0.x!r}, {0.y:>3})".format(self)

        def __getattr__(self, name):
            if name.startswith("twice_"):
                return 2 * getattr(self, name.removeprefix("twice_"))
            raise AttributeError(name)


    point = Point(1, 2)
    setattr(point, "y", 5)
    both = operator.attrgetter("x", "y")(point)
    match point:
        case Point(x=1, y=y) if hasattr(point, "x"):
            found = y
    return [{"id": repr(point), "doc": Point.__doc__, "both": both, "found": found, "twice": point.twice_y,
             "kind": type(point).__qualname__.split(".")[-1], "up": operator.methodcaller("upper")("e"),
             "none": getattr(point, "z", None), "text": "{p.x}-{d[k]}".format_map({"p": point, "d": {"k": 3}})}]
