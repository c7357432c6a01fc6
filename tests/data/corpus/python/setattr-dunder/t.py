name = "t"


def transform(sources):
    class C: pass
    setattr(C, "__match" + "_args__", ("x",))
    return [{"id": "x"}]
