"""The only chooser of back ends. Each is made when first asked for; imports stay where they are needed."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Self

from trunchbuild.cli.settings import Settings

if TYPE_CHECKING:
    from types import TracebackType

    from trunchbuild.effects.clock.api import Clock
    from trunchbuild.effects.endpoint.api import Endpoints
    from trunchbuild.effects.files.api import Files
    from trunchbuild.effects.folder.api import Folders
    from trunchbuild.effects.git.api import Git
    from trunchbuild.effects.journal.api import Journals
    from trunchbuild.effects.local_model.api import LocalModel
    from trunchbuild.effects.runtime.api import Runtime
    from trunchbuild.effects.sandbox._launch import Way
    from trunchbuild.effects.sandbox.api import Sandbox
    from trunchbuild.effects.schemas.api import Schemas
    from trunchbuild.effects.signatures.api import Signatures
    from trunchbuild.effects.store.api import Store


class App:
    """What commands use. A context manager: whatever it started ends with it.

    Back ends are cached properties: `git`, `store`, `sandbox`, `runtime`, `clock` ...
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.unsafe_no_sandbox = False
        """Set by `--unsafe-no-sandbox`, before anything runs."""
        self._stack = ExitStack()

    @classmethod
    def from_environment(cls) -> App:
        """Wire by what the user's surroundings say."""
        return cls(Settings.from_environment())

    @cached_property
    def clock(self) -> Clock:
        """The machine's time."""
        from trunchbuild.effects.clock._system import SystemClock  # noqa: PLC0415 - only commands that use it

        return SystemClock()

    @cached_property
    def endpoints(self) -> Endpoints:
        """Model endpoints over HTTP."""
        from trunchbuild.effects.endpoint._http import HttpEndpoints  # noqa: PLC0415 - only when something is asked

        return HttpEndpoints(self.clock)

    @cached_property
    def journals(self) -> Journals:
        """Journals of runs, in SQLite."""
        from trunchbuild.effects.journal._sqlite import SqliteJournals  # noqa: PLC0415 - only commands that use it

        return SqliteJournals()

    @cached_property
    def folders(self) -> Folders:
        """Plain folders as source trees."""
        from trunchbuild.effects.folder._plain import PlainFolders  # noqa: PLC0415 - only commands that use it

        return PlainFolders()

    @cached_property
    def git(self) -> Git:
        """Commits of repositories, local and remote."""
        from trunchbuild.effects.git._dulwich import DulwichGit  # noqa: PLC0415 - only commands that use it

        return DulwichGit(ssh_command=self.settings.git_ssh_command)

    @cached_property
    def signatures(self) -> Signatures:
        """Signatures of commits, by `ssh-keygen` and `gpg`."""
        from trunchbuild.effects.signatures._programs import ProgramSignatures, UserKeys  # noqa: PLC0415 - see git

        return ProgramSignatures(UserKeys(self.settings.user_home, self.settings.git_config, self.settings.gpg_home))

    @cached_property
    def schemas(self) -> Schemas:
        """The JSON Schemas of every file format."""
        from trunchbuild.effects.schemas._package import PackageSchemas  # noqa: PLC0415 - only commands that use it

        return PackageSchemas()

    @cached_property
    def files(self) -> Files:
        """The user's own files."""
        from trunchbuild.effects.files._local import LocalFiles  # noqa: PLC0415 - only commands that use it

        return LocalFiles()

    @cached_property
    def store(self) -> Store:
        """Releases below the user's home for trunchbuild."""
        from trunchbuild.effects.store._disk import DiskStore  # noqa: PLC0415 - only commands that use it

        return DiskStore(self.settings.home / "store")

    @cached_property
    def sandbox(self) -> Sandbox:
        """The first way of confinement that holds on this machine; none only for who asked for none."""
        if self.unsafe_no_sandbox:
            from trunchbuild.effects.sandbox._none import NoSandbox  # noqa: PLC0415 - only when asked for

            return NoSandbox()
        from trunchbuild.effects.runtime._python_layout import probe_request  # noqa: PLC0415
        from trunchbuild.effects.sandbox._bubblewrap import system_bubblewrap, wheel_bubblewrap  # noqa: PLC0415
        from trunchbuild.effects.sandbox._confined import ConfinedSandbox  # noqa: PLC0415
        from trunchbuild.effects.sandbox._landlock import Landlock  # noqa: PLC0415

        cache = self.settings.home / "cache"
        ways: list[Way] = [system_bubblewrap(), wheel_bubblewrap(), Landlock(cache / "trees")]
        if sys.platform == "darwin":
            from trunchbuild.effects.sandbox._seatbelt import Seatbelt  # noqa: PLC0415 - only there

            ways = [Seatbelt()]
        return ConfinedSandbox(ways, probe_request(), cache / "sandbox")

    @cached_property
    def runtime(self) -> Runtime:
        """What runs authors' modules, in the sandbox."""
        from trunchbuild.effects.runtime._modules import ModuleRuntime  # noqa: PLC0415 - only commands that use it

        runtime = ModuleRuntime(self.sandbox, self.settings.home / "cache" / "modules")
        return self._stack.enter_context(runtime)

    @cached_property
    def runtime_elsewhere(self) -> Runtime:
        """The same under another locale and time zone, for `inspect --portability`."""
        from trunchbuild.effects.runtime._modules import ModuleRuntime  # noqa: PLC0415 - only for that option

        runtime = ModuleRuntime(self.sandbox, self.settings.home / "cache" / "modules", elsewhere=True)
        return self._stack.enter_context(runtime)

    @cached_property
    def local_model(self) -> LocalModel:
        """The embedded llama.cpp server."""
        from trunchbuild.effects.local_model._xllamacpp import XllamacppModel  # noqa: PLC0415 - only `--provider local`

        return XllamacppModel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
