"""The Seatbelt profile as text: read back by a small reader of its language, since no Mac takes part in the tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from trunchbuild.core.confinement import SandboxRequest
from trunchbuild.effects.sandbox._seatbelt import Seatbelt, profile

Expression = list["Expression"] | str


def read(text: str) -> list[Expression]:
    """S-expressions of Scheme: lists, symbols, strings with backslash escapes. Fails on anything unbalanced."""
    tokens = _tokens(text)
    found: list[Expression] = []
    stack = [found]
    for token in tokens:
        if token == "(":
            inner: list[Expression] = []
            stack[-1].append(inner)
            stack.append(inner)
        elif token == ")":
            stack.pop()
            assert stack, "one parenthesis too many"
        else:
            stack[-1].append(token)
    assert len(stack) == 1, "a parenthesis is open"
    return found


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        character = text[at]
        at += 1
        if character in "()":
            yield character
        elif character == '"':
            value = ""
            while text[at] != '"':
                at += 1 if text[at] == "\\" else 0
                value += text[at]
                at += 1
            at += 1
            yield f'"{value}'
        elif not character.isspace():
            symbol = character
            while at < len(text) and text[at] not in '() "\n':
                symbol += text[at]
                at += 1
            yield symbol


def request_for(folder: Path, **changes: object) -> SandboxRequest:
    program = folder / "python"
    program.touch()
    (folder / "lib").mkdir(exist_ok=True)
    given = {program: "/python/bin/python", folder / "lib": "/python/lib"}
    return SandboxRequest((str(program), "-c", "pass"), given, **changes)  # type: ignore[arg-type]


def allowed(rules: list[Expression], operation: str) -> list[Expression]:
    return [rule for rule in rules if rule[:2] == ["allow", operation]]


def test_everything_is_denied_that_is_not_named(tmp_path: Path) -> None:
    rules = read(profile(request_for(tmp_path)))
    assert rules[:2] == [["version", "1"], ["deny", "default"]]
    for operation in ("network*", "file-write*", "process-fork", "signal"):
        assert ["deny", operation] in rules
    operations = {rule[1] for rule in rules if rule[0] == "allow"}
    assert operations == {"sysctl-read", "process-exec", "file-read*", "file-read-metadata", "signal"}
    assert allowed(rules, "signal") == [["allow", "signal", ["target", "self"]]]


def test_only_the_given_files_may_be_read(tmp_path: Path) -> None:
    """The system's libraries, the shell that becomes the program, the given file and folder; no home, no /etc."""
    rules = read(profile(request_for(tmp_path)))
    places = [place for rule in allowed(rules, "file-read*") for place in rule[2:]]
    assert ["literal", f'"{tmp_path}/python'] in places
    assert ["subpath", f'"{tmp_path}/lib'] in places
    others = {place[1][1:] for place in places if str(tmp_path) not in place[1]}
    assert others == {
        *("/usr/lib", "/System/Library", "/System/Volumes/Preboot/Cryptexes", "/private/var/db/dyld"),
        *("/bin/bash", "/usr/bin/env"),
    }
    programs = [place[1][1:] for rule in allowed(rules, "process-exec") for place in rule[2:]]
    assert programs == [f"{tmp_path}/python", "/bin/bash", "/usr/bin/env"]


def test_hidden_folders_are_denied_after_they_were_allowed(tmp_path: Path) -> None:
    """The last rule that fits decides."""
    rules = read(profile(request_for(tmp_path, hidden=("/python/lib/site-packages",))))
    hidden = ["deny", "file-read*", ["subpath", f'"{tmp_path}/lib/site-packages']]
    allow = ["allow", "file-read*", ["subpath", f'"{tmp_path}/lib']]
    assert rules.index(hidden) > rules.index(allow)


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a) (allow default", 'x" (allow network*) "', "ä 🙂", "a;b"])
def test_no_path_is_read_as_a_rule(name: str, tmp_path: Path) -> None:
    """A path that looks like the language's own signs stays one string."""
    folder = tmp_path / name
    folder.mkdir()
    plain = tmp_path / "plain"
    plain.mkdir()
    rules, expected = read(profile(request_for(folder))), read(profile(request_for(plain)))
    assert [rule[:2] for rule in rules] == [rule[:2] for rule in expected]
    assert ["literal", f'"{folder}/python'] in [place for rule in allowed(rules, "file-read*") for place in rule[2:]]


@pytest.mark.parametrize("name", ["a\nb", "a\tb", "a\x7fb"])
def test_control_characters_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match="control character"):
        profile(request_for(tmp_path / name))


def test_it_is_not_tried_where_it_is_missing(tmp_path: Path) -> None:
    fault = Seatbelt(tmp_path / "sandbox-exec").missing()
    assert fault is not None
    assert fault.message == "not installed"
