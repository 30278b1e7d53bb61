"""One module per OCR model; `get` finds a profile by name."""

from models.errors import Code, ConfigurationError
from models.profile import Profile
from models.profiles import ppocr, rapidocr

PROFILES: dict[str, Profile] = {module.PROFILE.name: module.PROFILE for module in (ppocr, rapidocr)}


def get(name: str) -> Profile:
    """The profile called `name`; raises ConfigurationError (unknown-profile) with the names there are."""
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(sorted(PROFILES))
        raise ConfigurationError(
            f"There is no profile '{name}'. Known profiles: {known}.", Code.UNKNOWN_PROFILE
        ) from None
