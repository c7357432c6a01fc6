# -*- coding: utf-8 -*-

name = "t"


def transform(sources):
    text = """two
    lines"""
    naïve, *rest = [len(w) for w in text.split()] + [0x1F, 0b11, 1_000, 0o17]
    if (total := sum(rest)) > 3 and not (naïve != 3):
        text += f"{total:,}|{total!r:>6}|{text!s:.3}|{'q'}|{{}}"
    match {"kind": "b", "v": [1, 2, 3], "z": None}:
        case {"kind": "a" | "b" as kind, "v": [first, *others], **more} if first:
            text += f" {kind}{first}{others}{more}"
        case _:
            text = "none"
    d = {"a": 1} | {"b": 2}
    d["a"] += 41
    d |= {"c": [*range(2), *"xy"]}
    x = y = lambda a, /, b=2, *c, k=3, **e: (a, b, c, k, e)
    @(lambda f: f)
    def g(n: "int" = 3) -> "list[int]":
        global seen
        seen = n
        while n:
            n -= 1
            if n == 1: continue
            yield n
        else:
            return
    del x
    s = "bytes" if b"\x41" == b"A" else "\N{SNOWMAN}"
    return [{"id": text, "d": d, "y": y(1, 2, 3, k=4, z=5), "g": [*g()], "s": s, "t": not 1 < 2 < 3, "w": "a" "b", "é": seen}]
