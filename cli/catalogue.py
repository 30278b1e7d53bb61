"""What there is to choose from: profiles and checks."""

from dataclasses import dataclass

from cli.output import console, print_json, table
from models.profile import Profile
from models.profiles import PROFILES
from tasks.work.checks import CHECKS


@dataclass(frozen=True, slots=True)
class CheckLine:
    """A check as it is listed."""

    code: str
    severity: str
    about: str


def show_profiles(*, as_json: bool) -> None:
    """All profiles, by name."""
    found = [PROFILES[name] for name in sorted(PROFILES)]
    if as_json:
        print_json([_profile(profile) for profile in found])
        return
    shown = table("profile", "model", "scripts", "licence")
    for profile in found:
        shown.add_row(profile.name, profile.title, ", ".join(sorted(profile.scripts)), profile.licence)
    console().print(shown)


def show_checks(*, as_json: bool) -> None:
    """All checks, in the order they are made."""
    found = [CheckLine(check.code, check.severity.value, check.about) for check in CHECKS]
    if as_json:
        print_json(found)
        return
    shown = table("check", "severity", "looks for")
    for check in found:
        shown.add_row(check.code, check.severity, check.about)
    console().print(shown)


def _profile(profile: Profile) -> dict[str, object]:
    return profile.model_dump(mode="json") | {"scripts": sorted(profile.scripts)}
