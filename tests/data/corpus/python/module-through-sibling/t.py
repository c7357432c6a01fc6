from . import helper

name = "t"


def transform(sources):
    return [{"id": helper.csv.__name__ + str(helper.csv.QUOTE_ALL)}]
