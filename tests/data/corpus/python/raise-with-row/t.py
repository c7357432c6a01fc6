name = "t"


def transform(sources):
    raise ValueError(f"row {7}: no label")
