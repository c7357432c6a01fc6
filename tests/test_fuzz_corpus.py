"""Every reader of text from outside: over the inputs kept by the fuzzer, and over random changes of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.blind import FindingError, run_blind
from fuzz.errors import Reader, attempt
from fuzz.readers import READERS
from fuzz.samples import CORPUS, sample, seeds
from trunchbuild.errors import BadInputError


def test_every_reader_has_a_corpus() -> None:
    assert set(READERS) == {folder.name for folder in CORPUS.iterdir()}


@pytest.mark.parametrize("name", READERS)
def test_kept_inputs_are_read_or_refused(name: str) -> None:
    """The first seed is accepted; none ends in anything but a value or an error with a text."""
    assert attempt(READERS[name], sample(name))
    for path in seeds(name):
        attempt(READERS[name], path.read_bytes())


@pytest.mark.parametrize("name", READERS)
def test_changed_inputs_are_read_or_refused(name: str) -> None:
    """Some hundred changes of each; `make fuzz` runs a million."""
    corpus = [path.read_bytes() for path in seeds(name)]
    run_blind(READERS[name], corpus, runs=200, seed=7)


@pytest.mark.parametrize("name", [name for name in READERS if name not in {"javascript", "python"}])
@given(data=st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_or_refused(name: str, data: bytes) -> None:
    attempt(READERS[name], data)


def _fails_on_a_quote(data: bytes) -> None:
    if b'"' in data:
        raise KeyError(data)
    raise BadInputError("refused", place="input")


def _steers(data: bytes) -> None:
    raise BadInputError("" if data else "\x1b[2J", place="input")


@pytest.mark.parametrize("run", [_fails_on_a_quote, _steers])
def test_a_broken_reader_is_found(run: object) -> None:
    """The twin: a reader that fails, or whose error says nothing, does not pass."""
    reader = Reader("broken", run)  # type: ignore[arg-type]
    with pytest.raises(FindingError):
        run_blind(reader, [b"abc"], runs=500, seed=1)
