import re

name = "t"


def transform(sources):
    steps, number = 0, 27
    while number != 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        steps += 1
    return [{"id": "c", "v": steps, "p": pow(3, 1000, 7), "m": re.fullmatch("(?:x+)y", "x" * 40) is None}]
