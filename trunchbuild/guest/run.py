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
from _rewrite import ADOPT, ADOPTING, CAUGHT, GUARD_FORMAT, GUARD_PATTERN, MAKE_SET, rewritten

sys.path.pop(0)

_MAX_MESSAGE = 2000
_MAX_SHOWN = 5
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
        self._codes = _compiled(request["modules"])
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
            ADOPTING: _sets.adopting,
            GUARD_FORMAT: self._library.guard_format,
            GUARD_PATTERN: self._library.guard_pattern,
            CAUGHT: _library.caught,
        }
        exec(self._codes[path], names)
        self._bind(path, module)
        return module

    def _bind(self, path, module):
        """A module becomes an attribute of its package, where that has run."""
        folder, _, name = path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")
        package = self._loaded.get(f"{folder}/__init__.py" if folder else "__init__.py")
        if package is not None and package is not module:
            setattr(package, name, module)

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
                public = getattr(base, "__all__", None) or [name for name in vars(base) if name[:1] not in "_<"]
                values.update({name: self._item(path, prefix, base, name) for name in public}, __all__=list(public))
            elif (base is not None and hasattr(base, item)) or (path, prefix + item) in self._links:
                values[item] = self._item(path, prefix, base, item)
        return _Imported(spec, values)

    def _item(self, path, prefix, base, name):
        """A name of a module, or else a module in its folder."""
        if base is not None and hasattr(base, name):
            return getattr(base, name)
        if (path, prefix + name) in self._links:
            return self.load(self._links[path, prefix + name])
        return getattr(base, name)


def _compiled(texts):
    """All modules, also those that may never run: a syntax error stops the run before anything happens."""
    codes, faults = {}, []
    for path, text in texts.items():
        try:
            codes[path] = compile(rewritten(text, path), path, "exec", dont_inherit=True)
        except SyntaxError as error:
            place = f"{path}:{error.lineno or 1}:{max(error.offset or 1, 1)}"
            faults.append({"place": place, "message": f"syntax error: {error.msg}"})
        except (ValueError, RecursionError, MemoryError) as error:
            faults.append({"place": path, "message": f"cannot be compiled: {error}"})
    if faults:
        raise FailureError("syntax", "the modules cannot be compiled", faults=faults)
    return codes


class _Imported:
    """What an import statement takes its names from."""

    def __init__(self, spec, values):
        self.__name__ = spec
        self.__dict__.update(values)

    def __getattr__(self, name):
        if name[:2] == "__":
            raise AttributeError(name)
        raise ImportError(f"cannot import name {name!r} from {self.__name__!r}")


def run(request):
    """Run the transformer; return the header and the lines of the result."""
    library = _library.Library(request["library"], request["withheld"], request["attributes"])
    modules = Modules(request, library)
    _library.watch(sys.prefix)
    entry = request["entry"]
    stir(request["run"])
    module = modules.load(entry)
    name, transform = getattr(module, "name", None), getattr(module, "transform", None)
    if type(name) is not str or not name or any("\ud800" <= character <= "\udfff" for character in name):
        # Half of a character cannot be written.
        raise FailureError("invalid", "the module has no `name`, a string of characters that is not empty", place=entry)
    if not callable(transform):
        raise FailureError("invalid", "the module has no function `transform(sources)`", place=entry)
    stir(request["run"])
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
    if _library.ran_out_of_memory:
        place = _library.ran_out_of_memory[0] or request["entry"]
        message = "the code needs more memory than it may use"
        return {"status": "limit", "message": message, "place": place}, b""
    header["hints"] = [f"{place}: takes elements out of a set, whose order is open" for place in _sets.iterations]
    header["hint_largest_set"] = max(_sets.sizes)
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
    return {"status": "threw", "message": _described(error)[:_MAX_MESSAGE], "place": place}


def _described(error):
    """Kind and text; of a group also what is in it."""
    kind = _writer.name_of(type(error))
    try:
        text = str.__str__(str(error))
    except BaseException:
        return f"{kind}: (its text cannot be shown)"
    if isinstance(error, BaseExceptionGroup):
        text += ": " + "; ".join(_described(inner) for inner in error.exceptions[:_MAX_SHOWN])
    return f"{kind}: {text}" if text else kind


def vary(run):
    """Make the runs, 0, 1 and sometimes 2, differ in what no result may depend on."""
    _sets.order = run
    sys.setrecursionlimit(1400 if run else 1000)
    gc.set_threshold(5_000 if run else 100_000)


_ballast = []


def stir(run):
    """From here on, small objects get ascending addresses in the first run and descending ones in the others.

    Else the text of one object at an address would come before another's in both runs alike. Python's allocator hands
    out the block of a size that was freed last; a few blocks stay, so that whole pools are not given back.
    """
    for size in range(16, 272, 16):
        blocks = _blocks(size)
        blocks.sort(key=id, reverse=run > 0)
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
    vary(request["run"])
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
