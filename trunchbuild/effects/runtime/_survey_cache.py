"""Keeps what reading a module gave, by the module's content: stripping and parsing cost more than running."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path

from blake3 import blake3

from trunchbuild.core.json_types import Json
from trunchbuild.core.survey import Survey

_FORMAT = "survey 2"


class SurveyCache:
    """One small file per module. What is not exactly an entry is ignored; what cannot be written is not kept."""

    def __init__(self, folder: Path | None, versions: str) -> None:
        """`versions` names everything beside the text that an entry depends on: Node, the parser, this program."""
        self._folder = folder
        self._memory: dict[str, Survey] = {}
        self._salt = f"{_FORMAT}\0{versions}\0".encode()

    def key(self, path: str, text: str) -> str:
        """The name of an entry. The path is part of it, since findings name it and its extension says the language."""
        return blake3(self._salt + path.encode("utf-8", "surrogatepass") + b"\0" + text.encode()).hexdigest()

    def get(self, path: str, text: str) -> Survey | None:
        """What was kept for this module."""
        key = self.key(path, text)
        if key in self._memory:
            return self._memory[key]
        if self._folder is None:
            return None
        try:
            digest, _, data = (self._folder / key).read_bytes().partition(b"\n")
            if digest != blake3(data).hexdigest().encode():
                return None
            value: Json = json.loads(data)
            return Survey.from_json(value)
        except (OSError, ValueError, RecursionError):
            return None

    def put(self, path: str, text: str, survey: Survey) -> None:
        """Keep an entry: written beside its place, then renamed."""
        self._memory[self.key(path, text)] = survey
        if self._folder is None:
            return
        data = json.dumps(survey.to_json(), ensure_ascii=True, separators=(",", ":")).encode()
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self._folder, prefix="new-")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(blake3(data).hexdigest().encode() + b"\n" + data)
                Path(name).replace(self._folder / self.key(path, text))
            except OSError:
                Path(name).unlink(missing_ok=True)
