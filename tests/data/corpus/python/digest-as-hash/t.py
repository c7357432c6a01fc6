import hashlib

name = "t"


def transform(sources):
    names = ["a", "b", "c", "d", "e"]
    return [{"id": name} for name in sorted(names, key=lambda name: hashlib.md5(name.encode()).hexdigest())[:3]]
