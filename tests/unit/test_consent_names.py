"""Who agreed to which terms: names in the settings, records that were spoilt."""

from pathlib import Path

import pytest

from models.errors import Code, ConfigurationError
from models.settings import Settings
from tasks.work import consent
from tests.unit import vlms


@pytest.mark.parametrize(
    ("accepted", "is_needed"),
    [("", True), ("tiny", False), ("a, tiny", False), ("a tiny", False), ("tin", True), ("tiny2", True)],
)
def test_only_the_very_name_in_the_settings_agrees(tmp_path: Path, accepted: str, is_needed: bool) -> None:
    settings = Settings(home=tmp_path, accept_licences=accepted)
    assert consent.is_needed(vlms.profile(consent="Pay."), settings) is is_needed
    assert not consent.is_needed(vlms.profile(), settings)


@pytest.mark.parametrize("spoilt", ["", "{", "[]", '{"profile": "tiny"}'])
def test_a_record_that_was_spoilt_is_replaced_by_the_next_agreement(tmp_path: Path, spoilt: str) -> None:
    settings, profile = Settings(home=tmp_path), vlms.profile(consent="Pay.")
    path = settings.root / "licences" / "tiny.json"
    consent.agree(profile, settings)
    path.write_text(spoilt)
    with pytest.raises(ConfigurationError) as refused:
        consent.require(profile, settings)
    assert refused.value.code is Code.LICENCE_NOT_ACCEPTED
    consent.agree(profile, settings)
    consent.require(profile, settings)
