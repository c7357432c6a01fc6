import mmap

name = "t"


def transform(sources):
    return [{'id': str(mmap.PAGESIZE)}]
