name = "t"


async def transform(sources):
    yield {"id": "x"}
