from .pack import kinds, tag
from . import pack
from .pack import deep
from ..common import shared

name = "t"


def transform(sources):
    return [{"id": tag(row), "kind": kinds.DEFAULT, "up": shared.LIMIT, "bound": pack.deep.NAME} for row in ("x", "y")]
