name = "t"


def transform(sources):
    class C:
        log = []

        def __del__(self):
            C.log.append(1)


    C()
    return [{"id": str(C.log)}]
