"""`trunchbuild verify`: check a release, lockfile, folder, run or proof."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trunchbuild.cli.options import json_option, runs_code, signer_options
from trunchbuild.cli.render import cut, on_one_line, say, show_json, waiting
from trunchbuild.cli.wiring import App
from trunchbuild.core.checks import CheckReport, CheckResult
from trunchbuild.core.ids import Digest
from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.seal import checked_key
from trunchbuild.effects.signatures.api import Signers
from trunchbuild.effects.store.api import ReleaseFiles
from trunchbuild.errors import Fault, UsageError
from trunchbuild.flows.find_release import find_release, is_stored
from trunchbuild.flows.run_folder import is_run_folder
from trunchbuild.flows.verify import VerifyOrder, VerifyTools, verify

if TYPE_CHECKING:
    from trunchbuild.flows.from_commit import BuildTools


@click.command()
@click.argument("subject", metavar="RELEASE|LOCKFILE|FOLDER|RUN|PROOF")
@click.option("--digest", metavar="sha256:HEX", help="The digest that somebody claims.")
@click.option("--rebuild", is_flag=True, help="Also build the release again from its commit.")
@click.option("--repo", metavar="REPO", help="Rebuild from here, not from where lockfile or provenance say.")
@click.option(
    "--manifest", metavar="FILE", type=click.Path(path_type=Path), help="For a proof: the manifest of its release."
)
@click.option("--release", metavar="RELEASE", help="For a run: its release, where the store does not hold it.")
@click.option("--seal", metavar="KEYFILE", type=click.Path(path_type=Path), help="The key of a sealed release.")
@click.option("--insecure-http", is_flag=True, help="Allow plain http to another machine.")
@signer_options
@json_option
@runs_code
@click.pass_obj
def command(
    app: App,
    *,
    subject: str,
    digest: str | None,
    rebuild: bool,
    repo: str | None,
    manifest: Path | None,
    release: str | None,
    seal: Path | None,
    insecure_http: bool,
    allowed_signers: Path | None,
    gpg_home: Path | None,
    as_json: bool,
) -> int:
    """Run every check that belongs to the subject; say for each what was expected and what was found.

    Exits 0 where all say yes, 1 where one says no, 4 where something could not be checked.
    """
    signers = Signers(allowed_signers, gpg_home)
    if signers != Signers() and not (rebuild or repo is not None):
        raise UsageError("`--allowed-signers` and `--gpg-home` belong to `--rebuild`: it looks at the commit")
    claimed = None if digest is None else Digest.parse(digest)
    if is_run_folder(Path(subject), app.files):
        if rebuild or repo is not None or manifest is not None or seal is not None:
            raise UsageError("that is a run: `--rebuild`, `--repo`, `--manifest` and `--seal` belong to a release")
        with waiting("verifying"):
            report = _verify_run(app, Path(subject), release, claimed)
        return _answer(report, as_json=as_json)
    if release is not None:
        raise UsageError("`--release` belongs to a run", got=f"`{subject}`, which is none")
    order = VerifyOrder(
        text=subject,
        claimed=claimed,
        rebuild=rebuild or repo is not None,
        repo=None if repo is None else RepoAddress.parse(repo),
        insecure_http=insecure_http,
        seal_key=None if seal is None else checked_key(app.files.read(seal), str(seal)),
        manifest=manifest,
        signers=signers,
    )
    with waiting("verifying"):
        report = verify(order, VerifyTools(app.files, app.store, lambda: _build_tools(app)))
    return _answer(report, as_json=as_json)


def _build_tools(app: App) -> BuildTools:
    from trunchbuild.flows.from_commit import BuildTools  # noqa: PLC0415 - only to build a release again

    return BuildTools(app.git, app.runtime, app.schemas, app.store, app.signatures)


def _verify_run(app: App, folder: Path, release: str | None, claimed: Digest | None) -> CheckReport:
    """Verify a run against the release that it names, from the store or from where the user says."""
    from trunchbuild.flows.grade import GradeDoors  # noqa: PLC0415 - only for runs
    from trunchbuild.flows.verify_run import verify_run  # noqa: PLC0415

    def find(digest: Digest) -> ReleaseFiles | None:
        if release is None and not is_stored(digest, app.store):
            return None
        return find_release(release or str(digest), store=app.store, files=app.files).files

    return verify_run(folder, find, GradeDoors(app.files, app.journals, lambda: app.runtime), claimed=claimed)


def _answer(report: CheckReport, *, as_json: bool) -> int:
    if as_json:
        show_json(report.json())
    else:
        show_report(report)
    return report.exit_code


_ANSWER = {
    "yes": "yes: every check that was made agrees",
    "no": "NO: it does not verify",
    "open": "OPEN: not everything could be checked",
}


def show_report(report: CheckReport) -> None:
    """Print a report for people, a line each: no name in a stranger's folder can look like a line of ours."""
    for line in _report_lines(report):
        say(on_one_line(line))


def _report_lines(report: CheckReport) -> Iterator[str]:
    yield report.subject
    if report.digest is not None:
        yield f"digest {report.digest}"
    for check in report.checks:
        yield from _check_lines(check)
    if report.not_asked:
        yield f"not asked for: {', '.join(f'({number})' for number in report.not_asked)}"
    yield from report.notes
    yield _ANSWER[report.outcome]


def _check_lines(check: CheckResult) -> Iterator[str]:
    mark = {"yes": "yes ", "no": "NO  ", "open": "open"}[check.outcome]
    yield f"({check.number}) {mark} {check.name}"
    if check.outcome != "yes" and (check.expected is not None or check.got is not None):
        yield f"         expected {cut(check.expected or 'nothing')}"
        yield f"         got      {cut(check.got or 'nothing')}"
    for fault in check.faults:
        repeated = len(check.faults) == 1 and (fault.expected, fault.got) == (check.expected, check.got)
        yield f"         {cut(str(Fault(fault.place, fault.message) if repeated else fault))}"
    if check.note:
        yield f"         {cut(check.note)}"
