"""The text of a module from its bytes, with the limits that keep reading it a matter of seconds."""

from __future__ import annotations

from trunchbuild.core.survey import Finding, broken

MAX_MODULE_BYTES = 8 << 20
"""Of one module in JavaScript, TypeScript or Python. Reading takes some five seconds per MiB of ordinary code."""
MAX_GRAPH_BYTES = 16 << 20
"""Of all modules of one run that are code."""
MAX_MODULES = 1000
"""In one run."""

_DATA = "data belongs into a source, or into a .json module"


def module_text(path: str, data: bytes) -> tuple[str | None, Finding | None]:
    """The text without its byte order mark, or what is wrong with the bytes."""
    if len(data) > MAX_MODULE_BYTES and not path.endswith(".json"):
        return None, broken(
            path,
            "the module is too large",
            code="too-large",
            expected=f"at most {MAX_MODULE_BYTES:,} bytes",
            got=f"{len(data):,} bytes",
            hint=_DATA,
        )
    try:
        return data.decode("utf-8").removeprefix("\ufeff"), None
    except UnicodeDecodeError as error:
        return None, _not_utf8(path, data, error.start)


def _not_utf8(path: str, data: bytes, at: int) -> Finding:
    line = data.count(b"\n", 0, at) + 1
    start = data.rfind(b"\n", 0, at) + 1
    column = len(data[start:at].decode("utf-8", "replace").removeprefix("\ufeff")) + 1
    is_utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    return broken(
        path,
        f"not UTF-8: invalid byte at offset {at}",
        code="not-utf8",
        place=f"{line}:{column}",
        expected="UTF-8",
        got="UTF-16" if is_utf16 else f"the byte 0x{data[at]:02X}",
        hint=f"convert it: iconv -f {'UTF-16' if is_utf16 else 'LATIN1'} -t UTF-8",
    )


def too_many(path: str, count: int, size: int) -> Finding | None:
    """What is wrong with so many modules of so many bytes that belong to the entry `path`."""
    if count <= MAX_MODULES and size <= MAX_GRAPH_BYTES:
        return None
    return broken(
        path,
        "it imports too much, directly or through others",
        code="too-large",
        expected=f"at most {MAX_MODULES:,} modules of {MAX_GRAPH_BYTES:,} bytes together",
        got=f"{count:,} modules of {size:,} bytes",
        hint=_DATA,
    )
