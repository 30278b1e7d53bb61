"""What there is to choose from: profiles and checks."""

from dataclasses import dataclass

from cli.output import console, print_json, table
from models.profile import Profile
from models.profiles import PROFILES
from tasks.work.checks import CHECKS, DOCUMENT_CHECKS, Check, DocumentCheck


@dataclass(frozen=True, slots=True)
class CheckLine:
    """A check as it is listed."""

    code: str
    severity: str
    about: str
    remedy: str
    is_optional: bool
    """Made only where a profile enables it."""
    looks_at: str
    """page, or neighbours: the page among those around it."""


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
    """All checks, in the order they are made: those of a page, then those among its neighbours."""
    found = [
        *(_line(one, "page", is_optional=one.is_optional) for one in CHECKS),
        *(_line(one, "neighbours", is_optional=False) for one in DOCUMENT_CHECKS),
    ]
    if as_json:
        print_json(found)
        return
    shown = table("check", "severity", "looks for", "what to do")
    for check in found:
        weight = f"{check.severity} (off)" if check.is_optional else check.severity
        shown.add_row(check.code, weight, check.about, check.remedy)
    console().print(shown)


def _line(one: Check | DocumentCheck, looks_at: str, *, is_optional: bool) -> CheckLine:
    return CheckLine(one.code, one.severity.value, one.about, one.remedy, is_optional, looks_at)


def _profile(profile: Profile) -> dict[str, object]:
    return profile.model_dump(mode="json") | {"scripts": sorted(profile.scripts)}
