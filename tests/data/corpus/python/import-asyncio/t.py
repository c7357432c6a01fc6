import asyncio

name = "t"


def transform(sources):
    return [{'id': str(asyncio)}]
