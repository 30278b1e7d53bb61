"""Where the servers that `pagemill serve` looks after can be reached: a file a profile in the home."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import psutil
from pydantic import BaseModel, ValidationError

from models.errors import EnvironmentFault


class _Published(BaseModel):
    """What a file holds: who looks after the servers, and where they are."""

    pid: int
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Files PROFILE.json in a folder, each written by the `pagemill serve` that runs."""

    folder: Path

    def publish(self, profile: str, urls: tuple[str, ...]) -> None:
        """Say which servers of `profile` are ready; replaces what was said before."""
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f".{profile}.part"
        part.write_text(json.dumps({"pid": os.getpid(), "urls": urls}))
        part.replace(self._file(profile))

    def withdraw(self, profile: str) -> None:
        """Nothing is served any more."""
        self._file(profile).unlink(missing_ok=True)

    def of(self, profile: str) -> tuple[str, ...]:
        """Base URLs of the ready servers; empty when nobody serves the profile from this home.

        Raises EnvironmentFault for a file that somebody else wrote.
        """
        path = self._file(profile)
        try:
            told = json.loads(path.read_bytes())
        except (OSError, ValueError):
            return ()
        try:
            said = _Published.model_validate(told)
        except ValidationError as error:
            raise EnvironmentFault(
                f"{path} is not what 'pagemill serve' writes there. Delete it; a server that runs says anew "
                "where it is once it is started again."
            ) from error
        # A `pagemill serve` that was killed could not withdraw what it had said.
        return said.urls if psutil.pid_exists(said.pid) else ()

    def _file(self, profile: str) -> Path:
        return self.folder / f"{profile}.json"
