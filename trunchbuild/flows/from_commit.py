"""From a commit to a release in a stage: pin, load, freeze. Nothing is kept unless the caller keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date

from trunchbuild.core.commit_signature import Signature
from trunchbuild.core.repo import RepoAddress
from trunchbuild.effects.git.api import Git, Pin
from trunchbuild.effects.runtime.api import Runtime
from trunchbuild.effects.schemas.api import Schemas
from trunchbuild.effects.signatures.api import Signatures
from trunchbuild.effects.store.api import Stage, Store
from trunchbuild.flows.build import Built, build_release
from trunchbuild.flows.load import load_benchmark
from trunchbuild.flows.signature import ONLY_TOLD, SignatureOrder, commit_signature


@dataclass(frozen=True, slots=True)
class BuildOrder:
    """Which commit of which repository, and how."""

    address: RepoAddress
    revision: str | None
    config: str | None = None
    """Repository path of the config; None where the repository holds only one."""
    insecure_http: bool = False
    today: date | None = None
    """For lint; None looks for none."""
    strict: bool = False
    """Lint is an error."""
    seal_key: bytes | None = None
    signature: SignatureOrder = ONLY_TOLD


@dataclass(frozen=True, slots=True)
class BuildTools:
    """The doors that building needs."""

    git: Git
    runtime: Runtime
    schemas: Schemas
    store: Store
    signatures: Signatures


@dataclass(frozen=True, slots=True)
class MadeRelease:
    """A release that stands complete in its stage, but for its provenance."""

    pin: Pin
    built: Built
    stage: Stage
    warnings: tuple[str, ...]
    signature: Signature
    """Of the commit."""


@contextmanager
def release_from_commit(order: BuildOrder, tools: BuildTools, *, keep: bool) -> Iterator[MadeRelease]:
    """Build a release; the stage vanishes on exit unless it was kept.

    Raises:
        TrunchbuildError: Whatever pinning, loading or freezing refuses.
    """
    with ExitStack() as stack:
        tree = stack.enter_context(tools.git.open(order.address, order.revision, insecure_http=order.insecure_http))
        # Before anything of the commit is read, let alone run.
        signature = commit_signature(tree, order.signature, tools.signatures)
        stage = stack.enter_context(tools.store.stage(keep=keep))
        loaded = stack.enter_context(
            load_benchmark(tree, order.config, tools.runtime, tools.schemas, today=order.today, strict=order.strict)
        )
        built = build_release(loaded, tree, tree.pin, stage, seal_key=order.seal_key)
        yield MadeRelease(tree.pin, built, stage, (*tree.pin.warnings, *loaded.warnings), signature)
