"""Runs a Python transformer of strangers inside the sandbox. One process, one run.

Standard input: the request, in the `marshal` format of this very interpreter. Standard output: a header line in JSON
(`status` first), then one case a line. The sandbox is the wall; what happens here is for determinism and for messages.
"""

import gc
import marshal
import sys

sys.path.insert(0, __file__.rpartition("/")[0])

import _library
import _sets
import _writer
from _rewrite import ADOPT, GUARD_FORMAT, MAKE_SET, rewritten

sys.path.pop(0)

_MAX_MESSAGE = 2000
_MAX_CASES = 25_000
_PREFIX = "repository."


class FailureError(Exception):
    """The run ends with this header."""

    def __init__(self, status, message, **fields):
        self.fields = {"status": status, "message": message, **fields}
        super().__init__(message)


class Modules:
    """The closed map of the author's modules; each runs when it is first imported."""

    def __init__(self, request, library):
        self._texts = request["modules"]
        self._links = request["links"]
        self._library = library
        self._builtins = library.builtins(request["builtins"])
        self._loaded = {}

    def load(self, path):
        """Run one module, once."""
        if path in self._loaded:
            return self._loaded[path]
        # The prefix keeps a repository's `json.py` apart from Python's. `dataclasses` looks modules up by name.
        name = _PREFIX + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        module = self._loaded[path] = sys.modules[name] = type(sys)(name)
        names = module.__dict__
        for inside in ("__loader__", "__package__", "__spec__"):
            del names[inside]
        names["__builtins__"] = {
            **self._builtins,
            "__import__": self._library.import_function(lambda spec, items: self._relative(path, spec, items)),
            MAKE_SET: _sets.Set,
            ADOPT: _sets.adopt,
            GUARD_FORMAT: self._library.guard_format,
        }
        try:
            code = compile(rewritten(self._texts[path], path), path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise FailureError("invalid", f"cannot be compiled: {error}", place=path) from None
        exec(code, names)
        return module

    def _relative(self, path, spec, items):
        """What `from SPEC import ITEMS` gives in the module at `path`."""
        dots = len(spec) - len(spec.lstrip("."))
        parts = spec[dots:].split(".") if spec[dots:] else []
        base = None
        for end in range(len(parts) + 1):
            target = self._links.get((path, spec[:dots] + ".".join(parts[:end])))
            base = self.load(target) if target is not None else None
        values = {}
        prefix = spec if spec.endswith(".") else spec + "."
        for item in items:
            if item == "*":
                public = getattr(base, "__all__", None) or [name for name in vars(base) if name[:1] != "_"]
                values.update({name: getattr(base, name) for name in public}, __all__=list(public))
            elif base is not None and hasattr(base, item):
                values[item] = getattr(base, item)
            elif (path, prefix + item) in self._links:
                values[item] = self.load(self._links[path, prefix + item])
        return _Imported(spec, values)


class _Imported:
    """What an import statement takes its names from."""

    def __init__(self, spec, values):
        self.__name__ = spec
        self.__dict__.update(values)

    def __getattr__(self, name):
        raise AttributeError(f"no {name} in {self.__name__}")


def run(request):
    """Run the transformer; return the header and the lines of the result."""
    library = _library.Library(request["library"], request["withheld"], request["attributes"])
    modules = Modules(request, library)
    _library.watch(sys.prefix)
    entry = request["entry"]
    stir(request["second"])
    module = modules.load(entry)
    name, transform = getattr(module, "name", None), getattr(module, "transform", None)
    if type(name) is not str or not name:
        raise FailureError("invalid", "the module has no `name`, a string that is not empty", place=entry)
    if not callable(transform):
        raise FailureError("invalid", "the module has no function `transform(sources)`", place=entry)
    stir(request["second"])
    cases = transform(request["sources"])
    if type(cases) not in (list, tuple):
        kind = type(cases).__name__
        if kind == "coroutine":
            cases.close()
        hint = {"generator": "write `return list(...)`", "coroutine": "write `def transform`, without `async`"}.get(
            kind
        )
        raise FailureError("invalid", f"transform gave back a {kind}, not a list of cases", place=entry, hint=hint)
    if len(cases) > _MAX_CASES:
        raise FailureError(
            "invalid", f"transform gave back {len(cases):,} cases; at most {_MAX_CASES:,} fit", place=entry
        )
    writer = _writer.Writer(entry)
    lines = [writer.line(case, index) for index, case in enumerate(cases)]
    if writer.faults:
        raise FailureError("invalid", "the result is not JSON", faults=writer.faults)
    body = b"\n".join([*lines, b""]) if lines else b""
    return {"status": "ok", "name": name, "count": len(lines), "bytes": len(body)}, body


def outcome(request):
    """As `run`, with every way of failing turned into a header."""
    body = b""
    try:
        header, body = run(request)
    except FailureError as failure:
        header = failure.fields
    except BaseException as error:
        header = _thrown(error, request["modules"], request["entry"])
    if _library.refusals:
        # Sticky: what was caught counts too.
        header = {
            "status": "refused",
            "message": "the code uses what is not available to transformers",
            "faults": [{**fault, "place": fault["place"] or request["entry"]} for fault in _library.refusals],
        }
        return header, b""
    header["hints"] = [f"{place}: takes elements out of a set, whose order is open" for place in _sets.iterations]
    return header, body


def _thrown(error, files, entry):
    """The author's exception, with the place of the innermost line of the author's; the entry where none is."""
    place = entry
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename in files:
            place = f"{code.co_filename}:{trace.tb_lineno}"
            positions = list(code.co_positions())[trace.tb_lasti // 2]
            if positions[0] == trace.tb_lineno and positions[2] is not None:
                place += f":{positions[2] + 1}"
        trace = trace.tb_next
    if isinstance(error, MemoryError):
        return {"status": "limit", "message": "the code needs more memory than it may use", "place": place}
    try:
        text = str(error)
    except BaseException:
        text = "(its text cannot be shown)"
    kind = type(error).__name__
    return {"status": "threw", "message": f"{kind}: {text}"[:_MAX_MESSAGE] if text else kind, "place": place}


def vary(second):
    """Make the runs differ in what no result may depend on."""
    _sets.DESCENDING = second
    sys.setrecursionlimit(1400 if second else 1000)
    gc.set_threshold(5_000 if second else 100_000)


_ballast = []


def stir(second):
    """From here on, small objects get ascending addresses in the first run and descending ones in the second.

    Else the text of one object at an address would come before another's in both runs alike. Python's allocator hands
    out the block of a size that was freed last; a few blocks stay, so that whole pools are not given back.
    """
    for size in range(16, 272, 16):
        blocks = _blocks(size)
        blocks.sort(key=id, reverse=second)
        _ballast.extend(blocks[:: _BLOCKS // 32])
        # A list frees its items from the last to the first.
        blocks.clear()


_BLOCKS = 1024


def _blocks(size):
    """New objects of so many bytes each."""
    if size == 16:
        return [object() for _ in range(_BLOCKS)]
    if size == 32:
        return [(1 << 40) + position for position in range(_BLOCKS)]
    return [bytes(size - 33) for _ in range(_BLOCKS)]


def main():
    """Read the request, answer."""
    output = sys.stdout.buffer
    sys.stdout = sys.stderr
    request = marshal.loads(sys.stdin.buffer.read())
    _sets.AUTHOR_FILES = frozenset(request["modules"])
    vary(request["second"])
    header, body = outcome(request)
    output.write(_json(header).encode("utf-8", "replace") + b"\n" + body)
    output.flush()


def _json(value):
    if isinstance(value, str):
        return _writer.encode_basestring(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_json(key)}:{_json(item)}" for key, item in value.items() if item is not None) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_json, value)) + "]"
    return str(int(value))


main()
