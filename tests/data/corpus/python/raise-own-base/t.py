name = "t"


def transform(sources):
    class Stop(BaseException): pass


    raise Stop("enough")
