"""The size at which a model leaves a picture as it is, so that what is sent is what is seen."""

import math

from eyechart.schema import Size
from eyechart.seen.algorithms import Patches
from eyechart.seen.rules import Limits, Rule

# The published algorithms settle within two steps, the budget of Gemini 3 on very long pictures within twenty.
_MOST_STEPS = 64


def fitted_size(rule: Rule, size: Size, n_images: int = 1) -> Size | None:
    """Return the size that a model neither shrinks nor enlarges nor refuses, None where its grid is not published.

    Bounds on sides and patches come first, since what they refuse the algorithm never sees; then the algorithm is
    applied until it changes nothing. Bounds on bytes are no matter of size.

    Args:
        rule: The model's rule.
        size: Size of the picture.
        n_images: Pictures in the request; some providers bound their sides the more the more there are.

    Example:
        >>> from eyechart.schema import ModelIdentity
        >>> from eyechart.seen.rules import rule_for
        >>> claude = rule_for(ModelIdentity("anthropic", "claude-sonnet-4-5"))
        >>> gpt = rule_for(ModelIdentity("openai", "gpt-6-astra", settings={"detail": "original"}))
        >>> fitted_size(claude, Size(7680, 4320)), fitted_size(gpt, Size(7680, 4320))
        (Size(width=1456, height=819), Size(width=7338, height=4128))
    """
    within = _within(rule.limits, size, n_images)
    for _ in range(_MOST_STEPS):
        seen = rule.apply(within).size
        if seen is None:
            return None
        seen = _within(rule.limits, seen, n_images)
        if seen == within:
            return within
        within = seen
    return within


def budget_size(size: Size, min_px: int, max_px: int | None) -> Size:
    """Return a size of the same aspect whose number of pixels lies within bounds, as near as whole pixels allow.

    Args:
        size: Size of the picture.
        min_px: Fewest pixels; below them the picture is enlarged.
        max_px: Most pixels, None for no bound; above them it is shrunk.

    Example:
        >>> budget_size(Size(4000, 3000), 0, 1_000_000), budget_size(Size(40, 30), 4800, None)
        (Size(width=1154, height=866), Size(width=80, height=60))
    """
    if max_px is not None and size.n_px > max_px:
        scale = math.sqrt(max_px / size.n_px)
        width, height = (max(1, math.floor(side * scale + 1e-9)) for side in size)
        # A side that cannot become shorter than one pixel leaves the other to keep the bound.
        return Size(min(width, max(1, max_px // height)), min(height, max(1, max_px // width)))
    if size.n_px < min_px:
        scale = math.sqrt(min_px / size.n_px)
        return Size(math.ceil(size.width * scale - 1e-9), math.ceil(size.height * scale - 1e-9))
    return size


def _within(limits: Limits, size: Size, n_images: int) -> Size:
    """Return the largest size of the same aspect that a provider does not refuse for its sides or patches."""
    is_many = limits.many_images is not None and n_images > limits.many_images
    side_bound = limits.max_side_px_of_many if is_many else limits.max_side_px
    bounds = Patches(limits.patch_px or 1, limits.max_patches if limits.patch_px else None, side_bound)
    return bounds.apply(size).size or size
