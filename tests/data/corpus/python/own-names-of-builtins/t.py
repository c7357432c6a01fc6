import ast

name = "t"


def transform(sources):
    def open(path):
        return path.upper()


    def vars(id, hash=3):
        return [id, hash]


    eval = {"dir": 1}
    return [{"id": open("x"), "vars": vars(7), "eval": eval["dir"], "read": ast.literal_eval("[1, {'a': (2, None)}]")}]
