from ...common.shared import LIMIT


def tag(name):
    return f'{name}-{LIMIT}'
