name = "t"


def transform(sources):
    return [{'id': str((i for i in "a").gi_frame.f_lineno)}]
