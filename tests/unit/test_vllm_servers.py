"""Which servers read, as they are set."""

import pytest

from models.errors import ConfigurationError
from models.servers import OcrServers, urls_of
from models.settings import load_settings


def test_urls_are_told_apart_by_commas_with_or_without_v1() -> None:
    told = " http://127.0.0.1:8000/v1/, https://gpu2.example/ocr ,http://127.0.0.1:8000"
    assert urls_of(told) == ("http://127.0.0.1:8000", "https://gpu2.example/ocr")
    assert urls_of(" , ") == ()


@pytest.mark.parametrize("told", ["127.0.0.1:8000", "ftp://host", "http://", "gpu2"])
def test_what_is_no_url_is_told_with_the_variable(told: str) -> None:
    with pytest.raises(ConfigurationError, match=r"PAGEMILL_OCR_URL: .*is no URL such as http://127"):
        load_settings(ocr_url=told)


def test_servers_that_were_set_go_before_those_found_on_this_machine() -> None:
    found = ("http://127.0.0.1:8000",)
    assert load_settings().ocr_servers(found).urls == found
    assert load_settings(ocr_url="http://gpu:1").ocr_servers(found).urls == ("http://gpu:1",)


def test_the_key_goes_along_and_is_not_shown() -> None:
    told = {"ocr_url": "http://gpu:1", "ocr_api_key": "secret", "ocr_wait_s": 5, "ocr_golden": False}
    servers = load_settings(**told).ocr_servers()
    assert servers == OcrServers(("http://gpu:1",), "secret", 5.0)
    assert "secret" not in repr(servers)
