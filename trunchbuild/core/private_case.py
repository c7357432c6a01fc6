"""A case as only the grader may see it: one line of `private.jsonl`. Code that builds requests never imports this."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trunchbuild.core.case_shape import follows_private_line
from trunchbuild.core.fields import Fields
from trunchbuild.core.ids import CaseId
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.manifest import PRIVATE
from trunchbuild.core.public_case import read_case_id
from trunchbuild.core.strict_json import read_json
from trunchbuild.errors import BadInputError

_KIND = re.compile(r"(custom)\Z|([a-z][a-z0-9_]*)@([1-9][0-9]{0,5})\Z")
_SALT = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True, slots=True)
class PrivateCase:
    """The private part of a case."""

    case: CaseId
    evaluate: JsonObject
    """The specification that grades the case, `kind` with its number; plain `custom` for the repository's function."""
    kind: str
    """Without its number, `exact`."""
    number: int
    data: Json
    """For a custom evaluator; None also where there is none."""
    gold: str | None
    salt: str | None
    """Bare hex, in a sealed release."""

    @classmethod
    def parse(cls, line: bytes, place: str = PRIVATE) -> PrivateCase:
        """Read one line (without LF).

        Raises:
            BadInputError: It does not follow `schemas/private-line.schema.json`.
        """
        return cls.read(read_json(line, place), place)

    @classmethod
    def read(cls, value: Json, place: str = PRIVATE) -> PrivateCase:
        """Read the parsed line.

        Raises:
            BadInputError: It does not follow `schemas/private-line.schema.json`.
        """
        fields = Fields(value, place)
        case = read_case_id(fields)
        evaluate = fields.mapping("evaluate")
        kind = evaluate.get("kind")
        match = _KIND.match(kind) if isinstance(kind, str) else None
        if match is None:
            raise fields.wrong("evaluate/kind", "a kind and its number (`exact@1`)", ascii(kind))
        salt = fields.optional("salt", fields.text)
        if salt is not None and not _SALT.match(salt):
            raise fields.wrong("salt", "64 lower-case hex digits", ascii(salt))
        private = cls(
            case=case,
            evaluate=evaluate,
            kind=match[1] or match[2],
            number=int(match[3] or 1),
            data=fields.optional("data", fields.take),
            gold=fields.optional("gold", fields.text),
            salt=salt,
        )
        fields.end()
        if not follows_private_line(value):
            raise BadInputError("does not follow schemas/private-line.schema.json", place=place)
        return private
