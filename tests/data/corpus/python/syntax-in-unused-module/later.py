def f():
    pass


break
