"""What benchmark modules may not use, and what to use instead. One list for messages and for the syntax check."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class Reason(NamedTuple):
    """Why something is refused."""

    code: str
    """One of `policy_codes.CODES`."""
    hint: str
    """What to do instead."""


_CLOCK = Reason("clock", "the current time differs from run to run; a release must not depend on it")
_RANDOM = Reason("randomness", "random numbers differ from run to run; use a generator of your own with a fixed seed")
_NETWORK = Reason("network", "modules see no network; put the data into the repository and declare it as a source")
_MACHINE = Reason("machine", "modules see nothing of the machine that runs them")
_FILES = Reason("files", "modules see no file system; declare the file as a source")
_CODE = Reason("code-from-text", "code made from strings cannot be checked")
_MEMORY = Reason("memory", "shared memory and garbage collection differ from run to run")
_COMMONJS = Reason("commonjs", "modules are ECMAScript modules: use import and export")
_PROCESSES = Reason("machine", "modules start no processes or threads")
_IMPURE = Reason("host-api", "it is not pure")
_OTHER = Reason("host-api", "this belongs to browsers or servers, not to benchmark modules")

GLOBALS: Mapping[str, Reason] = {
    "process": Reason("machine", f"{_MACHINE.hint}: no environment, arguments or working folder"),
    "require": _COMMONJS,
    "module": _COMMONJS,
    "exports": _COMMONJS,
    "__dirname": _MACHINE,
    "__filename": _MACHINE,
    "eval": _CODE,
    "fetch": _NETWORK,
    "XMLHttpRequest": _NETWORK,
    "WebSocket": _NETWORK,
    "EventSource": _NETWORK,
    "WebAssembly": _CODE,
    "SharedArrayBuffer": _MEMORY,
    "Atomics": _MEMORY,
    "WeakRef": _MEMORY,
    "FinalizationRegistry": _MEMORY,
    "performance": _CLOCK,
    "Temporal": _CLOCK,
    "ShadowRealm": _CODE,
    "crypto": Reason("host-api", "Web Crypto is not available; hashes come from `node:crypto`"),
    "setInterval": _CLOCK,
    "navigator": _MACHINE,
    "Deno": _MACHINE,
    "Bun": _MACHINE,
    "window": _OTHER,
    "document": _OTHER,
    "localStorage": _OTHER,
    "sessionStorage": _OTHER,
    "Worker": _OTHER,
    "MessageChannel": _OTHER,
    "BroadcastChannel": _OTHER,
}
"""Global name -> why not, for the author."""

MEMBERS: Mapping[tuple[str, str], Reason] = {
    ("Math", "random"): _RANDOM,
    ("Date", "now"): _CLOCK,
}

DATE_WITHOUT_ARGUMENTS = _CLOCK
FUNCTION_FROM_STRING = _CODE
DYNAMIC_IMPORT = Reason("dynamic-import", "the modules of a run are known before it starts: use a static import")
IMPORT_META = Reason("import-meta", "where a module lies is not data")

CRYPTO_RANDOM = frozenset(
    {
        *("randomBytes", "randomFill", "randomFillSync", "randomInt", "randomUUID", "getRandomValues", "webcrypto"),
        *("pseudoRandomBytes", "prng", "rng", "generateKeySync", "generateKeyPairSync", "generatePrimeSync", "subtle"),
    }
)
"""Members of `node:crypto` that are random, or a door to what is."""
CRYPTO_RANDOM_WHY = _RANDOM

BUILTINS = frozenset(
    {
        *("assert", "assert/strict", "buffer", "crypto", "path", "path/posix", "path/win32", "querystring"),
        *("string_decoder", "url", "util", "util/types", "zlib"),
    }
)
"""Pure built-in modules of Node that the guest offers; the guest's own list is in `guest/builtins.js`."""

REFUSED_BUILTINS: Mapping[str, Reason] = {
    **dict.fromkeys(("fs", "fs/promises"), _FILES),
    **dict.fromkeys(("http", "https", "http2", "net", "tls", "dgram", "dns", "dns/promises"), _NETWORK),
    **dict.fromkeys(("child_process", "cluster", "worker_threads"), _PROCESSES),
    **dict.fromkeys(("os", "process", "v8", "module", "tty", "inspector", "repl", "wasi", "sea", "sqlite"), _MACHINE),
    **dict.fromkeys(("inspector/promises", "diagnostics_channel", "trace_events", "readline", "test"), _MACHINE),
    **dict.fromkeys(
        ("readline/promises", "domain", "punycode", "sys", "constants", "console", "test/reporters"), _MACHINE
    ),
    **dict.fromkeys(("timers", "timers/promises", "perf_hooks"), _CLOCK),
    **dict.fromkeys(("vm",), _CODE),
    **dict.fromkeys(("events", "stream", "stream/promises", "stream/consumers", "stream/web"), _IMPURE),
    **dict.fromkeys(("async_hooks",), _MACHINE),
}
"""Other built-in modules of Node -> why not."""

_SEEN_WHILE_RUNNING: tuple[tuple[re.Pattern[str], Reason], ...] = (
    (re.compile(r"Math\.random\(\)|`\w+` of node:crypto"), _RANDOM),
    (re.compile(r"Date\.now\(\)|Date\(\) |new Date\(\)|Intl\.|set(?:Interval|Timeout|Immediate)\("), _CLOCK),
    (re.compile(r"eval\(\)|code from strings"), _CODE),
    (re.compile(r".* working folder"), _MACHINE),
)


def reason_of(what: str) -> Reason | None:
    """Why the guest refused what it names so: the same reason that the reading of the module's text would give."""
    named = GLOBALS.get(what.strip("`"))
    if named is not None:
        return named
    return next((reason for pattern, reason in _SEEN_WHILE_RUNNING if pattern.match(what)), None)
