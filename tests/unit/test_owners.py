"""Names of processes that hold work, and files of passwords."""

import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import ConfigurationError
from tasks.mill import is_alive, is_killed, owner_name, read_passwords
from tasks.work.machine import machine, name_of

NOBODY = 2**22 + 1
"""No process has such a number: Linux gives none beyond 2**22."""


def test_this_process_is_alive_under_every_name_it_takes() -> None:
    names = {owner_name() for _ in range(3)}
    assert len(names) == 3
    assert all(is_alive(name) and not is_killed(name) for name in names)


def test_a_new_process_with_the_number_of_a_dead_one_is_another() -> None:
    host, pid, started, suffix = owner_name().rsplit(":", 3)
    reborn = f"{host}:{pid}:{int(started) - 60}:{suffix}"
    assert not is_alive(reborn)
    assert is_killed(reborn)


def test_a_machine_whose_clock_is_set_right_by_a_second_does_not_take_its_processes_for_dead() -> None:
    host, pid, started, suffix = owner_name().rsplit(":", 3)
    for shift in (-2, -1, 1, 2):
        assert is_alive(f"{host}:{pid}:{int(started) + shift}:{suffix}")


def test_a_number_that_no_process_has_is_dead() -> None:
    assert is_killed(f"{socket.gethostname()}:{NOBODY}:1:a")


@pytest.mark.parametrize("owner", ["", "me", "a:b", f"elsewhere.example:{NOBODY}:1:a", "fe80::1:9:1:a"])
def test_of_other_hosts_and_strange_names_nobody_is_known_to_be_dead(owner: str) -> None:
    assert not is_killed(owner)


def test_a_machine_of_the_same_name_is_another_one() -> None:
    _, pid, started, suffix = owner_name().rsplit(":", 3)
    clone = f"{socket.gethostname()}+00000000:{pid}:{started}:{suffix}"
    assert clone.rsplit(":", 3)[0] != machine()
    assert name_of(machine()) == name_of(clone.rsplit(":", 3)[0]) == socket.gethostname()


def test_what_lies_in_our_home_from_before_the_last_start_is_dead() -> None:
    _, pid, started, suffix = owner_name().rsplit(":", 3)
    assert is_killed(f"{socket.gethostname()}+00000000:{pid}:{started}:{suffix}")


def test_where_the_system_tells_no_more_a_machine_is_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.work.machine._BOOT", Path("/nowhere"))
    assert machine() == socket.gethostname()


lines = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters="\ufeff"), max_size=12
)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_line_is_a_password_whoever_wrote_the_file(tmp_path: Path, mark: str, newline: str) -> None:
    path = tmp_path / "passwords"
    path.write_bytes((mark + newline.join(["first", " second ", "dritte ß", ""])).encode())
    assert read_passwords(path) == ("first", " second ", "dritte ß")


@given(st.lists(lines, max_size=5))
def test_passwords_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, passwords: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "passwords"
    path.write_text("".join(f"{word}\n" for word in passwords), "utf-8")
    assert read_passwords(path) == tuple(passwords)


def test_without_a_file_there_are_no_passwords() -> None:
    assert read_passwords(None) == ()


def test_a_file_that_is_not_there_or_no_text_is_told_without_its_content(tmp_path: Path) -> None:
    latin = tmp_path / "latin"
    latin.write_bytes(b"geheim\xff\n")
    for path, why in [(latin, "not UTF-8"), (tmp_path / "none", "No such file"), (tmp_path, "directory")]:
        with pytest.raises(ConfigurationError, match=why) as refused:
            read_passwords(path)
        assert str(path) in refused.value.message
        assert "geheim" not in refused.value.message
