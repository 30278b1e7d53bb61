"""OCR engines. `open_engine` gives the one that a profile names; all speak `models.engine.OcrEngine`."""

from models.engine import OcrEngine
from models.errors import ConfigurationError
from models.profile import Profile
from tasks.work.engines import ppocr, rapidocr


def open_engine(profile: Profile, jobs: int) -> OcrEngine:
    """Start the engine of `profile` with `jobs` worker processes of one thread each; close it after use.

    Raises EnvironmentFault (`package-missing`, with what to type) when its package is not installed, and
    ConfigurationError for a scripted engine, which has to be made with its script.
    """
    if profile.engine == "ppocr":
        return ppocr.open_engine(profile, jobs)
    if profile.engine == "rapidocr":
        return rapidocr.open_engine(profile, jobs)
    raise ConfigurationError(f"Engine '{profile.engine}' of profile '{profile.name}' is made by its script.")
