import pytest

from tasks.work.layertext import fault_in_text, foreign_share, is_mojibake, mixed_share, unmapped_share

RUSSIAN = "Класс документа определяет шаблон по которому строится макет"


@pytest.mark.parametrize(
    "text",
    [
        "A plain English sentence with 3 numbers: 1, 2 and 1871.",
        "Überraschend süß, größer, schöner: Öl für Müllers Füße",
        "Été comme hiver, l’élève zélé préférait être là-bas, où ça coûte",
        "Tất cả mọi người sinh ra đều được tự do và bình đẳng",
        RUSSIAN,
        "安装过程中可以使用网络来获取安装所需要的文件",
        "ネットワーク接続を設定し、debootstrap を実行します",
        "كَانَ أَبُو ٱلْهُذَيْلِ أَهْدَى إِلَى مُوَيْسٍ",
        "𝑥 + 𝑦 ≥ 2√𝑎𝑏 holds for all ε > 0, Δx → 0",
    ],
)
def test_sane_text_in_many_languages_has_no_fault(text: str) -> None:
    assert fault_in_text(text.split()) is None


def test_russian_shown_as_latin_1_is_mojibake() -> None:
    wrong = RUSSIAN.encode("cp1251").decode("latin-1")
    assert is_mojibake(wrong)
    assert fault_in_text(wrong.split()) == "mojibake"


def test_utf_8_shown_as_windows_1252_is_mojibake() -> None:
    wrong = (
        "Été à l’école, où l’élève préfère rêver".encode().decode("cp1252", "replace").replace("\ufffd", "")
    )
    assert fault_in_text(wrong.split()) == "mojibake"


def test_glyphs_without_a_meaning_are_unmapped() -> None:
    assert unmapped_share("ab\ufffd\ue001") == 0.5
    assert fault_in_text(["word"] * 10 + ["\ue010\ue011"]) == "unmapped"


def test_a_few_holes_are_forgiven_where_the_engine_cannot_read_the_script() -> None:
    words = [*RUSSIAN.split(), "\ufffd"]
    assert fault_in_text(words) == "unmapped"
    assert fault_in_text(words, is_foreign=True) is None


def test_scripts_that_no_word_mixes_are_a_fault() -> None:
    words = ["रोϹहत", "जहाϽँत", "साराϋश"]
    assert mixed_share(words) > 0.9
    assert fault_in_text(words) == "mixed-scripts"


def test_transliteration_marks_mix_with_any_script() -> None:
    assert mixed_share(["ʿarabiyya", "Qurʾān"]) == 0.0


def test_foreign_letters_are_counted_by_script() -> None:
    assert foreign_share("abc абв", frozenset({"latin"})) == 0.5
    assert foreign_share("12.50", frozenset({"latin"})) == 0.0
