"""What the author's code sees of Python: facades of modules, guarded built-ins, and what is refused for good.

A refusal is sticky: the run is refused even if the author's code catches the exception.
"""

import builtins
import sys
from _string import formatter_field_name_split, formatter_parser

import _sets

_SET_OPERATIONS = ("or_", "and_", "xor", "sub", "ior", "iand", "ixor", "isub")
_NAMES_OF_CLASSES = ("__name__", "__qualname__", "__doc__")

refusals = []
"""Faults, as `{place, message}`, in the order of their happening."""


ran_out_of_memory = []
"""Places where the author's code caught a MemoryError."""


def caught():
    """Stands first in every `except` block: what follows would depend on how much memory there is."""
    error = sys.exc_info()[1]
    if isinstance(error, MemoryError) and not ran_out_of_memory:
        ran_out_of_memory.append(_sets.author_place())


class RefusedError(Exception):
    """Raised into the author's code."""


def refuse(what):
    """Note a use of something refused, and raise."""
    if len(refusals) < 50:
        refusals.append({"place": _sets.author_place(), "message": f"{what} is not available to transformers"})
    raise RefusedError(f"{what} is not available to transformers")


class Facade:
    """A module's public names that are no modules."""

    def __init__(self, name, values, real):
        object.__setattr__(self, "__name__", name)
        object.__setattr__(self, "__all__", sorted(values))
        _REAL[self] = real
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __getattr__(self, name):
        if hasattr(_REAL[self], name):
            refuse(f"{self.__name__}.{name}")
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __setattr__(self, name, value):
        refuse(f"changing {self.__name__}.{name}")

    def __delattr__(self, name):
        refuse(f"changing {self.__name__}.{name}")

    def __repr__(self):
        return f"<module '{self.__name__}'>"


_REAL = {}
"""Facade -> module; kept apart, so that no attribute leads there."""


class Library:
    """The facades that the author's imports name; all made before any of the author's code runs."""

    def __init__(self, table, withheld, attributes):
        self._special, self._refused = frozenset(attributes["special"]), frozenset(attributes["refused"])
        self.facades = {}
        for name in sorted(table):
            __import__(name)
            real = sys.modules[name]
            if name == "statistics":
                _seeds_only(real)
            elif name == "collections.abc":
                # Its views make plain sets: `KeysView(d) & other`.
                real.KeysView._from_iterable = real.ItemsView._from_iterable = _sets.Set
            self.facades[name] = Facade(name, self._values(name, real, table[name], withheld.get(name, ())), real)
        for name in sorted(table):
            inner = name
            parent, _, child = name.rpartition(".")
            while parent:
                if parent not in self.facades:
                    self.facades[parent] = Facade(parent, {}, sys.modules[parent])
                object.__setattr__(self.facades[parent], child, self.facades[inner])
                inner, (parent, _, child) = parent, parent.rpartition(".")

    def _values(self, name, real, names, withheld):
        if not names:
            names = [key for key in getattr(real, "__all__", vars(real)) if key not in withheld]
        module = type(sys)
        values = {}
        for key in names:
            value = getattr(real, key, None)
            if hasattr(real, key) and not key.startswith("_") and not isinstance(value, module):
                values[key] = value
        values.update(self._replacements(name))
        return values

    def _replacements(self, name):
        """Functions of the library that would go past the guards."""
        operator, ast = sys.modules.get("operator"), sys.modules.get("ast")
        if name == "operator":

            def adopting(function):
                def operation(a, b, /):
                    return _sets.adopt(function(a, b))

                operation.__name__ = function.__name__
                return operation

            def attrgetter(*names):
                for dotted in names:
                    for part in str(dotted).split("."):
                        self.check_computed(part)
                        if part in ("format", "format_map"):
                            refuse(f"operator.attrgetter({part!r})")
                return operator.attrgetter(*names)

            def methodcaller(name, /, *arguments, **named):
                self.check_computed(name)
                if name in ("format", "format_map"):
                    refuse(f"operator.methodcaller({name!r})")
                return operator.methodcaller(name, *arguments, **named)

            replaced = {key: adopting(getattr(operator, key)) for key in _SET_OPERATIONS}
            return {**replaced, "attrgetter": attrgetter, "methodcaller": methodcaller}
        if name == "functools":
            return self._wrapping(sys.modules["functools"])
        if name == "dataclasses":
            return {"dataclass": _of_named_fields(sys.modules["dataclasses"].dataclass)}
        if name == "typing":
            origin = sys.modules["typing"].get_origin
            return {"get_origin": lambda kind: _sets.adopt_class(origin(kind))}
        if name == "ast":

            def literal_eval(text):
                return _sets.adopt_deep(ast.literal_eval(text))

            return {"literal_eval": literal_eval}
        return {}

    def _wrapping(self, functools):
        """`wraps` and `update_wrapper`, which copy the attributes that they are told."""

        def check(assigned, updated):
            assigned, updated = tuple(assigned), tuple(updated)
            for name in {*assigned, *updated} - {*functools.WRAPPER_ASSIGNMENTS, *functools.WRAPPER_UPDATES}:
                self.check_computed(name)
            return assigned, updated

        def update_wrapper(wrapper, wrapped, assigned=functools.WRAPPER_ASSIGNMENTS, updated=functools.WRAPPER_UPDATES):
            return functools.update_wrapper(wrapper, wrapped, *check(assigned, updated))

        def wraps(wrapped, assigned=functools.WRAPPER_ASSIGNMENTS, updated=functools.WRAPPER_UPDATES):
            return functools.wraps(wrapped, *check(assigned, updated))

        return {"update_wrapper": update_wrapper, "wraps": wraps}

    def check_computed(self, name):
        """As `check_attribute`, for a name that no reader of the text sees: only names as data."""
        if isinstance(name, str) and name.startswith("__") and name not in _NAMES_OF_CLASSES:
            refuse(f"the computed attribute {name}")
        self.check_attribute(name)

    def check_attribute(self, name):
        """Refuse an attribute that leads into the interpreter's inside."""
        if not isinstance(name, str):
            return
        special = name.startswith("__") and name.endswith("__")
        if name in self._refused or (special and name not in self._special):
            refuse(f"the attribute {name}")

    def guard_format(self, value):
        """Look at a format string before it reads attributes; stands before every `.format`."""
        if isinstance(value, type):
            return _StrType(self, value) if issubclass(value, str) else value
        text = value.__self__ if type(value) is super else value
        if isinstance(text, str) and "{" in text and "." in text:
            self._check_format(text)
        return value

    def _check_format(self, text):
        try:
            for _, field, spec, _ in formatter_parser(text):
                if field:
                    self._check_field(list(formatter_field_name_split(field)[1]))
                if spec and "{" in spec:
                    self._check_format(spec)
        except ValueError:
            # Not a format string; `str.format` says so better.
            return

    def _check_field(self, parts):
        for position, (is_attribute, name) in enumerate(parts):
            if is_attribute:
                self.check_attribute(name)
                if name == "__class__" and (parts[position + 1 :] or [(0, "")])[0][1] not in _NAMES_OF_CLASSES:
                    refuse("the attribute __class__ in a format string, except for its __name__,")

    def guard_pattern(self, kind):
        """Look at what the positional parts of a class pattern read; stands before every `match` with some."""
        for name in getattr(kind, "__match_args__", ()):
            self.check_computed(name)
            if name in ("format", "format_map"):
                refuse(f"{name} in a class pattern")

    def import_function(self, load_relative):
        """`__import__` for one module of the author."""

        def import_(name, _globals=None, _locals=None, fromlist=(), level=0):
            if level:
                return load_relative("." * level + name, fromlist or ())
            if name not in self.facades:
                refuse(f"the module {name}")
            if not fromlist:
                return self.facades[name.partition(".")[0]]
            return self.facades[name]

        return import_

    def builtins(self, names):
        """The built-ins, without `__import__`."""
        found = {name: getattr(builtins, name) for name in names if hasattr(builtins, name)}

        def getattr_(value, name, /, *default):
            self.check_computed(name)
            return getattr(self.guard_format(value) if name in ("format", "format_map") else value, name, *default)

        def hasattr_(value, name, /):
            self.check_computed(name)
            return hasattr(value, name)

        def setattr_(value, name, new, /):
            self.check_computed(name)
            setattr(value, name, new)

        def delattr_(value, name, /):
            self.check_computed(name)
            delattr(value, name)

        for function in (getattr_, hasattr_, setattr_, delattr_):
            function.__name__ = function.__qualname__ = function.__name__.rstrip("_")
            found[function.__name__] = function
        return {**found, "set": _sets.Set, "frozenset": _sets.FrozenSet, "sorted": _sets.sorted_}


def _of_named_fields(real):
    """`dataclass`, which writes the names of the fields into code and runs it."""

    def dataclass(cls=None, /, **options):
        def decorate(kind):
            for name in getattr(kind, "__annotations__", ()):
                if not str.isidentifier(name):
                    refuse("a field whose name is no identifier")
            return real(kind, **options)

        return decorate if cls is None else decorate(cls)

    dataclass.__doc__ = real.__doc__
    return dataclass


class _Unseeded:
    """Stands for the module `random` inside the library: numbers without a seed are refused."""

    def __init__(self, seeded):
        self.Random = seeded

    def __getattr__(self, name):
        return lambda *_: refuse(f"a random number without a seed (random.{name})")


def _seeds_only(module):
    """Let a library module draw from seeded generators only: `NormalDist.samples(n, seed=1)`."""
    random = sys.modules["random"]

    class Seeded(random.Random):
        def seed(self, a=None, version=2):
            if a is None:
                refuse("a random number without a seed")
            super().seed(a, version)

    for key, value in list(vars(module).items()):
        if value is random:
            setattr(module, key, _Unseeded(Seeded))
        elif value is random.Random:
            setattr(module, key, Seeded)


class _StrType:
    """Stands for `str`, or a class made of it, in `str.format`."""

    def __init__(self, library, kind):
        self._library = library
        self._kind = kind

    def format(self, /, *arguments, **named):
        self._library.guard_format(arguments[0] if arguments else "")
        return self._kind.format(*arguments, **named)

    def format_map(self, /, *arguments):
        self._library.guard_format(arguments[0] if arguments else "")
        return self._kind.format_map(*arguments)


_REFUSED_EVENTS = frozenset(
    (
        *("cpython", "ctypes", "fcntl", "ftplib", "gc", "glob", "http", "imaplib", "mmap", "msvcrt", "nntplib"),
        *("poplib", "pty", "resource", "shutil", "signal", "smtplib", "socket", "sqlite3", "subprocess", "syslog"),
        *("telnetlib", "tempfile", "time", "urllib", "webbrowser", "winreg", "os", "sys"),
    )
)
_QUIET_EVENTS = frozenset(("sys._getframe", "sys._getframemodulename", "sys.excepthook", "sys.unraisablehook"))


def watch(standard_library):
    """From now on, refuse what the interpreter reports (PEP 578) and no transformer can need."""

    def hook(event, arguments):
        if event in ("compile", "exec", "import", "object.__getattr__") or event in _QUIET_EVENTS:
            return
        family = event.partition(".")[0]
        if event in ("open", "os.listdir", "os.scandir"):
            # Python loads some codecs when they are first used.
            path = arguments[0]
            reads = event != "open" or arguments[1] in (None, "r", "rb")
            if reads and isinstance(path, str) and path.startswith(standard_library):
                return
        elif family not in _REFUSED_EVENTS and event not in _REFUSED_BUILTIN_EVENTS:
            return
        refuse(f"what Python calls `{event}`")

    sys.addaudithook(hook)


_REFUSED_BUILTIN_EVENTS = frozenset(("builtins.input", "builtins.input/result", "builtins.breakpoint"))
