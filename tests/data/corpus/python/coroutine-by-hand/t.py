name = "t"


def transform(sources):
    async def later():
        return "done"


    waiting = later()
    try:
        waiting.send(None)
    except StopIteration as stop:
        return [{"id": stop.value}]
