"""The kinds of findings in modules: one word each that does not change, for programs and for `docs/reference`.

What is refused while a module runs has the same code as what the reading of its text would have found.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from trunchbuild.core.refused_globals import reason_of
from trunchbuild.errors import Fault

CODES: Mapping[str, str] = {
    # Refused: not available to modules.
    "clock": "the time of day, or how much time has passed",
    "randomness": "numbers without a seed",
    "network": "other machines",
    "files": "the file system",
    "machine": "the process, its environment, other processes",
    "code-from-text": "text that becomes code while running",
    "memory": "shared memory, garbage collection, addresses and hashes of objects",
    "commonjs": "`require`, `module`, `exports`",
    "dynamic-import": "an import that is known only while running",
    "import-meta": "where a module lies",
    "host-api": "what browsers and servers have beside the language",
    "interpreter": "the inside of the Python interpreter",
    "ending": "ending the process from within",
    "not-in-library": "a module or name of Python's that transformers do not have",
    "builtin-module": "a built-in module of Node that modules do not have",
    "package": "a package: none is installed",
    "import-outside": "an import that leads out of the repository: a URL, an absolute path, too many `..`",
    # Broken: no runtime could run it.
    "syntax": "text that is not of its language",
    "too-deep": "nesting beyond what can be read",
    "too-large": "a module over the limit of size, or too many of them",
    "not-utf8": "bytes that are no UTF-8, or an encoding declared that is another",
    "json": "a JSON module that is not strict JSON",
    "missing-import": "an import of a file that does not exist, or is no module",
    "missing-export": "an import of a name that its module does not export",
    "import-attribute": 'an import attribute that is none, or `type: "json"` on what is no JSON',
}
"""Code -> what it stands for."""

_OF_BENCHMARKS = " is not available to benchmark modules"
_OF_TRANSFORMERS = " is not available to transformers"

_PYTHON_MODULES: Mapping[str, str] = {
    **dict.fromkeys(("datetime", "time", "calendar", "zoneinfo", "_datetime", "_time", "sched", "timeit"), "clock"),
    **dict.fromkeys(("random", "secrets", "_random"), "randomness"),
    **dict.fromkeys(("glob", "shutil", "tempfile", "fileinput", "io", "pathlib", "mmap", "sqlite3"), "files"),
    **dict.fromkeys(("socket", "ssl", "http", "requests", "httpx", "aiohttp", "ftplib", "smtplib"), "network"),
    **dict.fromkeys(("urllib", "socketserver", "xmlrpc", "imaplib", "poplib", "telnetlib"), "network"),
    **dict.fromkeys(("os", "posix", "sys", "subprocess", "threading", "multiprocessing", "asyncio"), "machine"),
    **dict.fromkeys(("ctypes", "signal", "platform", "resource", "concurrent", "getpass", "pwd"), "machine"),
    **dict.fromkeys(("gc", "weakref"), "memory"),
    **dict.fromkeys(("importlib", "pkgutil", "runpy", "imp", "zipimport"), "dynamic-import"),
    **dict.fromkeys(("code", "codeop"), "code-from-text"),
    **dict.fromkeys(("builtins", "inspect", "types", "dis", "traceback", "marshal", "pickle"), "interpreter"),
}
_PYTHON_BUILTINS: Mapping[str, str] = {
    "open": "files",
    **dict.fromkeys(("eval", "exec", "compile"), "code-from-text"),
    **dict.fromkeys(("id", "hash", "__hash__", "__del__"), "memory"),
    **dict.fromkeys(("input", "breakpoint", "help", "copyright", "credits", "license"), "machine"),
    **dict.fromkeys(("exit", "quit", "SystemExit", "KeyboardInterrupt"), "ending"),
    "__import__": "dynamic-import",
    "__file__": "files",
}
# What Python's audit hook reports (PEP 578), by the first part of the event's name.
_PYTHON_EVENTS: Mapping[str, str] = {
    **dict.fromkeys(("open", "glob", "shutil", "tempfile", "mmap", "sqlite3"), "files"),
    **dict.fromkeys(("socket", "urllib", "http", "ftplib", "smtplib", "imaplib", "poplib", "nntplib"), "network"),
    **dict.fromkeys(("telnetlib", "webbrowser"), "network"),
    "time": "clock",
    "gc": "memory",
    **dict.fromkeys(("os", "subprocess", "signal", "resource", "ctypes", "fcntl", "pty", "syslog"), "machine"),
    **dict.fromkeys(("builtins", "winreg", "msvcrt"), "machine"),
}
_MODULE = re.compile(r"the module `?([\w.]+)`?$")
_EVENT = re.compile(r"what Python calls `(\w+)")
_NAME = re.compile(r"`(\w+)`$")
_MEMBER = re.compile(r"`?\w+(?:\.\w+)+`?$")


def with_code(fault: Fault) -> Fault:
    """A refusal, as its code and where the fault has no hint also the hint; anything else as it is."""
    if fault.code is not None:
        return fault
    if fault.message.endswith(_OF_BENCHMARKS):
        reason = reason_of(fault.message.removesuffix(_OF_BENCHMARKS))
        return fault if reason is None else replace(fault, code=reason.code, hint=fault.hint or reason.hint)
    return replace(fault, code=code_of_python(fault.message))


def code_of_python(message: str) -> str | None:
    """The code of what is refused to a Python transformer; None where the message is of something else."""
    if message.startswith("`__del__`"):
        return "memory"
    what = message.removesuffix(_OF_TRANSFORMERS)
    if what == message:
        return None
    if "random number without a seed" in what:
        return "randomness"
    if found := _EVENT.match(what):
        return _PYTHON_EVENTS.get(found[1], "machine")
    if found := _NAME.match(what):
        return _PYTHON_BUILTINS.get(found[1], "interpreter")
    found = _MODULE.match(what)
    name = found[1] if found else ""
    known = _PYTHON_MODULES.get(name) or _PYTHON_MODULES.get(name.partition(".")[0])
    return known or ("not-in-library" if found or _MEMBER.match(what) else "interpreter")
