"""`trunchbuild inspect`."""

from __future__ import annotations

from pathlib import Path

import click

from trunchbuild.cli.options import json_option, runs_code, signer_options
from trunchbuild.cli.render import counted, say, show_fields, show_json, waiting, warn
from trunchbuild.cli.wiring import App
from trunchbuild.core.commit_signature import Signature
from trunchbuild.core.repo import RepoAddress
from trunchbuild.effects.signatures.api import Signers
from trunchbuild.errors import BadInputError
from trunchbuild.flows.inspect import InspectedEval, Inspection, InspectOrder, inspect_benchmark
from trunchbuild.flows.pin import open_target
from trunchbuild.flows.signature import SignatureOrder, commit_signature


@click.command("inspect", short_help="Show what would be compiled, with lint; write nothing.")
@click.argument("target", metavar="[FOLDER|REPO@REV]", default=".")
@click.option("--config", metavar="PATH", help="The config, where the root holds none or several.")
@click.option("--strict", is_flag=True, help="Lint is an error.")
@click.option("--portability", is_flag=True, help="Also run everything under another locale and time zone.")
@click.option("--insecure-http", is_flag=True, help="Allow plain http to another machine.")
@signer_options
@runs_code
@json_option
@click.pass_obj
def command(
    app: App,
    *,
    target: str,
    config: str | None,
    strict: bool,
    portability: bool,
    insecure_http: bool,
    allowed_signers: Path | None,
    gpg_home: Path | None,
    as_json: bool,
) -> None:
    """Show what would be compiled from a plain FOLDER as it is on disk, or from a commit, with lint.

    Every module is run and every case is checked as `compile` would do it. Nothing is written.
    """
    elsewhere = app.runtime_elsewhere if portability else None
    order = InspectOrder(config, app.clock.now().date(), strict, elsewhere)
    if app.files.is_folder(Path(target)):
        with waiting("inspecting"):
            inspection = inspect_benchmark(app.folders.open(Path(target)), order, app.runtime, app.schemas)
        pinned, signature = None, None
    elif "@" not in target and RepoAddress.parse(target).is_local:
        raise BadInputError("no such folder", place=target, expected="a folder, or REPO@REV")
    else:
        with open_target(target, git=app.git, warn=warn, insecure_http=insecure_http) as commit:
            with waiting("inspecting"):
                signers = SignatureOrder(Signers(allowed_signers, gpg_home))
                signature = commit_signature(commit, signers, app.signatures)
                inspection = inspect_benchmark(commit, order, app.runtime, app.schemas)
            pinned = str(commit.pin.commit)
    if as_json:
        signed = None if signature is None else signature.json()
        show_json({**inspection.json(), "commit": pinned, "signature": signed})
        return
    _show(inspection, pinned, signature, portability=portability)


def _show(inspection: Inspection, pinned: str | None, signature: Signature | None, *, portability: bool) -> None:
    found = inspection.warnings
    lint = f"{counted(len(found), 'warning')}, below" if found else "nothing found"
    show_fields(
        [
            ("benchmark", f"{inspection.facts.title} {inspection.facts.version}"),
            ("license", inspection.facts.license or "none"),
            ("config", inspection.config_path),
            ("commit", pinned or "none: a plain folder, as it is on disk"),
            *([] if signature is None else [("signature", str(signature))]),
            ("cases", f"{inspection.case_count:,} in {counted(len(inspection.evals), 'eval')}"),
            ("lint", f"{lint} (another locale and time zone tried too)" if portability else lint),
        ]
    )
    for item in inspection.evals:
        say("")
        show_fields(_eval_fields(item))
    for warning in found:
        warn(warning)


def _eval_fields(item: InspectedEval) -> list[tuple[str, str]]:
    loaded = item.eval
    fields = [
        ("eval", f"{loaded.id} ({loaded.title})"),
        ("cases", f"{item.case_count:,}"),
        ("graded by", ", ".join(f"{kind} ({count:,})" for kind, count in item.kinds.items())),
    ]
    if loaded.case_file is not None:
        fields.append(("from", f"{loaded.case_file.path}  {loaded.case_file.sha256}"))
    if loaded.transformer is not None:
        made = loaded.transformer
        fields.append(("from", f"{made.path} ({made.name})"))
        fields.append(("modules", "\n".join(f"{module.path}  {module.sha256}" for module in made.modules)))
        sources = [f"{s.name}={s.file.path}  {s.file.sha256}  {s.file.bytes:,} bytes" for s in made.sources]
        fields.append(("sources", "\n".join(sources)))
    if loaded.tools:
        fields.append(("tools", ", ".join(loaded.tools)))
    if loaded.run_modules:
        fields.append(("runs", "\n".join(loaded.run_modules)))
    return fields
