name = "t"


def transform(sources):
    node = {"name": "a", "next": {}}
    node["next"]["back"] = node
    return [{"id": "x", "v": node}]
