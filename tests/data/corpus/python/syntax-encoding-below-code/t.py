name = "t"
# coding: latin-1 is what the data once had


def transform(sources):
    return [{"id": "é"}]
