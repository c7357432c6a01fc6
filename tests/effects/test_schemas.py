"""The schemas of the package: all are valid schemas, and a missing one is an error of the installation."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from trunchbuild.effects.schemas._package import PackageSchemas
from trunchbuild.errors import MachineError


@pytest.mark.parametrize("name", PackageSchemas().names())
def test_every_schema_is_a_schema(name: str) -> None:
    """By the meta-schema of 2020-12 that jsonschema carries."""
    schema = PackageSchemas().read(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:trunchbuild:schema:{name}:1"


def test_a_missing_schema() -> None:
    with pytest.raises(MachineError, match=r"nothing\.schema\.json"):
        PackageSchemas().read("nothing")
