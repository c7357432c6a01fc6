"""Who holds a lock on a file: the kernel's table of locks, read."""

from __future__ import annotations


def holders(table: str, device: tuple[int, int], inode: int) -> list[int]:
    """The processes that hold a `flock` on a file, in the table's order; `table` is `/proc/locks` as proc(5) has it.

    `device` is the major and minor number of the file system. A line with `->` waits for the lock above it, and a
    process of another namespace is 0: neither is named.
    """
    wanted = f"{device[0]:02x}:{device[1]:02x}:{inode}"
    found: dict[int, None] = {}
    for line in table.splitlines():
        fields = line.split()
        if len(fields) >= 6 and (fields[1], fields[5]) == ("FLOCK", wanted) and fields[4].isdecimal():
            found[int(fields[4])] = None
    found.pop(0, None)
    return list(found)


def held_by(processes: list[int]) -> str | None:
    """`process 12` or `processes 12, 15`; None where it is not known."""
    if not processes:
        return None
    return f"process{'es' if len(processes) > 1 else ''} {', '.join(map(str, processes))}"
