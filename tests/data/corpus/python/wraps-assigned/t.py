import functools

name = "t"


def transform(sources):
    class Spy:
        seen = None

        def __setattr__(self, name, value): Spy.seen = value


    functools.update_wrapper(Spy(), transform, assigned=["__co" + "de__"], updated=[])
    return [{"id": str(Spy.seen)}]
