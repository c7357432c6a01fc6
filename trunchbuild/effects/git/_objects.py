"""Objects by id out of a folder of Git objects: each hashed when it is read, none inflated past a limit."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from traceback import clear_frames

from trunchbuild.core.revision import HEX_LENGTH, ObjectFormat
from trunchbuild.core.tree import MAX_FILE_BYTES, require_size
from trunchbuild.effects.git._folders import Place, Store
from trunchbuild.effects.git._packed import ObjectKind, inflate, started_hash
from trunchbuild.effects.git._received import ReceivedPack
from trunchbuild.effects.git.api import CorruptRepositoryError
from trunchbuild.errors import MachineError, TrunchbuildError

_KINDS: dict[bytes, ObjectKind] = {b"commit": "commit", b"tree": "tree", b"blob": "blob", b"tag": "tag"}


class ObjectReader:
    """Reads objects by id. Not for threads."""

    def __init__(
        self,
        store: Store,
        object_format: ObjectFormat,
        *,
        max_bytes: int = MAX_FILE_BYTES,
        missing_hint: str | None = None,
    ) -> None:
        """`max_bytes` is what one object may have."""
        self.store = store
        self.object_format: ObjectFormat = object_format
        self.max_bytes = max_bytes
        self.missing_hint = missing_hint
        self._received: list[ReceivedPack] = []

    def add(self, received: ReceivedPack) -> None:
        """Read from this pack too; it is closed with the rest."""
        self._received.append(received)

    def has(self, object_id: str) -> bool:
        """Whether the object is here; says nothing about its bytes.

        Raises:
            CorruptRepositoryError: An index is damaged.
            MachineError: The operating system refuses.
        """
        with _told(f"the index of the objects is damaged, looking for {object_id}", object_id):
            return self._locate(object_id) is not None

    def absent(self, object_ids: Iterable[str]) -> list[str]:
        """Those that are not here, sorted; see `has`."""
        with _told("the index of the objects is damaged", str(self.store.path)):
            self.store.look_again()
            return sorted(each for each in set(object_ids) if self._find(each) is None)

    def read(self, object_id: str, place: str) -> tuple[ObjectKind, bytes]:
        """Kind and exact content of an object, checked against its id.

        `place` is what the object stands for (a path, a commit), for messages.

        Raises:
            CorruptRepositoryError: It is missing, or its bytes are damaged.
            FileTooLargeError: It is over the size limit; it was not inflated.
            MachineError: The operating system refuses.
        """
        with _told(f"the object {object_id} is damaged", place):
            found = self._locate(object_id)
            if found is None:
                raise CorruptRepositoryError(f"the object {object_id} is missing", place=place, hint=self.missing_hint)
            if isinstance(found, str):
                kind, data = _read_loose(found, self.max_bytes, place)
            else:
                kind, data = found[0].read(found[1], self.max_bytes, place)
            made = started_hash(kind, len(data), self.object_format)
            made.update(data)
            if made.hexdigest() != object_id:
                raise ValueError("its content has another id")
            return kind, data

    def require_readable(self, wanted: Mapping[str, str]) -> None:
        """Refuse what `read` would refuse for its size; object id -> what it stands for.

        Raises:
            CorruptRepositoryError: An index or an object's head is damaged.
            FileTooLargeError: One is over the limit.
        """
        for object_id, place in wanted.items():
            with _told(f"the object {object_id} is damaged", place):
                found = self._locate(object_id)
                if isinstance(found, tuple):
                    require_size(place, found[0].size(found[1]), self.max_bytes)

    def ids_with_prefix(self, prefix: str) -> list[str]:
        """Full ids of all objects that begin with these hex digits (at least two).

        Raises:
            CorruptRepositoryError: An index is damaged.
            MachineError: The operating system refuses.
        """
        with _told(f"the index of the objects is damaged, looking for {prefix}", prefix):
            found = set(self.store.ids_with_prefix(prefix.lower()))
        return sorted(each for each in found if len(each) == HEX_LENGTH[self.object_format])

    def close(self) -> None:
        """Close the packs."""
        while self._received:
            self._received.pop().close()
        self.store.close()

    def _locate(self, object_id: str) -> Place | None:
        found = self._find(object_id)
        if found is None:
            self.store.look_again()
            found = self._find(object_id)
        return found

    def _find(self, object_id: str) -> Place | None:
        raw = bytes.fromhex(object_id)
        for received in self._received:
            offset = received.offset_of(raw)
            if offset is not None:
                return received.objects, offset
        return self.store.find(object_id)


def _read_loose(path: str, limit: int, place: str) -> tuple[ObjectKind, bytes]:
    """A loose object: `<kind> <size> NUL <content>`, deflated."""
    with Path(path).open("rb") as file:
        head, nul, _ = zlib.decompressobj().decompress(file.read(256), 64).partition(b"\0")
        kind, _, digits = head.partition(b" ")
        if not nul or kind not in _KINDS or not digits.isdigit():
            raise ValueError("a loose object without a head")
        size = int(digits)
        require_size(place, size, limit)

        def read(at: int) -> bytes:
            file.seek(at)
            return file.read(64 << 10)

        whole = b"".join(inflate(read, len(head) + 1 + size, lambda _: None))
    return _KINDS[kind], whole[len(head) + 1 :]


@contextmanager
def _told(damage: str, place: str) -> Iterator[None]:
    """Tell what a library raises as one of our errors.

    Damage surfaces as nearly any exception: zlib.error, AssertionError, KeyError, struct.error ...
    """
    try:
        yield
    except (TrunchbuildError, MemoryError):
        raise
    except PermissionError as error:
        raise MachineError(f"cannot read the repository ({error.strerror})", place=str(error.filename)) from error
    except Exception as error:
        _release_buffers(error)
        reason = str(error) if isinstance(error, ValueError | zlib.error) else type(error).__name__
        raise CorruptRepositoryError(
            f"{damage} ({reason})",
            place=place,
            hint="`git fsck` lists what is damaged; a fresh clone cures it",
        ) from error


def _release_buffers(error: BaseException) -> None:
    """Let go of what the frames of a library's exception hold: views of a mapped index, which could not be closed."""
    seen: BaseException | None = error
    while seen is not None:
        clear_frames(seen.__traceback__)
        seen = seen.__cause__ or seen.__context__
