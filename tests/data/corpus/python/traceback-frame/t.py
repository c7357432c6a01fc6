name = "t"


def transform(sources):
    class Catch:
        def __enter__(self):
            return self

        def __exit__(self, kind, error, traceback):
            self.frame = traceback.tb_frame
            return True


    with Catch() as caught:
        raise ValueError
    return [{"id": str(caught.frame)}]
