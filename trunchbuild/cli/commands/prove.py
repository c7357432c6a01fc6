"""`trunchbuild prove RELEASE EVAL/ID`: prove that one case belongs to a release."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from trunchbuild.cli.options import json_option
from trunchbuild.cli.render import say, show_json
from trunchbuild.cli.wiring import App
from trunchbuild.effects.files.api import NewFile
from trunchbuild.flows.find_release import find_release
from trunchbuild.flows.prove import parse_case_id, prove_case


@click.command()
@click.argument("release", metavar="RELEASE")
@click.argument("case", metavar="EVAL/ID")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The proof's file; without it, standard output.")
@click.option("--private", is_flag=True, help="Prove the private line instead: the proof then shows the answer.")
@json_option
@click.pass_obj
def command(app: App, *, release: str, case: str, output: Path | None, private: bool, as_json: bool) -> None:
    """Write a case's line with the audit path that leads to the Merkle root in the manifest."""
    files = find_release(release, store=app.store, files=app.files).files
    proof = prove_case(files, parse_case_id(case), private=private)
    if output is not None:
        app.files.replace([NewFile(output, [proof.canonical_bytes()])])
    if as_json or (output is None and sys.stdout.isatty()):
        show_json(proof.json())
    elif output is None:
        click.echo(proof.canonical_bytes(), nl=False)
    else:
        say(f"wrote {output}: line {proof.index + 1} of {proof.lines} of {proof.file} in {proof.release}")
