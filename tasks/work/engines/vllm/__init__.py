"""Reading pages with a vision-language model that a server runs: see docs/serving-client.md."""

from models.errors import ConfigurationError
from models.profile import Profile
from models.servers import OcrServers
from tasks.work.engines.vllm.engine import VllmEngine

__all__ = ["VllmEngine", "open_engine"]


def open_engine(profile: Profile, servers: OcrServers) -> VllmEngine:
    """The client for a served model. Raises ConfigurationError where no server is named, or a wrong one."""
    if profile.vlm is None:
        raise ConfigurationError(f"Profile '{profile.name}' says nothing of a served model.")
    if not servers.urls:
        raise ConfigurationError(
            f"Profile '{profile.name}' is read by a server, and none is known here: run "
            f"'pagemill serve {profile.name}', or set PAGEMILL_OCR_URL to one that runs."
        )
    return VllmEngine(profile, profile.vlm, servers)
