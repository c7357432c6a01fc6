import collections

name = "t"


def transform(sources):
    order = collections.OrderedDict(b=1, a=2)
    order.move_to_end("b")
    groups = collections.defaultdict(list, x=[1])
    groups["y"].append(2)
    shared = [1]
    return [{"id": "c", "o": order, "g": groups, "c": collections.Counter("aab"), "t": (1, (2,), []), "s": [shared, shared]}]
