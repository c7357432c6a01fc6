name = "t"


def transform(sources):
	if sources:
        return [{"id": "x"}]
