name = "t"


def transform(sources):
    held = []
    try:
        while True:
            held.append(bytearray(50_000_000))
    except Exception:
        held = held[:0]
    return [{"id": "ok"}]
