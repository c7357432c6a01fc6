name = "t"


def transform(sources):
    found = "none"
    for attempt in range(2):
        try:
            import platform
            found = platform.node()
        except (ImportError, AttributeError, BaseException):
            pass
    return [{"id": found}]
