import re
import unicodedata

_SPACES = re.compile(r"\s+")


def clean(text):
    text = unicodedata.normalize("NFC", text)
    return _SPACES.sub(" ", "".join(c for c in text if unicodedata.category(c) != "Cc" or c in "\n\t")).strip()
