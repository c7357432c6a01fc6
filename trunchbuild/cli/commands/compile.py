"""`trunchbuild compile REPO@REV`: build a release and lock it."""

from __future__ import annotations

from pathlib import Path

import click

import trunchbuild
from trunchbuild.cli.options import json_option, runs_code, signer_options
from trunchbuild.cli.render import cut, note, on_one_line, say, show_fields, show_json, waiting, warn
from trunchbuild.cli.wiring import App
from trunchbuild.core.release_diff import ReleaseDiff
from trunchbuild.core.repo import parse_target, recorded_url
from trunchbuild.core.seal import checked_key
from trunchbuild.effects.signatures.api import Signers
from trunchbuild.errors import UsageError
from trunchbuild.flows.compile import CompileOrder, CompileOutcome, CompileTools, compile_release
from trunchbuild.flows.from_commit import BuildOrder, BuildTools
from trunchbuild.flows.signature import SignatureOrder

MOST_SHOWN = 20
"""Cases of one kind that are listed for people; `--json` lists all."""


@click.command()
@click.argument("target", metavar="REPO@REV")
@click.option("--config", metavar="PATH", help="The config, where the root holds none or several.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path("lockfiles"),
    show_default=True,
    help="The folder of the lockfile.",
)
@click.option("--locked", is_flag=True, help="Build again and compare with the lockfile; write nothing.")
@click.option("--update", is_flag=True, help="Accept another digest than the lockfile's.")
@click.option("--origin", metavar="URL", help="State in the lockfile where a local repository can be found.")
@click.option("--seal", metavar="KEYFILE", type=click.Path(path_type=Path), help="Salt the private part with this key.")
@click.option("--strict", is_flag=True, help="Lint is an error.")
@click.option("--insecure-http", is_flag=True, help="Allow plain http to another machine.")
@click.option("--require-signed", is_flag=True, help="Refuse a commit without a good signature of its own.")
@signer_options
@json_option
@runs_code
@click.pass_obj
def command(
    app: App,
    *,
    target: str,
    config: str | None,
    out: Path,
    locked: bool,
    update: bool,
    origin: str | None,
    seal: Path | None,
    strict: bool,
    insecure_http: bool,
    require_signed: bool,
    allowed_signers: Path | None,
    gpg_home: Path | None,
    as_json: bool,
) -> int:
    """Build a release of one commit, add it to the store, and write its lockfile.

    A lockfile is never overwritten by another digest unless --update is given: the difference is shown, and the exit
    code is 1.
    """
    if locked and update:
        raise UsageError("--locked compares and --update writes: give one of them")
    address, revision = parse_target(target)
    key = None if seal is None else checked_key(app.files.read(seal), str(seal))
    order = CompileOrder(
        build=BuildOrder(
            address,
            revision,
            config,
            insecure_http=insecure_http,
            today=app.clock.now().date(),
            strict=strict,
            seal_key=key,
            signature=SignatureOrder(Signers(allowed_signers, gpg_home), require_signed),
        ),
        lock_folder=out,
        origin=None if origin is None else recorded_url(origin),
        locked=locked,
        update=update,
    )
    build = BuildTools(app.git, app.runtime, app.schemas, app.store, app.signatures)
    tools = CompileTools(build, app.files, app.clock, lambda: app.sandbox.name, trunchbuild.__version__)
    with waiting("compiling"):
        outcome = compile_release(order, tools)
    for warning in outcome.warnings:
        warn(warning)
    if as_json:
        show_json(outcome.json())
    else:
        _show(outcome)
    return outcome.exit_code


_STATUS = {
    "compiled": "compiled",
    "updated": "compiled; the lockfile was updated",
    "unchanged": "compiled; the lockfile stands as it was",
    "locked": "the commit gives what the lockfile says",
    "differs": "DIFFERS from the lockfile; nothing was written",
}


def _show(outcome: CompileOutcome) -> None:
    show_fields(
        [
            ("release", str(outcome.release)),
            ("shown", outcome.shown),
            ("cases", str(outcome.cases)),
            ("cases-sha256", outcome.cases_sha256),
            ("signature", str(outcome.signature)),
            ("lockfile", str(outcome.lockfile)),
            ("status", _STATUS[outcome.status]),
        ]
    )
    if outcome.status != "differs":
        return
    same = outcome.release == outcome.locked_release
    lock = outcome.lockfile
    note(f"error: {lock} states other values" if same else f"error: the release differs from {lock}")
    for change in outcome.changes:
        note(f"  {on_one_line(cut(str(change)))}")
    if outcome.difference is not None:
        show_difference(outcome.difference)
    if any(change.place.endswith("release.sealed") for change in outcome.changes):
        note("\nhint: one of the two is sealed: --seal KEYFILE builds with the key")
    elif any(change.place.endswith("source.config") for change in outcome.changes):
        note("\nhint: the lockfile pins another config of the same title: name another folder by --out")
    elif outcome.difference is not None and outcome.difference.only_salts:
        note("\nhint: only the salts differ: the lockfile's release was sealed with another key")
    elif outcome.release == outcome.locked_release:
        note("\nhint: the release is the same; --update writes the lockfile anew")
    else:
        note("\nhint: --update accepts the new digest; the author's `version` should then be a new one too")


def show_difference(difference: ReleaseDiff) -> None:
    """Print a difference case by case for people."""
    if difference.same:
        say("no difference")
        return
    for change in (*difference.facts, *difference.modules):
        say(f"{on_one_line(change.field)}: {_value(change.old)} -> {_value(change.new)}")
    _list("removed", [str(case) for case in difference.removed])
    _list("added", [str(case) for case in difference.added])
    _list("changed", [f"{change.case} ({', '.join(change.fields)})" for change in difference.changed])
    _list("in another order, first at", [str(case) for case in difference.moved])
    say(f"{difference.unchanged} cases unchanged")
    if not difference.private_compared:
        say("the private part is withheld on one side: evaluators and answers were not compared")


def _value(text: str | None) -> str:
    return "nothing" if text is None else on_one_line(cut(text))


def _list(label: str, cases: list[str]) -> None:
    for case in cases[:MOST_SHOWN]:
        say(f"{label}: {on_one_line(case)}")
    if len(cases) > MOST_SHOWN:
        say(f"{label}: {len(cases) - MOST_SHOWN} more (--json lists all)")
