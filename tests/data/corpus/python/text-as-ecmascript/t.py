name = "t"


def transform(sources):
    return [{"id": "\x00\x08\t\n\x0b\x0c\r\x1b\"\\/", "v": "\x7f\x80\u2028\ufeffé😀", "\n": ""}]
