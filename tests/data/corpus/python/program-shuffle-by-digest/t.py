import base64
import binascii
import copy
import hashlib
import hmac
import json
import struct
import uuid
import zlib
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

name = "shuffle"
LETTERS = "ABCD"


def order(key, items):
    return sorted(items, key=lambda item: hmac.new(key.encode(), item.encode(), "sha256").digest())


def transform(sources):
    cases = []
    for row in map(json.loads, sources["rows"]["content"].splitlines()):
        kept = copy.deepcopy(row)
        choices = order(row["id"], row["choices"])
        row["choices"].clear()
        labels = dict(zip(LETTERS, choices))
        right = next(label for label, text in labels.items() if text == kept["answer"])
        packed = struct.pack(">HbI", len(choices), -1, zlib.crc32(kept["answer"].encode()))
        url = urlsplit(kept["url"])
        cases.append({
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, kept["url"])), "labels": labels, "answer": right, "left": len(kept["choices"]),
            "packed": base64.b64encode(packed).decode("ascii"), "hex": binascii.hexlify(packed[:3]).decode(), "host": url.netloc,
            "query": dict(parse_qsl(url.query)), "again": urlencode({"q": kept["answer"], "n": 1}), "quoted": quote(kept["answer"]),
            "sha3": hashlib.sha3_256(packed).hexdigest()[:12],
        })
    return cases
