"""Terms of weights that somebody has to agree to before the first use, and who did.

Kept in PAGEMILL_HOME/licences, a file a profile, with a hash of the terms: changed terms are asked for anew.
"""

import datetime as dt
import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from models.errors import Code, ConfigurationError
from models.profile import Profile
from models.settings import Settings


class Agreement(BaseModel):
    """That somebody on this machine agreed to terms."""

    model_config = ConfigDict(frozen=True)

    profile: str
    terms_sha256: str
    at: dt.datetime


def is_needed(profile: Profile, settings: Settings) -> bool:
    """Whether the profile has terms that nobody has agreed to yet, neither before nor in the settings."""
    if profile.vlm is None or not profile.vlm.consent:
        return False
    if profile.name in settings.accept_licences.replace(",", " ").split():
        return False
    kept = _kept(profile, settings)
    return kept is None or kept.terms_sha256 != _terms_sha256(profile)


def agree(profile: Profile, settings: Settings) -> None:
    """Keep that the terms of `profile` were agreed to."""
    path = _path(profile, settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    agreement = Agreement(
        profile=profile.name, terms_sha256=_terms_sha256(profile), at=dt.datetime.now(dt.UTC)
    )
    path.write_text(agreement.model_dump_json(indent=1), "utf-8")


def require(profile: Profile, settings: Settings) -> None:
    """Raises ConfigurationError (licence-not-accepted) while the terms were not agreed to."""
    if is_needed(profile, settings):
        raise ConfigurationError(
            f"Nobody has agreed to the licence of '{profile.name}' ({profile.licence}). Read it with "
            f"'pagemill profiles {profile.name}', then give --accept-licence once or set "
            f"PAGEMILL_ACCEPT_LICENCES={profile.name}.",
            Code.LICENCE_NOT_ACCEPTED,
        )


def _kept(profile: Profile, settings: Settings) -> Agreement | None:
    path = _path(profile, settings)
    try:
        return Agreement.model_validate_json(path.read_bytes()) if path.exists() else None
    except ValidationError:
        # A file that somebody spoilt is no agreement; the next one replaces it.
        return None


def _path(profile: Profile, settings: Settings) -> Path:
    return settings.root / "licences" / f"{profile.name}.json"


def _terms_sha256(profile: Profile) -> str:
    terms = profile.vlm.consent if profile.vlm else ""
    return hashlib.sha256(terms.encode()).hexdigest()
