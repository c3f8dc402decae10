"""The cache of decoded originals: bounded in bytes, least recently used out first."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eyechart.images.cache import DecodedCache
from eyechart.images.pixels import DecodedImage
from eyechart.schema import DecodePolicy


def picture(side):
    return DecodedImage.from_pixels(np.zeros((side, side, 3), np.uint8))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 9)), max_size=40))
def test_the_bound_holds_whatever_is_asked(requests):
    cache = DecodedCache(max_bytes=7 * 100)
    sides = dict(requests)
    for name, _ in requests:
        cache.get(str(name), DecodePolicy(), lambda side=sides[name]: picture(side))
        assert cache.n_bytes <= cache.max_bytes


def test_the_least_recently_used_picture_goes_first():
    cache = DecodedCache(max_bytes=2 * picture(4).n_bytes)
    loaded = []

    def load(name):
        return cache.get(name, DecodePolicy(), lambda: loaded.append(name) or picture(4))

    for name in "abacab":
        load(name)
    assert loaded == ["a", "b", "c", "b"]


def test_another_policy_is_another_picture():
    cache = DecodedCache(max_bytes=1 << 20)
    stored = cache.get("a", DecodePolicy(), lambda: picture(2))
    assert cache.get("a", DecodePolicy(exif="apply"), lambda: picture(2)) is not stored
    assert cache.get("a", DecodePolicy(), lambda: picture(2)) is stored


def test_a_picture_larger_than_the_bound_is_given_but_not_kept():
    cache = DecodedCache(max_bytes=10)
    assert cache.get("a", DecodePolicy(), lambda: picture(5)).size.width == 5
    assert cache.n_bytes == 0
