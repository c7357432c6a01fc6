"""Check a release folder and add it to the store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from trunchbuild.core.checks import CheckReport
from trunchbuild.core.ids import ReleaseId
from trunchbuild.effects.store.api import Store
from trunchbuild.flows.check_release import Claim, check_release

_CHUNK = 1 << 20


def import_folder(folder: Path, claimed: ReleaseId | None, *, store: Store) -> CheckReport:
    """Run checks (1) to (4) and (6); the release is added where none of them says no.

    Check (6) may say no for a release that a newer build made: it is then not added, since it could not be graded.

    Raises:
        StoreError: The store cannot be written.
    """
    raw = store.open_folder_raw(folder)
    claims = () if claimed is None else (Claim(claimed, "--digest"),)
    checks, found = check_release(raw, claims, None)
    digest = None if found.digest is None else str(found.digest)
    report = CheckReport(f"folder {folder}", digest, tuple(checks), (5, 7, 8))
    if report.outcome != "yes" or found.manifest is None:
        return report
    with store.stage(keep=True) as stage:
        for name in raw.names():
            with raw.open(name) as source, stage.create(name) as sink:
                while chunk := source.read(_CHUNK):
                    sink.write(chunk)
        # The folder may have changed since it was checked: what counts is what was copied.
        checks, found = check_release(stage.files().raw, claims, None)
        report = replace(report, checks=tuple(checks))
        if report.outcome == "yes":
            stage.keep()
    return report
