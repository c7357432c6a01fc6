from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

name = "t"


def transform(sources: dict[str, PathLike]) -> list:
    return [{"id": "main"}]


if __name__ == "__main__":
    import sys

    print(transform({}), sys.argv)
