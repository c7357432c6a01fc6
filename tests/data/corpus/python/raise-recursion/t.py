name = "t"


def transform(sources):
    def again():
        return again()


    return [{"id": again()}]
