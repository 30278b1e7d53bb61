"""Lists of OCR servers as people write them, and what is kept of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.servers import OcrServers, urls_of

hosts = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)
urls = st.builds(
    lambda scheme, host, port: f"{scheme}://{host}:{port}",
    st.sampled_from(["http", "https"]),
    hosts,
    st.integers(1, 65_535),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()),
        (" , ,", ()),
        ("http://a:8000", ("http://a:8000",)),
        ("http://a:8000/", ("http://a:8000",)),
        ("http://a:8000/v1", ("http://a:8000",)),
        ("http://a:8000/v1/", ("http://a:8000",)),
        ("http://a/base/v1", ("http://a/base",)),
        (" http://a , https://b ", ("http://a", "https://b")),
        ("http://b,http://a,http://b/v1", ("http://b", "http://a")),
        ("http://[::1]:8000", ("http://[::1]:8000",)),
    ],
)
def test_servers_are_found_in_their_order_each_once_and_without_v1(text: str, found: tuple[str, ...]) -> None:
    assert urls_of(text) == found


@pytest.mark.parametrize(
    "text",
    ["localhost:8000", "ftp://a", "http://", "http:///v1", "a", "http://good,bad", "/v1", "http://:80"],
)
def test_what_is_no_url_is_refused_and_shown_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="is no URL such as http://") as refused:
        urls_of(text)
    assert text.rsplit(",", maxsplit=1)[-1] in str(refused.value)


@given(st.lists(urls, max_size=5))
def test_reading_a_list_that_was_read_changes_nothing(words: list[str]) -> None:
    found = urls_of(",".join(words))
    assert set(found) == set(words)
    assert urls_of(", ".join(f"{url}/v1" for url in found)) == found


def test_the_key_of_the_servers_is_not_shown() -> None:
    servers = OcrServers(("http://a",), api_key="sesame")
    assert "sesame" not in repr(servers)
    assert "http://a" in repr(servers)
