import pytest

from tasks.work.metrics import agreement, cer, cer_in_any_order, normalise, word_recall


def test_equal_texts_have_no_error() -> None:
    assert cer("Hello, world", "Hello, world") == 0.0


def test_one_wrong_letter_in_ten_is_ten_percent() -> None:
    assert cer("abcdefghij", "abcdefghiX") == pytest.approx(0.1)


def test_line_breaks_and_spaces_are_not_judged() -> None:
    assert cer("two\nwords here", "twowords  here") == 0.0


def test_full_width_signs_and_ligatures_are_one_form() -> None:
    assert cer("（第１章）office", "(第1章)oﬃce") == 0.0
    assert normalise("a\u00adb\u200e  c") == "ab c"


def test_invented_text_counts_even_beyond_one() -> None:
    assert cer("ab", "abcdef") == pytest.approx(2.0)


def test_an_empty_reference_forgives_only_an_empty_answer() -> None:
    assert cer("", " \n") == 0.0
    assert cer("", "x") == 1.0


def test_swapped_columns_cost_in_cer_but_not_in_agreement() -> None:
    left, right = "the quick brown fox jumps", "over many lazy sleeping dogs"
    assert cer(f"{left} {right}", f"{right} {left}") > 0.5
    assert agreement(f"{left} {right}", f"{right} {left}") == 1.0


def test_agreement_of_unrelated_pages_is_low_and_of_a_misread_page_high() -> None:
    page = "Additional notes played will be added into the track and existing notes are not erased."
    other = "Gravity stems elongating upwards, counter to pull; primary growth in organs undergoing it."
    misread = page.replace("played", "p1ayed").replace("track", "trark")
    assert agreement(page, other) < 0.35
    assert agreement(page, misread) > 0.85


def test_agreement_of_chinese_goes_by_pairs_of_characters() -> None:
    assert agreement("安装介质的版本", "安装介质的版本") == 1.0
    assert 0.4 < agreement("安装介质的版本", "安装介贸的版本") < 0.9
    assert agreement("安装介质", "系统需求") == 0.0


def test_agreement_of_two_empty_texts_is_full_and_of_one_empty_none() -> None:
    assert agreement("", " ") == 1.0
    assert agreement("", "word") == 0.0


def test_recall_asks_only_for_the_words_of_a_partial_truth() -> None:
    assert word_recall("Milk 2.99", "SHOP milk 2.99 bread 1.50") == 1.0
    assert word_recall("milk bread", "milk") == 0.5
    assert word_recall("", "anything") == 1.0


def test_recall_counts_a_word_as_often_as_it_is_printed() -> None:
    assert word_recall("one one", "one") == 0.5


def test_recall_of_chinese_goes_by_characters() -> None:
    assert word_recall("北京", "京东") == 0.5


def test_a_word_parted_at_a_line_end_is_one_word() -> None:
    assert cer("consectetuer adipiscing elit", "consectetuer adip-\niscing elit") == 0.0
    assert normalise("two-\nThree") == "two- Three"


def test_order_is_set_aside_line_by_line() -> None:
    reference = "the first line of text\nthe second line of text\nand a third one"
    other_order = "and a third one the second line of text the first line of text"
    assert cer(reference, other_order) > 0.3
    assert cer_in_any_order(reference, other_order) == 0.0


def test_errors_and_missing_lines_count_in_any_order_too() -> None:
    assert cer_in_any_order("abcdefghij\nklmnopqrst", "klmnopqrsX and abcdefghij") == pytest.approx(1 / 20)
    assert cer_in_any_order("abcdefghij\n0123456789", "abcdefghij") == pytest.approx(0.5, abs=0.05)
    assert cer_in_any_order("text", "") == 1.0
    assert cer_in_any_order("", "text") == 0.0


def test_cells_of_a_table_must_be_there_as_words_in_any_order() -> None:
    assert cer_in_any_order("12\n7\n12", "7 12 12") == 0.0
    assert cer_in_any_order("12\n7\n12", "7 12 2026") == pytest.approx(2 / 5)
