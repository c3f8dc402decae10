"""Characters that are skipped for speed are their own compatibility form."""

import unicodedata

from eyechart.scorers.option_letter.characters import _SINGLE, read_characters


def test_every_skipped_character_is_its_own_compatibility_form():
    skipped = [c for c in map(chr, range(0x80, 0x110000)) if not _SINGLE.match(c)]
    assert len(skipped) > 30_000
    assert all(unicodedata.normalize("NFKC", c) == c for c in skipped)


def test_letter_typed_with_a_separate_accent_is_one_letter():
    assert read_characters("E\u0301").text == "\u00c9"
