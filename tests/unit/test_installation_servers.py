"""Servers that are too old, closed, wrong or silent: each is told in a sentence."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings
from pydantic import SecretStr

from flows.installation.api import check_named_server, check_server, wait_for_server
from models.errors import Code, EnvironmentFault

pytestmark = pytest.mark.slow

_PASSWORD = SecretStr("mill:hunter2")
_SENT = "Basic bWlsbDpodW50ZXIy"


@contextmanager
def answering(body: str, *, asks_password: bool = False, status: int = 200) -> Iterator[str]:
    """A server that says the same to everyone who may ask; its API's URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_allowed = not asks_password or self.headers.get("Authorization") == _SENT
            is_allowed = is_allowed or self.path.endswith("/health")
            self.send_response(status if is_allowed else 401)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Tests print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/api"
    finally:
        server.shutdown()
        server.server_close()


def refused(url: str, auth: SecretStr | None = None) -> EnvironmentFault:
    with pytest.raises(EnvironmentFault) as caught:
        check_server(url, auth)
    assert "\n" not in caught.value.message
    return caught.value


@pytest.mark.parametrize("version", ['"3.9.1"', "3.9.1", '"3.10.0"', '"4.0.0"', '"3.9.2.dev1"'])
def test_a_server_that_is_new_enough_is_taken(version: str) -> None:
    with answering(version) as url:
        check_server(url, None)


@pytest.mark.parametrize("version", ['"3.9.0"', '"3.8.3"', '"2.20.9"'])
def test_a_server_that_is_too_old_is_refused_with_what_to_do(version: str) -> None:
    with answering(version) as url:
        error = refused(url)
    assert error.code is Code.PREFECT_OUTDATED
    assert version.strip('"') in error.message
    assert "Update" in error.message


def test_a_server_with_another_password_is_told() -> None:
    with answering('"3.9.1"', asks_password=True) as url:
        assert refused(url).code is Code.PREFECT_REFUSED
        error = refused(url, SecretStr("mill:wrong"))
        check_server(url, _PASSWORD)
    assert "PAGEMILL_PREFECT_AUTH" in error.message
    assert "wrong" not in error.message


@pytest.mark.parametrize(("body", "status"), [("<html>", 200), ('"3.9.1"', 404), ("", 500)])
def test_what_is_no_prefect_server_is_told(body: str, status: int) -> None:
    with answering(body, status=status) as url:
        assert refused(url).code is Code.PREFECT_UNREACHABLE


def test_nobody_there_is_told_with_what_to_do() -> None:
    with answering("") as url:
        pass
    error = refused(url)
    assert error.code is Code.PREFECT_UNREACHABLE
    assert "PREFECT_API_URL" in error.message


def test_waiting_ends_when_the_server_answers() -> None:
    with answering('"3.9.1"') as url:
        wait_for_server(url, None, 5.0, lambda: pytest.fail("it answers at once"))


def test_waiting_ends_when_it_has_become_pointless_and_after_its_time() -> None:
    with answering("") as url:
        pass

    def died() -> None:
        raise EnvironmentFault("it died")

    with pytest.raises(EnvironmentFault, match="it died"):
        wait_for_server(url, None, 60.0, died)
    with pytest.raises(EnvironmentFault, match="no answer"):
        wait_for_server(url, None, 0.3, lambda: None)


@pytest.mark.parametrize(
    ("body", "is_closed", "code"),
    [('"3.9.1"', True, Code.PREFECT_REFUSED), ('"2.20.9"', False, Code.PREFECT_UNREACHABLE)],
)
def test_a_server_that_commands_cannot_use_is_told_before_they_start(
    body: str, is_closed: bool, code: Code
) -> None:
    with (
        answering(body, asks_password=is_closed) as url,
        temporary_settings({PREFECT_API_URL: url}),
        pytest.raises(EnvironmentFault) as caught,
    ):
        check_named_server()
    assert caught.value.code is code
    assert url in caught.value.message


def test_a_server_that_commands_can_use_is_taken() -> None:
    with answering('"3.9.1"') as url, temporary_settings({PREFECT_API_URL: url}):
        check_named_server()
