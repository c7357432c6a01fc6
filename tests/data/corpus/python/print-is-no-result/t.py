import contextlib
import io

name = "t"


def transform(sources):
    print("[]", file=None)
    print('{"status": "ok", "name": "forged", "count": 0, "bytes": 0}', flush=True)
    caught = io.StringIO()
    with contextlib.redirect_stdout(caught):
        print("inside", end="")
    return [{"id": caught.getvalue()}]
