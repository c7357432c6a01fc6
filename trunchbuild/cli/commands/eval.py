"""`trunchbuild eval RELEASE`: run a model against a release."""

from __future__ import annotations

import gc
import math
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

import click

import trunchbuild
from trunchbuild.cli.options import json_option, runs_code
from trunchbuild.cli.render import note, progress, show_json, warn
from trunchbuild.cli.run_options import COUNT, MOST, Number, Text, Whole
from trunchbuild.cli.run_summary import show_summary
from trunchbuild.cli.run_target import ChosenTarget, TargetChoice, chosen_target
from trunchbuild.cli.wiring import App
from trunchbuild.core.ids import CaseId
from trunchbuild.core.json_types import JsonObject
from trunchbuild.core.run_spec import (
    DEFAULT_OUTPUT_TOKENS,
    LIMIT_FIELDS,
    THINKING_LEVELS,
    LimitField,
    RequestSettings,
    RunSpec,
    ThinkingLevel,
    choose_evals,
)
from trunchbuild.core.summary import DEFAULT_MIN_COVERAGE
from trunchbuild.effects.endpoint.api import CallLimits
from trunchbuild.effects.store.api import ReleaseFiles
from trunchbuild.errors import BadInputError, ExitCode
from trunchbuild.flows.ask import Asking
from trunchbuild.flows.evaluate import Doors, RunOptions, RunOutcome, evaluate, request_bodies
from trunchbuild.flows.find_release import find_release


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The options by their names."""

    model: str | None
    base_url: str | None
    provider: str | None
    label: str | None
    api_key_env: str | None
    gguf: Path | None
    slots: int | None
    evals: tuple[str, ...]
    limit: int | None
    cases: Path | None
    repeat: int
    concurrency: int
    temperature: float | str
    top_p: float | None
    seed: int | None
    max_output_tokens: int
    limit_field: LimitField | None
    thinking: ThinkingLevel | None
    rpm: float | None
    timeout: float
    min_coverage: float
    max_total_tokens: int | None
    save_responses: bool
    retry_failed: bool
    fresh: bool
    no_grade: bool
    dry_run: bool
    out: Path


@click.command()
@click.argument("release")
@click.option("--model", type=Text(), metavar="ID", help="The model, as the endpoint calls it.")
@click.option("--base-url", metavar="URL", help="Of an OpenAI-compatible endpoint. [default: $OPENAI_BASE_URL]")
@click.option("--provider", metavar="NAME", help="From providers.toml; `local` is the embedded model.")
@click.option("--label", type=Text(), metavar="NAME", help="Names the target. [default: provider, else host]")
@click.option("--api-key-env", metavar="NAME", help="Variable that holds the key. [default: OPENAI_API_KEY]")
@click.option(
    "--gguf",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Model file for `--provider local`. [default: SmolLM2]",
)
@click.option(
    "--slots", type=COUNT, metavar="N", help="Requests at a time for `--provider local`; above 1, replies may vary."
)
@click.option("--eval", "evals", metavar="ID", multiple=True, help="Only this eval; may be repeated.")
@click.option("--limit", type=COUNT, metavar="N", help="Only the first N cases of each eval: a partial run.")
@click.option(
    "--cases",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Only the cases in this file, one EVAL/ID a line: a partial run.",
)
@click.option("--repeat", type=COUNT, metavar="N", default=1, show_default=True, help="Ask each case N times.")
@click.option(
    "--concurrency",
    type=Whole(1, 4096),
    metavar="N",
    default=16,
    show_default=True,
    help="Calls at a time, at most 4096.",
)
@click.option(
    "--temperature",
    type=Number(0, 100, none=True),
    default=0,
    show_default=True,
    metavar="T|none",
    help="For cases that state none; `none` leaves it out of the request.",
)
@click.option("--top-p", type=Number(0, 1, above=True), metavar="P", help="For cases that state none.")
@click.option("--seed", type=Whole(0, MOST), metavar="N", help="Repeat n, from 0, asks with this seed + n.")
@click.option(
    "--max-output-tokens",
    type=COUNT,
    metavar="N",
    default=DEFAULT_OUTPUT_TOKENS,
    show_default=True,
    help="For cases that state no limit.",
)
@click.option("--limit-field", type=click.Choice(LIMIT_FIELDS), help="The output limit's name in the request.")
@click.option("--thinking", type=click.Choice(THINKING_LEVELS), help="Told as the provider's `thinking` says.")
@click.option("--rpm", type=Number(0, math.inf, above=True), metavar="N", help="Calls a minute, retries among them.")
@click.option(
    "--timeout",
    type=Number(0, math.inf, above=True),
    metavar="SECONDS",
    default=600,
    show_default=True,
    help="Of one call.",
)
@click.option(
    "--min-coverage",
    type=Number(0, 1),
    metavar="SHARE",
    default=DEFAULT_MIN_COVERAGE,
    show_default=True,
    help="Below it there is no summary score, and the exit code is 1.",
)
@click.option(
    "--max-total-tokens", type=COUNT, metavar="N", help="Stop when the run has used N; a larger N goes on from there."
)
@click.option(
    "--save-responses/--no-save-responses",
    default=True,
    show_default=True,
    help="Without replies a run cannot be graded or verified again.",
)
@click.option("--retry-failed", is_flag=True, help="Ask failed, truncated, filtered and empty trials again.")
@click.option("--fresh", is_flag=True, help="Move an old run of the same settings aside and begin anew.")
@click.option("--no-grade", is_flag=True, help="Only ask; `trunchbuild grade` grades.")
@click.option("--dry-run", is_flag=True, help="Print the exact request bodies, one a line; ask nobody.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path("runs"),
    show_default=True,
    help="Where runs go: DIR/RELEASE/LABEL/MODEL/RUN.",
)
@json_option
@runs_code
@click.pass_obj
def command(app: App, /, *, release: str, as_json: bool, **options: object) -> int:
    """Ask a model every case of a RELEASE, record each reply, and grade them.

    The same command goes on after an interruption and asks only what is missing. Every run has its own folder, named
    by the release, the model and every setting that shapes a request.
    """
    arguments = _Arguments(**options)  # type: ignore[arg-type]
    _rest_collector()
    files = find_release(release, store=app.store, files=app.files).files
    choice = TargetChoice(
        arguments.model,
        arguments.base_url,
        arguments.provider,
        arguments.label,
        arguments.api_key_env,
        arguments.gguf,
        arguments.slots,
    )
    with chosen_target(app, choice) as target:
        spec = _spec(app, files, arguments, target)
        if arguments.dry_run:
            return _dry_run(files, spec, as_json)
        if target.target.api_key and target.target.base_url.startswith("http://") and target.most_connections is None:
            _warn_plain(target)
        options_of_run = _run_options(app, arguments, target, spec)
        doors = Doors(lambda: app.endpoints, app.journals, app.files, lambda: app.runtime, progress)
        outcome = evaluate(files, options_of_run, doors)
    return _show(outcome, as_json)


def _rest_collector() -> None:
    """Let the cycle collector leave alone what was imported, and look less often: a run makes few cycles."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _spec(app: App, release: ReleaseFiles, arguments: _Arguments, target: ChosenTarget) -> RunSpec:
    evals = choose_evals([entry.id for entry in release.manifest.evals], arguments.evals)
    temperature = arguments.temperature
    return RunSpec(
        release=release.digest,
        evals=evals,
        model=target.model,
        label=target.label,
        repeat=arguments.repeat,
        limit=arguments.limit,
        cases=None if arguments.cases is None else _cases(app, release, arguments.cases, evals),
        model_sha256=target.model_sha256,
        request=RequestSettings(
            temperature=None if isinstance(temperature, str) else temperature,
            top_p=arguments.top_p,
            seed=arguments.seed,
            max_output_tokens=arguments.max_output_tokens,
            limit_field=arguments.limit_field or target.limit_field,
            thinking=arguments.thinking,
            thinking_switch=target.thinking,
        ),
    )


def _cases(app: App, release: ReleaseFiles, path: Path, evals: tuple[str, ...]) -> tuple[CaseId, ...]:
    from trunchbuild.core.plan import read_case_list  # noqa: PLC0415 - only for `--cases`
    from trunchbuild.flows.read_cases import case_ids  # noqa: PLC0415

    try:
        text = app.files.read(path).decode("utf-8")
    except UnicodeDecodeError:
        raise BadInputError("not UTF-8", place=str(path)) from None
    return read_case_list(text, case_ids(release), evals, str(path))


def _run_options(app: App, arguments: _Arguments, target: ChosenTarget, spec: RunSpec) -> RunOptions:
    concurrency = min(arguments.concurrency, target.most_connections or arguments.concurrency)
    rpm = arguments.rpm if arguments.rpm is not None else target.rpm
    limits = CallLimits(connections=concurrency, total_seconds=arguments.timeout, calls_per_minute=rpm)
    record: JsonObject = {
        "began": f"{app.clock.now():%Y-%m-%dT%H:%M:%SZ}",
        "trunchbuild": trunchbuild.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        **target.record,
        "concurrency": concurrency,
        "rpm": rpm,
        "timeout_seconds": arguments.timeout,
        "min_coverage": arguments.min_coverage,
    }
    return RunOptions(
        spec=spec,
        out=arguments.out,
        asking=Asking(target.target, limits, arguments.max_total_tokens),
        record=record,
        min_coverage=arguments.min_coverage,
        save_replies=arguments.save_responses,
        retry_failed=arguments.retry_failed,
        fresh=arguments.fresh,
        grade=not arguments.no_grade,
    )


def _warn_plain(target: ChosenTarget) -> None:
    host = target.target.base_url.removeprefix("http://").partition("/")[0].partition(":")[0]
    if host not in ("localhost", "[") and not host.startswith("127."):
        warn("the key goes to this endpoint in plain text: its address begins with http://")


def _dry_run(release: ReleaseFiles, spec: RunSpec, as_json: bool) -> int:
    """Print the bodies as they would be sent, each on a line: JSON text holds no raw line break."""
    if as_json:
        show_json(
            {
                "run": str(spec.run_id),
                "requests": [
                    {"eval": trial.eval, "id": trial.id, "repeat": trial.repeat, "body": body.decode()}
                    for trial, body in request_bodies(release, spec)
                ],
            }
        )
        return ExitCode.YES
    sys.stdout.flush()
    for _, body in request_bodies(release, spec):
        sys.stdout.buffer.write(body + b"\n")
    return ExitCode.YES


def _show(outcome: RunOutcome, as_json: bool) -> int:
    if outcome.moved_to is not None:
        note(f"the old run is kept in {outcome.moved_to}")
    summary = outcome.summary
    note(f"asked {outcome.asked} trials; everything is in {outcome.folder}")
    if summary is None:
        if as_json:
            show_json({"folder": str(outcome.folder), "asked": outcome.asked, "cost": outcome.cost})
        return ExitCode.YES
    if as_json:
        show_json({**summary.json(), "cost": outcome.cost, "folder": str(outcome.folder), "asked": outcome.asked})
    else:
        show_summary(summary, outcome.folder)
    if summary.total.all_failed:
        note("every call failed: check base URL, key and model; the same command asks them again")
    elif summary.withheld is not None:
        again = "; the same command asks the failed trials again" if summary.total.statuses["failed"] else ""
        note(f"no summary score: {summary.withheld}{again}")
    return summary.exit_code
