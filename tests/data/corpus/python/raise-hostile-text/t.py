name = "t"


def transform(sources):
    class Odd(Exception):
        def __str__(self):
            raise SystemError("no text")


    raise Odd
