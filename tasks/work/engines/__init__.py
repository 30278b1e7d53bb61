"""OCR engines. `open_engine` gives the one that a profile names; all speak `models.engine.OcrEngine`."""

from models.engine import OcrEngine
from models.errors import ConfigurationError
from models.profile import Profile
from models.servers import OcrServers
from models.settings import Settings
from tasks.work.engines import ppocr, rapidocr, vllm
from tasks.work.serving.endpoints import Endpoints

NO_SERVERS = OcrServers(())


def open_engine(profile: Profile, jobs: int, servers: OcrServers = NO_SERVERS) -> OcrEngine:
    """Start the engine of `profile`; close it after use.

    Engines of our own get `jobs` worker processes of one thread each; a served model is read at `servers`.
    Raises EnvironmentFault (`package-missing`, with what to type) when a package is not installed, and
    ConfigurationError for a scripted engine, which has to be made with its script, and for a served model
    without a server.
    """
    if profile.engine == "ppocr":
        return ppocr.open_engine(profile, jobs)
    if profile.engine == "rapidocr":
        return rapidocr.open_engine(profile, jobs)
    if profile.engine == "vllm":
        return vllm.open_engine(profile, servers)
    raise ConfigurationError(f"Engine '{profile.engine}' of profile '{profile.name}' is made by its script.")


def servers_for(profile: Profile, settings: Settings) -> OcrServers:
    """The servers that were set, else those that `pagemill serve` runs on this machine for `profile`."""
    return settings.ocr_servers(Endpoints(settings.root / "serve").of(profile.name))
