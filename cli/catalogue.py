"""What there is to choose from: profiles and checks."""

from dataclasses import dataclass

from cli.output import console, print_json, table
from models.profile import Profile
from models.settings import Settings
from models.vlm import Vlm
from tasks.work import consent, custom
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


def show_profiles(settings: Settings, *, as_json: bool) -> None:
    """All profiles, embedded and from files, by name."""
    found = [profile for _, profile in sorted(custom.all_profiles(settings).items())]
    if as_json:
        print_json([_profile(profile) for profile in found])
        return
    shown = table("profile", "model", "tasks", "scripts", "licence")
    for profile in found:
        tasks = ", ".join(profile.vlm.tasks) if profile.vlm else "text"
        shown.add_row(profile.name, profile.title, tasks, ", ".join(sorted(profile.scripts)), profile.licence)
    console().print(shown)


def show_profile(settings: Settings, name: str, *, as_json: bool) -> None:
    """One profile: what it can be asked, its server flags, its terms. Raises ConfigurationError."""
    profile = custom.find_profile(name, settings)
    if as_json:
        print_json(_profile(profile))
        return
    out = console()
    out.print(f"{profile.name}: {profile.title}")
    out.print(f"  licence    {profile.licence}")
    out.print(f"  pictures   up to {profile.max_pixels:,} pixels, {profile.resolution}")
    if profile.vlm is not None:
        _show_served(profile.vlm)
    if profile.vlm is not None and profile.vlm.consent:
        state = "still to be agreed to" if consent.is_needed(profile, settings) else "agreed to"
        out.print(f"\nTerms ({state}):\n{profile.vlm.consent}")


def _show_served(vlm: Vlm) -> None:
    out = console()
    out.print(f"  weights    {vlm.weights or 'not said'}")
    out.print(
        f"  context    {vlm.context:,} tokens, {vlm.pixels.grid_px} x {vlm.pixels.grid_px} pixels a token"
    )
    out.print(f"  seen with  {vlm.checked_with or 'not said'}")
    tasks = table("task", "what for")
    for name, task in vlm.tasks.items():
        tasks.add_row(name, task.about)
    flags = table("vllm serve flag", "state", "why")
    for flag in vlm.flags:
        state = f"--with {flag.option}" if flag.state == "option" else flag.state
        flags.add_row(flag.flag, state, flag.about)
    out.print(tasks)
    out.print(flags)


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
