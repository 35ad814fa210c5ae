"""Numbers as a reader sees them: with a unit, and never with more digits than mean something."""

import pytest

from ui.words import numbers


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1234.5, "1,230"),
        (0.04567, "0.0457"),
        (99.96, "100"),
        (7.476, "7.48"),
        (10, "10.0"),
        (-3.14159, "-3.14"),
        (0, "0"),
        (float("nan"), "–"),
    ],
)
def test_three_digits_are_significant(value, words):
    assert numbers.significant(value) == words


@pytest.mark.parametrize("value", [0.0001234, 0.01, 0.5, 1, 9.999, 12.345, 999.4, 54321.0])
def test_no_number_has_more_than_three_digits_that_say_something(value):
    shown = numbers.significant(value).replace(",", "")
    digits = shown.replace(".", "").lstrip("0")
    assert len(digits.rstrip("0") if "." not in shown else digits) <= 4  # 9.999 becomes 10.00
    assert float(shown) == pytest.approx(value, rel=0.006)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0156, "15.6 ms"),
        (0.0675321, "67.5 ms"),
        (0.99949, "999 ms"),
        (0.9996, "1.00 s"),
        (75.3, "75.3 s"),
        (3502.0, "3,500 s"),
        (0, "0 s"),
        (float("nan"), "–"),
    ],
)
def test_less_than_a_second_is_milliseconds(value, words):
    assert numbers.seconds(value) == words


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (140 / 300, "46.7%"),
        (0, "0%"),
        (0.0004, "0%"),
        (0.9994, "99.9%"),
        (0.9996, "100%"),
        (1, "100%"),
        (0.031, "3.1%"),
        (0.8974, "89.7%"),
        (float("nan"), "–"),
    ],
)
def test_a_share_is_a_percentage(share, words):
    assert numbers.percent(share) == words


def test_a_share_on_a_scale_to_a_hundred():
    assert numbers.in_percent(0.25) == 25


@pytest.mark.parametrize(("value", "words"), [(19366, "19,366"), (0, "0"), (1194.4, "1,194")])
def test_whole_numbers_are_exact(value, words):
    assert numbers.count(value) == words


@pytest.mark.parametrize(("value", "words"), [(1.0, "1"), (0.5, "0.5"), (8, "8")])
def test_a_setting_reads_as_on_its_control(value, words):
    assert numbers.plain(value) == words


@pytest.mark.parametrize(
    ("num_bytes", "words"),
    [
        (524_288, "512 KiB"),
        (819_200, "800 KiB"),
        (2**31, "2.00 GiB"),
        (1_000 * 1024, "0.977 MiB"),
        (12, "12.0 B"),
    ],
)
def test_memory_is_counted_in_binary_units(num_bytes, words):
    assert numbers.memory(num_bytes) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (2.859e13, "28.6 TFLOP"),
        (999.6, "1.00 kFLOP"),
        (12, "12.0 FLOP"),
        (3e15, "3.00 PFLOP"),
        (3e19, "30,000 PFLOP"),
    ],
)
def test_flops_and_rates_are_counted_in_decimal_units(value, words):
    assert numbers.scaled(value, "FLOP") == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (20e-6, "20 µs"),
        (4.8357e-6, "4.84 µs"),
        (100e-6, "100 µs"),
        (0.0, "0 µs"),
        (0.9994e-3, "999 µs"),
        (1.2e-3, "1.20 ms"),
    ],
)
def test_far_less_than_a_millisecond_is_microseconds(value, words):
    assert numbers.microseconds(value) == words
