"""What a Python transformer may use of Python: modules, built-ins, attributes. Data; `policy_python` applies it.

Allowed is what gives the same answer on every machine and day, and needs nothing from the outside. The guest gets the
same tables and enforces them again while the code runs.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping

_ALL: tuple[str, ...] = ()
"""Every public name that is no module."""

LIBRARY: Mapping[str, tuple[str, ...]] = {
    "__future__": _ALL,
    "abc": _ALL,
    "ast": ("literal_eval",),
    "base64": _ALL,
    "binascii": _ALL,
    "bisect": _ALL,
    "cmath": _ALL,
    "collections": _ALL,
    "collections.abc": _ALL,
    "contextlib": _ALL,
    "copy": _ALL,
    "csv": _ALL,
    "dataclasses": _ALL,
    "decimal": _ALL,
    "difflib": _ALL,
    "enum": _ALL,
    "fractions": _ALL,
    "functools": _ALL,
    "hashlib": (
        *("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "new", "blake2b", "blake2s"),
        *("sha3_224", "sha3_256", "sha3_384", "sha3_512", "shake_128", "shake_256"),
    ),
    "heapq": _ALL,
    "hmac": _ALL,
    "html": _ALL,
    "html.entities": _ALL,
    "html.parser": _ALL,
    "io": ("StringIO", "BytesIO"),
    "itertools": _ALL,
    "json": ("loads", "load", "dumps", "dump", "JSONDecoder", "JSONEncoder", "JSONDecodeError"),
    "json.decoder": ("JSONDecodeError", "JSONDecoder"),
    "keyword": _ALL,
    "math": _ALL,
    "numbers": _ALL,
    "operator": _ALL,
    "pathlib": ("PurePath", "PurePosixPath"),
    "re": _ALL,
    "statistics": _ALL,
    # Not Formatter: it reads any attribute.
    "string": (
        *("ascii_letters", "ascii_lowercase", "ascii_uppercase", "capwords", "digits", "hexdigits", "octdigits"),
        *("printable", "punctuation", "whitespace", "Template"),
    ),
    "struct": _ALL,
    "textwrap": _ALL,
    "types": ("SimpleNamespace", "MappingProxyType"),
    "typing": _ALL,
    "unicodedata": _ALL,
    "urllib.parse": _ALL,
    "uuid": ("UUID", "uuid3", "uuid5", "NAMESPACE_DNS", "NAMESPACE_URL", "NAMESPACE_OID", "NAMESPACE_X500"),
    # Compressing gives other bytes with other versions of zlib.
    "zlib": ("crc32", "adler32", "decompress", "decompressobj", "error"),
}
"""Module -> its names that may be used."""

LOADED_WITH_PARENT = frozenset(("collections.abc", "html.entities", "json.decoder"))
"""Modules that need no import of their own: `import json` makes `json.decoder.JSONDecodeError` work."""

WITHHELD: Mapping[str, tuple[str, ...]] = {
    "dataclasses": ("make_dataclass",),
    "functools": ("singledispatch", "singledispatchmethod"),
    "typing": ("get_type_hints", "ForwardRef", "evaluate_forward_ref"),
}
"""Names of an `_ALL` module that run text as code."""

_CLOCK = "a result must not depend on the day; take dates from a source"
_CHANCE = "take a rule instead, for example the digest of an id"
_FILES = "declare the file as a source and read `sources[NAME]['content']`"
_OUTSIDE = "a transformer sees its sources and nothing else"

MODULE_HINTS: Mapping[str, str] = {
    **dict.fromkeys(("datetime", "time", "calendar", "zoneinfo", "_datetime", "_time"), _CLOCK),
    **dict.fromkeys(("random", "secrets", "_random"), _CHANCE),
    **dict.fromkeys(("os", "pathlib", "glob", "shutil", "tempfile", "io", "fileinput", "os.path"), _FILES),
    **dict.fromkeys(("sys", "subprocess", "socket", "threading", "multiprocessing", "asyncio", "ctypes"), _OUTSIDE),
    **dict.fromkeys(("urllib.request", "http", "http.client", "requests", "httpx", "aiohttp"), _OUTSIDE),
    **dict.fromkeys(("numpy", "pandas", "datasets", "yaml"), "only Python's own library is there"),
}

REFUSED_BUILTINS: Mapping[str, str] = {
    "open": _FILES,
    "input": _OUTSIDE,
    "eval": "text of a source must not become code; `ast.literal_eval` reads literals",
    "exec": "text of a source must not become code",
    "compile": "text of a source must not become code",
    "id": "it is an address, another one in every process; use a counter or a key of your own",
    "hash": "hashes of text differ from process to process; use hashlib (allowed inside a `__hash__` method)",
    "globals": "name what you need",
    "locals": "name what you need",
    "vars": "name what you need",
    "dir": "name what you need",
    "breakpoint": _OUTSIDE,
    "help": _OUTSIDE,
    "exit": "raise an exception to fail, return to end",
    "quit": "raise an exception to fail, return to end",
    "copyright": _OUTSIDE,
    "credits": _OUTSIDE,
    "license": _OUTSIDE,
    "SystemExit": "raise another exception to fail",
    "KeyboardInterrupt": "raise another exception to fail",
    "__builtins__": _OUTSIDE,
    "__import__": "write an import statement",
    "__loader__": _OUTSIDE,
    "__spec__": _OUTSIDE,
    "__file__": _FILES,
    "__cached__": _OUTSIDE,
    "__path__": _OUTSIDE,
}
"""Built-in name -> what to do instead."""

BUILTINS: tuple[str, ...] = tuple(
    sorted(
        {
            *("abs", "aiter", "all", "anext", "any", "ascii", "bin", "bool", "bytearray", "bytes", "callable", "chr"),
            *("classmethod", "complex", "delattr", "dict", "divmod", "enumerate", "filter", "float", "format"),
            *("frozenset", "getattr", "hasattr", "hash", "hex", "int", "isinstance", "issubclass", "iter", "len"),
            *("list", "map", "max", "memoryview", "min", "next", "object", "oct", "ord", "pow", "print", "property"),
            *("range", "repr", "reversed", "round", "set", "setattr", "slice", "sorted", "staticmethod", "str", "sum"),
            *("super", "tuple", "type", "zip", "None", "True", "False", "Ellipsis", "NotImplemented", "__debug__"),
            "__build_class__",
            *(
                name
                for name, value in vars(builtins).items()
                if isinstance(value, type) and issubclass(value, BaseException) and name not in REFUSED_BUILTINS
            ),
        }
    )
)
"""Every built-in name that exists for the author's code."""

_DATA_NAMES = (
    "class name qualname doc slots annotations members post_init wrapped match_args all version author"
    " cause context notes"
)
_METHOD_NAMES = (
    "new init init_subclass set_name class_getitem repr str bytes format lt le eq ne gt ge hash bool call len"
    " length_hint getitem setitem delitem missing iter next reversed contains add sub mul matmul truediv floordiv"
    " mod divmod pow lshift rshift and xor or radd rsub rmul rmatmul rtruediv rfloordiv rmod rdivmod rpow rlshift"
    " rrshift rand rxor ror iadd isub imul imatmul itruediv ifloordiv imod ipow ilshift irshift iand ixor ior neg"
    " pos abs invert complex int float index round trunc floor ceil enter exit getattr setattr delattr"
    " get set delete instancecheck subclasscheck copy deepcopy fspath prepare aiter anext aenter aexit await"
)

SPECIAL_ATTRIBUTES: frozenset[str] = frozenset(f"__{name}__" for name in f"{_DATA_NAMES} {_METHOD_NAMES}".split())
"""Names with two underscores on both sides that code may read or define. Others lead to the interpreter's inside."""

REFUSED_ATTRIBUTES: frozenset[str] = frozenset(
    {
        *("gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "cr_code", "cr_origin", "cr_await", "ag_frame", "ag_code"),
        *("f_back", "f_builtins", "f_code", "f_globals", "f_locals", "f_trace", "tb_frame", "tb_next", "tb_lasti"),
        *("co_code", "co_consts", "func_globals", "func_code", "mro"),
    }
)


def is_refused_attribute(name: str) -> bool:
    """Whether an attribute leads out of the data into the interpreter."""
    return name in REFUSED_ATTRIBUTES or (
        name.startswith("__") and name.endswith("__") and name not in SPECIAL_ATTRIBUTES
    )
