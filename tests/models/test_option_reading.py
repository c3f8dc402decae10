"""Which option a text shows: cases, and laws that hold for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.models._option_reading import distance_within, normalised, option_read, stands_in

NUMBERS = ("4821", "4827", "4321", "4327")

CASES = [
    (["MAPLE", "4821"], NUMBERS, 0),
    (["MAPLE4821"], NUMBERS, 0),
    (["No. 48-27!"], NUMBERS, 1),
    (["48 27"], NUMBERS, 1),
    (["48217"], NUMBERS, None),  # an option inside a longer number, and one wrong sign from two of them
    (["482"], NUMBERS, None),  # one sign from two options
    (["4B21"], NUMBERS, None),  # the misread digit is where the options differ
    (["482l"], ("4821", "9327"), 0),  # one misread sign, all others far
    (["4821", "4327"], NUMBERS, None),  # two options are there
    ([], NUMBERS, None),
    (["", "  "], NUMBERS, None),
    (["quite another text"], NUMBERS, None),
    (["New York"], ("York", "New York", "Boston"), 1),  # the longer option holds the shorter
    (["NEW", "YORK"], ("new york", "boston"), 0),
    (["Straße"], ("STRASSE", "GASSE"), 0),
    (["reddish"], ("red", "blue"), None),
    (["The door is red."], ("red", "blue"), 0),
    (["no"], ("Yes", "No"), 1),
    (["anything"], ("", "?!"), None),
    (["anything"], (), None),
    (["4821"], ("4821", "4821"), None),
    (["x4821"], NUMBERS, 0),
]


@pytest.mark.parametrize(("lines", "options", "expected"), CASES)
def test_option_is_told_only_where_the_text_shows_one(lines, options, expected):
    assert option_read(lines, options) == expected


@given(st.lists(st.text(max_size=12), max_size=4), st.permutations(NUMBERS))
def test_order_of_options_does_not_change_the_option_read(lines, shuffled):
    index, shuffled_index = option_read(lines, NUMBERS), option_read(lines, shuffled)
    assert (index is None) == (shuffled_index is None)
    assert index is None or NUMBERS[index] == shuffled[shuffled_index]


@given(st.lists(st.text(max_size=30), max_size=5), st.lists(st.text(max_size=20), max_size=6))
def test_any_text_gives_an_option_or_none(lines, options):
    index = option_read(lines, options)
    assert index is None or 0 <= index < len(options)


@given(st.text(alphabet="ab1", max_size=6), st.text(alphabet="ab1", max_size=8))
def test_distance_is_zero_exactly_for_parts_and_never_above_the_length(pattern, text):
    distance = distance_within(pattern, text)
    assert (distance == 0) == (pattern in text)
    assert distance <= len(pattern)


@given(st.text(max_size=30))
def test_normalising_twice_is_normalising_once(text):
    assert normalised(normalised(text)) == normalised(text)


def test_spaces_inside_a_line_are_ignored_and_neighbours_of_the_same_kind_are_not():
    assert stands_in("ab 12", "x ab12 y")
    assert not stands_in("12", "112")
    assert not stands_in("ab", "abc")
