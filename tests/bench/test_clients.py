"""The benchmark of clients at toy size: the same pages for all, a server that tells, and nothing faked."""

import sys
import venv
from importlib.metadata import version
from pathlib import Path

import httpx
import psutil
import pymupdf
import pytest

from bench import clients, clients_run
from bench.clients_pages import Pages, gather
from bench.clients_run import family_mb, last_words, run, serving
from bench.peers import KEY, MODEL, PEERS, Peer, Task
from bench.peers.install import REFUSED, chosen, install, why_missing
from bench.peers.server import answer, asking, lines
from tasks.work.doubles.vllm_server import Asked
from tasks.work.doubles.vllm_server.record import Entry
from tests.bench import toys

SENDS = """
import sys, httpx
url, *files = sys.argv[1:]
for file in files:
    content = [{"type": "text", "text": "front matter " + file}]
    body = {"model": "chandra", "max_tokens": 900, "messages": [{"role": "user", "content": content}]}
    httpx.post(url + "/v1/chat/completions", json=body).raise_for_status()
"""


def sends(bins: Path, task: Task) -> list[str]:
    return [str(bins / "python"), "-c", SENDS, task.url, *task.files]


TOY = Peer("toy", (f"httpx=={version('httpx')}",), sends)


@pytest.fixture
def envs(tmp_path: Path) -> Path:
    """An environment that holds the toy client: this one."""
    bins = tmp_path / "envs" / "toy" / "bin"
    bins.mkdir(parents=True)
    (bins / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (bins / "python").chmod(0o755)
    return tmp_path / "envs"


def asked(prompt: str, number: int = 1) -> Asked:
    return Asked(number, (), prompt, {}, 10)


def entry(seated: float, ended: float) -> Entry:
    return Entry(asked(""), started=seated, seated=seated, ended=ended)


def test_each_client_gets_answers_in_the_form_that_it_can_read() -> None:
    html, front, plain = (
        answer(asked(word), 2.0) for word in ('use data-bbox="…"', "a front matter", "Read.")
    )
    assert html.text.count('data-label="Text"') == plain.text.count("\n\n") + 1
    assert front.text.startswith("---\nprimary_language: en\n")
    assert front.text.endswith(plain.text)
    assert {one.length for one in (html, front, plain)} == {512}
    assert {one.seconds for one in (html, front, plain)} == {2.0}


def test_no_two_lines_of_answers_are_the_same() -> None:
    told = [line for number in range(1, 40) for line in lines(number)]
    assert len(set(told)) == len(told)


def test_slots_are_filled_by_requests_in_work_until_the_last_one_is_sent() -> None:
    two_slots = [entry(1.0, 3.0), entry(1.0, 3.0), entry(3.0, 5.0), entry(5.0, 7.0)]
    told = asking(two_slots, 2)
    assert (told.requests, told.most_in_flight, told.filled) == (4, 2, 0.75)
    assert asking([entry(1.0, 3.0)], 4).filled == 0.0
    assert asking([], 4).requests == 0


@pytest.mark.slow
def test_the_server_tells_what_it_was_asked_since_it_was_asked_last() -> None:
    with serving(2, 0.01) as server:
        body = {"model": MODEL, "max_tokens": 900, "messages": [{"role": "user", "content": "Read."}]}
        for _ in range(3):
            httpx.post(f"{server.url}/v1/chat/completions", json=body).raise_for_status()
        assert server.asked().requests == 3
        assert server.asked().requests == 0


@pytest.mark.slow
def test_pages_are_gathered_by_kind_and_long_documents_are_cut(tmp_path: Path) -> None:
    made = {one.kind: one for one in gather([toys.DOCUMENTS], most=3, each=2, target=tmp_path)}
    assert set(made) == {"text", "scan", "office scan"}
    for pages in made.values():
        counts = []
        for path in sorted(pages.folder.glob("*.pdf")):
            with pymupdf.open(path) as document:
                counts.append(document.page_count)
        assert sum(counts) == pages.pages <= 3
        assert max(counts) <= 2
        assert len({path.read_bytes() for single in pages.singles for path in single.glob("*.pdf")}) == 2


@pytest.mark.slow
def test_cpu_time_of_children_counts_and_that_of_others_does_not(tmp_path: Path) -> None:
    burn = "import time\nwhile time.process_time() < 0.4: pass"
    both = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}]); {burn.splitlines()[0]}"
    cost = run([sys.executable, "-c", both], {}, tmp_path / "log")
    assert 0.4 <= cost.cpu_s < 20.0
    assert cost.peak_mb > 3
    assert not cost.failed


def test_how_a_client_failed_is_told_with_its_last_words(tmp_path: Path) -> None:
    script = "import sys; print('one', flush=True); sys.exit('no GPU here')"
    cost = run([sys.executable, "-c", script], {}, tmp_path / "log")
    assert cost.failed == "ended with 1: no GPU here"
    assert not run([sys.executable, "-c", "exit(3)"], {}, tmp_path / "log", fine=(0, 3)).failed
    assert last_words(tmp_path / "log") == "it said nothing"


def test_a_client_that_hangs_is_ended(tmp_path: Path) -> None:
    cost = run([sys.executable, "-c", "import time; time.sleep(600)"], {}, tmp_path / "log", deadline_s=0.3)
    assert cost.failed == "not done after 0.3 s"
    assert family_mb(2**22 + 1) == 0.0


def test_a_client_ends_with_the_measurement_that_somebody_interrupts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[int] = []

    def interrupt(pid: int) -> float:
        left.append(pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(clients_run, "family_mb", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run([sys.executable, "-c", "import time; time.sleep(600)"], {}, tmp_path / "log")
    assert left
    assert not psutil.pid_exists(left[0])


def test_bytecode_is_kept_so_that_a_second_start_is_not_charged_for_compiling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    script = "import sys; sys.exit(sys.dont_write_bytecode)"
    assert not run([sys.executable, "-c", script], {"MORE": "x"}, tmp_path / "log").failed


@pytest.mark.slow
def test_a_client_that_is_not_there_has_a_reason_and_no_figures(
    envs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = Peer("gone", ("no-such-package==1",), sends)
    monkeypatch.setattr(clients, "PEERS", (gone,))
    (envs / "gone").mkdir()
    (envs / "gone" / REFUSED).write_text("ERROR: No matching distribution\n")
    pages = Pages("text", envs / "none", 0, ())
    setting = clients.Setting(envs, slots=2, clients=("gone",))
    (row,) = clients.measure([pages], setting, envs / "work")
    assert (row["client"], row["failed"]) == ("gone", "ERROR: No matching distribution")
    assert "cpu_s_per_page" not in row
    assert clients.told(setting)["no-such-package"] is None
    assert why_missing(TOY, envs / "elsewhere").startswith("not installed")


def test_what_pip_refuses_is_kept_as_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def create(folder: Path, **_: object) -> None:
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").write_text("#!/bin/sh\necho 'ERROR: No matching one' >&2; exit 1\n")
        (folder / "bin" / "python").chmod(0o755)

    monkeypatch.setattr(venv, "create", create)
    assert install(TOY, tmp_path) == why_missing(TOY, tmp_path) == "ERROR: No matching one"


def test_what_is_installed_is_not_installed_again(envs: Path) -> None:
    assert install(TOY, envs) == ""


def test_clients_are_chosen_by_name_and_pinned() -> None:
    assert chosen([]) == PEERS
    assert [peer.name for peer in chosen(["docling"])] == ["docling"]
    with pytest.raises(SystemExit, match="no client 'word'"):
        chosen(["word"])
    assert all("==" in peer.requirements[0] for peer in PEERS)
    assert [peer.package for peer in PEERS] == ["chandra-ocr", "olmocr", "docling-slim"]


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_every_client_is_told_where_the_server_is_and_how_much_it_bears(peer: Peer, tmp_path: Path) -> None:
    (tmp_path / "one.pdf").touch()
    task = Task(tmp_path, "http://127.0.0.1:9", tmp_path / "out", 7)
    told = " ".join([*peer.command(Path("/envs/x/bin"), task), *peer.variables(task).values()])
    for word in ("/envs/x/bin/", "http://127.0.0.1:9", MODEL, "7", str(tmp_path)):
        assert word in told
    assert peer.name != "olmocr" or KEY in told


def test_ratios_are_to_pagemill_of_the_same_kind() -> None:
    told = clients.with_ratios(
        [
            {"kind": "text", "client": "pagemill", "cpu_s_per_page": 0.1},
            {"kind": "text", "client": "docling", "cpu_s_per_page": 0.5},
            {"kind": "text", "client": "olmocr", "failed": "no"},
            {"kind": "scan", "client": "docling", "cpu_s_per_page": 0.5},
            {"kind": "scan", "client": "pagemill", "cpu_s_per_page": 0.25},
        ]
    )
    assert [row["times_ours"] for row in told] == [1.0, 5.0, None, 2.0, 1.0]


@pytest.mark.slow
def test_pagemill_and_another_client_read_the_same_pages_at_one_server(
    envs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "PEERS", (TOY,))
    (text,) = (one for one in gather([toys.TYPED], 2, 2, tmp_path / "pages", ["text"]))
    recipe = ("orient=false",)
    setting = clients.Setting(envs, 2, 0.05, jobs=1, recipe=recipe, clients=("pagemill", "toy"))
    ours, theirs = clients.measure([text], setting, tmp_path / "work")
    assert "failed" not in ours | theirs
    assert (ours["requests"], theirs["requests"]) == (text.pages, 1)
    assert float(ours["start_cpu_s"]) > float(theirs["start_cpu_s"]) > 0
    assert float(ours["database_per_page"]) > 0
    assert float(ours["peak_mb"]) > 50
