name = "t"


def transform(sources):
    log = []
    for text in ["1", "x", None]:
        try:
            log.append(int(text))
        except (ValueError, TypeError) as error:
            log.append(type(error).__name__)
        finally:
            log.append("-")
    try:
        raise ExceptionGroup("several", [ValueError("v"), KeyError("k")])
    except* ValueError as group:
        log.append(len(group.exceptions))
    except* KeyError:
        log.append("key")
    try:
        raise RuntimeError("outer") from ValueError("inner")
    except RuntimeError as error:
        log.append(str(error.__cause__))
    return [{"id": "e", "v": log}]
