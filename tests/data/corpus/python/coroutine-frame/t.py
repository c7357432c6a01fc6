name = "t"


def transform(sources):
    async def later():
        return 1


    waiting = later()
    frame = waiting.cr_frame
    waiting.close()
    return [{"id": str(frame.f_back is None)}]
