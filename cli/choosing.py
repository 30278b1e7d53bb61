"""The profile that a command is to work with: found by name or file, its terms agreed to."""

import sys
from pathlib import Path

import typer

from models.profile import Profile
from models.settings import Settings
from tasks.work import consent, custom


def choose_profile(settings: Settings, wished: str, *, is_accepted: bool = False) -> Profile:
    """The profile called `wished`, or that in the file `wished` (….toml), which is kept for later runs.

    `is_accepted`: its terms are agreed to. A person at a terminal is asked, once. Raises ConfigurationError:
    unknown-profile, a file's fault, licence-not-accepted.
    """
    name = custom.adopt(Path(wished), settings) if wished.endswith(custom.SUFFIX) else wished
    profile = custom.find_profile(name, settings)
    if consent.is_needed(profile, settings):
        if is_accepted or _agrees(profile):
            consent.agree(profile, settings)
        consent.require(profile, settings)
    return profile


def _agrees(profile: Profile) -> bool:
    """Ask the person at the terminal; without one nobody agrees."""
    if profile.vlm is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    typer.echo(profile.vlm.consent, err=True)
    return typer.confirm("Do you agree?", default=False, err=True)
