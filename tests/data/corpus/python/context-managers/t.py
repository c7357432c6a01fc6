import contextlib

name = "t"


def transform(sources):
    class Catch:
        def __enter__(self):
            return self

        def __exit__(self, kind, error, traceback):
            self.kind, self.text = kind.__name__, str(error)
            return True


    with Catch() as caught:
        raise ValueError("seen")
    steps = []
    with contextlib.ExitStack() as stack:
        stack.callback(steps.append, "last")
        stack.enter_context(contextlib.suppress(KeyError))
        {}["missing"]
    return [{"id": caught.kind, "text": caught.text, "steps": steps}]
