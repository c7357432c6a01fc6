import hashlib

from . import VERSION


def short(text, size=10):
    return f"v{VERSION[0]}-{hashlib.blake2b(text.encode(), digest_size=size).hexdigest()}"
