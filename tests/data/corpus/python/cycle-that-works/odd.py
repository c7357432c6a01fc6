from . import even


def odd(n):
    return n != 0 and even.even(n - 1)
