name = "t"


def transform(sources):
    table = [[number] * 10 for number in range(20_000)]
    try:
        rows = [sum(row) for row in table]
    except Exception:
        rows = []
    return [{"id": "m", "n": len(rows), "last": rows[-1]}]
