"""How numbers are written, once for every figure, table and report.

Accuracies are percentages and differences are percentage points, each with one decimal. A true minus sign is used.
What is missing is written as words or as ``MISSING``, never as 0.
"""

from textwrap import wrap

from eyechart.schema import Contrast, Estimate, HalfAccuracySize, Size

MINUS = "−"
TIMES = "×"
MISSING = "–"
NOT_SCORED = "not scored"
NO_INTERVAL = "[too few pictures]"
BANDS_DIFFER = "bands hold different questions"

_SMALLEST_P = 0.001
_LONGEST_LABEL = 28


def format_percent(fraction: float) -> str:
    """Write a fraction as a percentage without its sign; corrected for chance it may lie below 0.

    Example:
        >>> format_percent(0.625), format_percent(-0.076), format_percent(-0.0001)
        ('62.5', '−7.6', '0.0')
    """
    return f"{100 * fraction:.1f}".replace("-0.0", "0.0").replace("-", MINUS)


def format_points(difference: float) -> str:
    """Write a difference in −1 to 1 as signed percentage points; what rounds to zero has no sign.

    Example:
        >>> format_points(0.125), format_points(-0.05), format_points(-0.0001)
        ('+12.5', '−5.0', '0.0')
    """
    tenths = round(1000 * difference)
    if tenths == 0:
        return "0.0"
    return f"{'+' if tenths > 0 else MINUS}{abs(tenths) / 10:.1f}"


def format_estimate(estimate: Estimate | None) -> str:
    """Write an accuracy in percent with its interval in brackets.

    Example:
        >>> format_estimate(Estimate(name="accuracy", condition="original", value=0.5, low=0.31, high=0.69,
        ...     n_questions=24, n_clusters=24, method="Wilson"))
        '50.0 [31.0, 69.0]'
        >>> format_estimate(None)
        'not scored'
    """
    if estimate is None:
        return NOT_SCORED
    if estimate.interval is None:
        return f"{format_percent(estimate.value)} {NO_INTERVAL}"
    low, high = estimate.interval
    return f"{format_percent(estimate.value)} [{format_percent(low)}, {format_percent(high)}]"


def format_contrast(contrast: Contrast | None) -> str:
    """Write a paired difference in points with its interval; a blocked one names what blocks it.

    Example:
        >>> format_contrast(None)
        '–'
    """
    if contrast is None:
        return MISSING
    if contrast.blocked_by:
        return f"blocked: {', '.join(contrast.blocked_by)}"
    if contrast.interval is None:
        return f"{format_points(contrast.value)} {NO_INTERVAL}"
    low, high = contrast.interval
    return f"{format_points(contrast.value)} [{format_points(low)}, {format_points(high)}]"


def format_p(p: float | None) -> str:
    """Write a p-value with three decimals, small ones as a bound.

    Example:
        >>> format_p(0.0412), format_p(0.00002), format_p(None)
        ('0.041', '<0.001', '–')
    """
    if p is None:
        return MISSING
    return f"<{_SMALLEST_P}" if p < _SMALLEST_P else f"{p:.3f}"


def format_size(size: Size | None) -> str:
    """Write a size in pixels as width × height.

    Example:
        >>> format_size(Size(4000, 3000)), format_size(None)
        ('4000×3000', '–')
    """
    return MISSING if size is None else f"{size.width}{TIMES}{size.height}"


def format_px(length_px: float | None) -> str:
    """Write a length in pixels: one decimal below 10, whole pixels from there.

    Example:
        >>> format_px(4.25), format_px(31.6), format_px(None)
        ('4.2', '32', '–')
    """
    if length_px is None:
        return MISSING
    return f"{length_px:.1f}" if length_px < 9.95 else f"{length_px:.0f}"  # noqa: PLR2004 (where one decimal reads 10.0)


def format_count(count: int) -> str:
    """Write a count with a thin space between thousands.

    Example:
        >>> format_count(700), format_count(20300) == "20\u2009300"
        ('700', True)
    """
    return f"{count:,}".replace(",", "\u2009")


def format_reciprocal(number: float) -> str:
    """Write a positive number; below 1 as a fraction where that is short and exact, as for powers of two.

    Example:
        >>> format_reciprocal(16.0), format_reciprocal(0.125), format_reciprocal(0.9375), format_reciprocal(2.5)
        ('16', '1/8', '0.94', '2.5')
    """
    whole = round(1 / number)
    if number < 1 and abs(whole * number - 1) < 1e-6:  # noqa: PLR2004 -- what a float keeps of 1/3
        return f"1/{whole}"
    return f"{number:.2g}" if number < 1 else f"{number:g}"


def format_label(name: str) -> str:
    r"""Shorten a name to what fits beside an axis, with control characters shown as question marks.

    Example:
        >>> format_label("downsample_0_0625"), format_label("line\nbreak"), len(format_label("x" * 99))
        ('downsample_0_0625', 'line?break', 28)
    """
    printable = "".join(character if character.isprintable() else "?" for character in name)
    return printable if len(printable) <= _LONGEST_LABEL else f"{printable[: _LONGEST_LABEL - 1]}…"


def wrap_label(name: str, width: int, most_lines: int = 3) -> str:
    r"""Break a name between words into lines of about ``width`` characters, and cut what needs more lines or is longer.

    Example:
        >>> wrap_label("Urban planning and inspection", 10)
        'Urban\nplanning\nand inspe…'
    """
    lines = wrap(format_label(name), width, break_long_words=False)
    if len(lines) > most_lines:
        lines = [*lines[: most_lines - 1], " ".join(lines[most_lines - 1 :])]
    return "\n".join(line if len(line) <= width + 1 else f"{line[: width - 1]}…" for line in lines)


def format_level(confidence: float) -> str:
    """Write the coverage of an interval, with a space that does not break.

    Example:
        >>> format_level(0.95) == "95\N{NO-BREAK SPACE}%"
        True
    """
    return f"{100 * confidence:g}\N{NO-BREAK SPACE}%"


def format_n(n_questions: int, n_clusters: int) -> str:
    """Write how many questions about how many pictures.

    Example:
        >>> format_n(40, 20), format_n(1, 1)
        ('n = 40 questions about 20 pictures', 'n = 1 question about 1 picture')
    """
    questions = f"{format_count(n_questions)} question{'' if n_questions == 1 else 's'}"
    return f"n = {questions} about {format_count(n_clusters)} picture{'' if n_clusters == 1 else 's'}"


def format_half_size(size: HalfAccuracySize) -> str:
    """Say a half-accuracy target size with its interval, or why there is none.

    Example:
        >>> format_half_size(HalfAccuracySize(None, "estimated", px=12.3, low=10.0, high=14.2))
        'Half-accuracy target size 12 px [10, 14].'
        >>> format_half_size(HalfAccuracySize(None, "not reached", reason="all is read"))
        'Half-accuracy target size not reached: all is read.'
    """
    if size.px is None:
        return f"Half-accuracy target size {size.status}: {size.reason}."
    low = "below the smallest" if size.low is None else format_px(size.low)
    return f"Half-accuracy target size {format_px(size.px)} px [{low}, {format_px(size.high)}]."
