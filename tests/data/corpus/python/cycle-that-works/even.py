from . import odd


def even(n):
    return n == 0 or odd.odd(n - 1)
