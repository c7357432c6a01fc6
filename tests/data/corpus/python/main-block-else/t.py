name = "t"

if __name__ == "__main__":
    pass
else:
    import sys


def transform(sources):
    return [{"id": sys.version}]
