"""One module per OCR model; `get` finds a profile by name."""

from models.errors import Code, ConfigurationError
from models.profile import Profile
from models.profiles import chandra, chandra_2, glm_ocr, ostrakon, ppocr, rapidocr

PROFILES: dict[str, Profile] = {
    module.PROFILE.name: module.PROFILE for module in (ppocr, rapidocr, glm_ocr, chandra, chandra_2, ostrakon)
}


def get(name: str) -> Profile:
    """The embedded profile called `name`; raises ConfigurationError (unknown-profile) with their names."""
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(sorted(PROFILES))
        raise ConfigurationError(
            f"There is no profile '{name}'. Known profiles: {known}.", Code.UNKNOWN_PROFILE
        ) from None
