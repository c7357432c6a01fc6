import io
import itertools
import json
import re
from types import MappingProxyType, SimpleNamespace

name = "streams"

DEFAULTS = MappingProxyType({"lang": "en", "level": 1})


def sections(lines):
    """Title and lines of each part of a text file."""
    title, part = None, []
    for line in itertools.chain(lines, ["== end =="]):
        if found := re.match(r"==\s*(.+?)\s*==$", line):
            if title is not None:
                yield title, part
            title, part = found[1], []
        elif line.strip():
            part.append(line.rstrip())


def average():
    total = count = 0
    value = None
    while True:
        given = yield value
        if given is None:
            return total, count
        total, count = total + given, count + 1
        value = total // count


def options(part):
    own = dict(line.split("=", 1) for line in part if "=" in line)
    bag = SimpleNamespace(**{**DEFAULTS, **own})
    bag.level = int(bag.level)
    return bag


def transform(sources):
    cases, running = [], average()
    next(running)
    reader = io.StringIO(sources["rows"]["content"])
    for number, (title, part) in enumerate(sections(reader), 1):
        bag = options(part)
        text = [line for line in part if "=" not in line]
        mean = running.send(sum(map(len, text)))
        cases.append({"id": f"{number}.{title}", "lang": bag.lang, "level": bag.level, "text": "\n".join(text), "mean": mean, "bag": str(bag)})
    try:
        running.send(None)
    except StopIteration as stop:
        total, count = stop.value
    packed = json.dumps({"total": total, "count": count}, indent=1, sort_keys=True)
    return [*cases, {"id": "sum", "packed": packed, "back": json.loads(packed), "pad": [f"{n:^7}|{n:<4}|{n:+}|{n:08.3f}|{n:e}" for n in (3, -2)]}]
