"""The retry ladder as a decision: given what was tried on a page and what came of it, what is tried next."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from models.errors import Code
from models.profile import Profile
from models.reading import Trial
from models.vlm import LadderLimits, Rung

REFUSED = frozenset({Code.TOO_LARGE.value, Code.OCR_REJECTED.value})
"""What a server refuses it refuses again: nothing is sent unchanged after these."""

_OTHER_PICTURE = frozenset({"smaller", "halves", "regions", "profile", "text-layer"})


@dataclass(frozen=True, slots=True)
class Step:
    """One try at a page: a rung, or one of a rung's angles."""

    number: int
    """Place on the ladder; 0 is the first try."""
    name: str
    """As trials call it: first, sampling, turn 90, larger, profile ppocr …"""
    rung: Rung | None = None
    turn: int = 0
    """Degrees clockwise."""


FIRST = Step(0, "first")


@dataclass(frozen=True, slots=True)
class Try:
    """What came of a step."""

    step: Step
    codes: frozenset[str]
    """Of findings that make a reading suspect or bad, or of the error that there was instead of a reading."""
    badness: tuple[float, ...]
    """Sorts readings, best first; an error is worse than any."""
    is_bad: bool
    """Not fit to be kept as it is: rungs without `when` may help."""
    seconds: float
    tokens: int


def steps_of(profile: Profile) -> tuple[Step, ...]:
    """The profile's ladder, angle by angle.

    A served model whose ladder says nothing of refused pictures gets one smaller try for these.
    """
    rungs = list(profile.ladder)
    if profile.vlm is not None and not any(
        rung.kind == "smaller" and _is_for_refused(rung) for rung in rungs
    ):
        rungs.insert(0, Rung(kind="smaller", factor=0.5, when=tuple(sorted(REFUSED))))
    steps = [step for rung in rungs for step in _expanded(rung)]
    return tuple(replace(step, number=number) for number, step in enumerate(steps, 1))


def best_of(tries: Sequence[Try]) -> int:
    """Place of the try to keep: the least bad, of equals the first."""
    return min(range(len(tries)), key=lambda place: tries[place].badness)


def next_step(steps: Sequence[Step], limits: LadderLimits, tries: Sequence[Try], after: int) -> Step | None:
    """What to try next, beyond step number `after`; None: the best try so far stands.

    A step with `when` is for pages whose best reading has one of these codes; one without is for bad pages.
    """
    if is_spent(limits, tries):
        return None
    best = tries[best_of(tries)]
    return next((step for step in steps if step.number > after and _can_help(step, best)), None)


def is_spent(limits: LadderLimits, tries: Sequence[Try]) -> bool:
    """Whether a page has cost all it may."""
    return (
        len(tries) >= limits.attempts
        or sum(one.seconds for one in tries) >= limits.seconds
        or sum(one.tokens for one in tries) >= limits.tokens
    )


def trial_of(step: Step, profile: Profile, tries: Sequence[Try]) -> Trial:
    """How the model is asked at a step; what is left of the page's tokens bounds the reply."""
    sampling = dict(step.rung.sampling) if step.rung else {}
    left = profile.ladder_limits.tokens - sum(one.tokens for one in tries)
    wanted = sampling.get("max_tokens") or (profile.vlm.sampling.max_tokens if profile.vlm else None)
    if wanted is not None and wanted > left:
        sampling["max_tokens"] = max(1, left)
    return Trial(rung=step.name, turn=step.turn, **sampling)  # type: ignore[arg-type]


def _can_help(step: Step, best: Try) -> bool:
    rung = step.rung
    if rung is None or (best.codes & REFUSED and rung.kind not in _OTHER_PICTURE):
        return False
    return bool(best.codes & set(rung.when)) if rung.when else best.is_bad


def _is_for_refused(rung: Rung) -> bool:
    return not rung.when or bool(REFUSED & set(rung.when))


def _expanded(rung: Rung) -> list[Step]:
    if rung.kind == "turn":
        return [Step(0, f"turn {angle}", rung, angle) for angle in rung.degrees or (180, 90, 270)]
    name = f"profile {rung.profile}" if rung.kind == "profile" else rung.kind
    return [Step(0, name, rung)]
