"""Runs git: without prompts, hooks, submodules or protocols nobody asked for."""

from __future__ import annotations

import base64
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from ingest.errors import ConfigurationError, SourceUnavailableError
from ingest.sources.configuration import is_remote

_PROTOCOLS: Final = frozenset({"https", "http", "ssh", "file"})
_KEPT_VARIABLES: Final = ("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_PROXY_SSL_CAINFO")
_ASK_EVERY_S: Final = 0.2
_PACKET: Final = b"packet:"

# What a repository or its owner's configuration could make git run or follow.
_SAFE: Final = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("core.quotePath", "false"),
    ("gc.autoDetach", "false"),
    ("maintenance.autoDetach", "false"),
    ("advice.detachedHead", "false"),
    # A server that sends nothing for a minute is gone.
    ("http.lowSpeedLimit", "1"),
    ("http.lowSpeedTime", "60"),
)

# What git and the servers say, lower case, and what it means for whoever runs the sync.
_REFUSED: Final = (
    "authentication failed",
    "could not read username",
    "could not read password",
    "terminal prompts disabled",
    "permission denied",
    "access denied",
    "error: 401",
    "error: 403",
    "host key verification failed",
)
_NOT_FOUND: Final = (
    "not found",
    "does not appear to be a git repository",
    "does not exist",
    "error: 404",
)


@dataclass(frozen=True, slots=True)
class GitAccess:
    """How a repository is reached.

    Attributes:
        repository: Address or path.
        token: For http(s); never on a command line.
        token_name: Environment variable it came from, for messages.
        username: Goes with the token.
        ssh_key: Private key, None for what ssh uses by itself.
    """

    repository: str
    token: SecretStr | None = field(default=None, repr=False)
    token_name: str | None = None
    username: str = "oauth2"
    ssh_key: Path | None = None

    @property
    def protocol(self) -> str:
        """Return the transport that git uses for it."""
        helper, colons, _ = self.repository.partition("::")
        if colons:
            return helper  # git would run the program git-remote-HELPER
        if not is_remote(self.repository):
            return "file"
        return urlsplit(self.repository).scheme if "://" in self.repository else "ssh"

    def check(self) -> None:
        """Make sure git may use its transport.

        Raises:
            ConfigurationError: If it could make git run a program, or is none that is safe.
        """
        if self.protocol not in _PROTOCOLS:
            allowed = ", ".join(sorted(_PROTOCOLS))
            raise ConfigurationError(
                f"repository {self.repository!r}: {self.protocol} is not taken; only {allowed} are"
            )


class Git:
    """Runs git commands on one bare repository of our own."""

    def __init__(self, directory: Path, access: GitAccess, *, timeout_s: float) -> None:
        access.check()
        self._directory = directory
        self._access = access
        self._timeout_s = timeout_s

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        stopped: Callable[[], bool] = lambda: False,
        anywhere: bool = False,
    ) -> bytes:
        """Run a command to its end and return what it printed.

        Args:
            arguments: Behind `git`.
            stdin: What it reads.
            stopped: Asked meanwhile; True ends it.
            anywhere: It needs no repository.

        Raises:
            SourceUnavailableError: If it fails, takes too long or is stopped; says why.
        """
        process = self._start(arguments, anywhere=anywhere)
        return self._complete(process, arguments[0], stdin, stopped)[0]

    def remote_refs(
        self, *patterns: str, stopped: Callable[[], bool] = lambda: False
    ) -> tuple[str, bool]:
        """Return what `git ls-remote --symref` prints, and whether it was a git server that spoke.

        A plain web server can only hand out whole packs: asked for a part, git 2.39 asks for ever.

        Raises:
            SourceUnavailableError: If it fails, takes too long or is stopped; says why.
        """
        arguments = ["ls-remote", "--symref", "--", self._access.repository, *patterns]
        process = self._start(arguments, anywhere=True, GIT_TRACE_PACKET="2")
        output, errors = self._complete(process, "ls-remote", b"", stopped)
        return output.decode("utf-8", "replace"), _PACKET in errors

    def _complete(
        self,
        process: subprocess.Popen[bytes],
        command: str,
        stdin: bytes,
        stopped: Callable[[], bool],
    ) -> tuple[bytes, bytes]:
        deadline = time.monotonic() + self._timeout_s
        given: bytes | None = stdin
        try:
            while True:
                try:
                    output, errors = process.communicate(given, timeout=_ASK_EVERY_S)
                    break
                except subprocess.TimeoutExpired:
                    given = None
                if stopped():
                    raise SourceUnavailableError(f"git {command}: stopped")
                if time.monotonic() > deadline:
                    raise SourceUnavailableError(
                        f"git {command}: took longer than {self._timeout_s:g} s"
                    )
        except BaseException:
            end(process)
            raise
        if process.returncode:
            raise SourceUnavailableError(self._explain(errors))
        return output, errors

    @contextmanager
    def stream(self, *arguments: str) -> Iterator[IO[bytes]]:
        """Run a command and read what it prints as it comes; ends it with the body.

        Raises:
            SourceUnavailableError: If it was read to the end, and failed.
        """
        process = self._start(arguments, quiet=True)
        output = process.stdout
        if output is None:
            raise SourceUnavailableError("git has no output")
        try:
            yield output
            if not output.read(1) and process.wait():
                raise SourceUnavailableError(f"git {arguments[0]} failed")
        finally:
            end(process)

    def open(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command that is written to and read from; `end` it."""
        return self._start(arguments, quiet=True)

    def _start(
        self,
        arguments: Sequence[str],
        *,
        anywhere: bool = False,
        quiet: bool = False,
        **variables: str,
    ) -> subprocess.Popen[bytes]:
        where = [] if anywhere else [f"--git-dir={self._directory}"]
        try:
            return subprocess.Popen(  # noqa: S603 - no shell, and values that start no option
                ["git", *where, *arguments],  # noqa: S607 - whichever git the PATH has
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if quiet else subprocess.PIPE,
                env=self._environment() | variables,
                cwd=self._directory if self._directory.is_dir() else None,
                start_new_session=True,  # `end` then reaches the programs git starts
            )
        except OSError as error:
            raise SourceUnavailableError(
                f"git cannot be run ({error.strerror}): install it"
            ) from error

    def _environment(self) -> dict[str, str]:
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("GIT_") or name in _KEPT_VARIABLES
        }
        settings = [*_SAFE, *self._credentials()]
        environment |= {
            "LC_ALL": "C",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_ASKPASS": "true",  # asked for a password, says nothing, at once
            "SSH_ASKPASS": "true",
            "GIT_ALLOW_PROTOCOL": self._access.protocol,
            "GIT_SSH_COMMAND": self._ssh(),
            "GIT_CONFIG_COUNT": str(len(settings)),
        }
        for number, (key, value) in enumerate(settings):
            environment[f"GIT_CONFIG_KEY_{number}"] = key
            environment[f"GIT_CONFIG_VALUE_{number}"] = value
        return environment

    def _credentials(self) -> list[tuple[str, str]]:
        """Return the header with the token, for this host alone, and no helper beside it."""
        if self._access.token is None or self._access.protocol not in ("https", "http"):
            return []
        parts = urlsplit(self._access.repository)
        secret = f"{self._access.username}:{self._access.token.get_secret_value()}"
        header = f"Authorization: Basic {base64.b64encode(secret.encode()).decode()}"
        host = parts.netloc.rpartition("@")[2]
        return [
            ("credential.helper", ""),
            (f"http.{parts.scheme}://{host}/.extraHeader", header),
        ]

    def _ssh(self) -> str:
        command = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20"]
        if self._access.ssh_key is not None:
            command += ["-i", str(self._access.ssh_key), "-o", "IdentitiesOnly=yes"]
        return shlex.join(command)

    def _explain(self, errors: bytes) -> str:
        """Return git's own words in one line, and what to do about them."""
        lines = [
            line.strip()
            for line in errors.decode("utf-8", "replace").splitlines()
            if _PACKET.decode() not in line
        ]
        said = " ".join(dict.fromkeys(line for line in lines if line)) or "git failed"
        if self._access.token is not None:
            said = said.replace(self._access.token.get_secret_value(), "***")
        lower = said.lower()
        if any(words in lower for words in _REFUSED):
            return f"the repository refused: {self._remedy()} ({said})"
        if any(words in lower for words in _NOT_FOUND):
            return f"there is no such repository, or it is hidden: {self._remedy()} ({said})"
        return f"the repository cannot be reached ({said})"

    def _remedy(self) -> str:
        if self._access.protocol == "ssh":
            return "check the ssh key and known_hosts"
        if self._access.protocol == "file":
            return "check the path and who may read it"
        if self._access.token_name:
            return f"the token in {self._access.token_name} may have expired or lack the right"
        return "it may need a token (token_env)"


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with all it started, and close its pipes."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:  # Windows
        process.kill()
    process.communicate()
