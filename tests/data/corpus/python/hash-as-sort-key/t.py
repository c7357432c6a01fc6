name = "t"


def transform(sources):
    return [{"id": i} for i in sorted(["a", "b", "c", "d", "e"], key=hash)[:3]]
