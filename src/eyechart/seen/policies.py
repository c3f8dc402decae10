"""What each transport policy would upload and what a provider would refuse of it, from geometry alone."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache

import msgspec

from eyechart.schema import GridComposition, Picture, Size, Value
from eyechart.seen.fitting import fitted_size
from eyechart.seen.ledger import refusals, sent_scale
from eyechart.seen.rules import Rule
from eyechart.seen.shown import ShownPicture
from eyechart.seen.standing import is_standing_file
from eyechart.seen.transport import Transport

# A PNG of ours is never longer than its raw pixels by more than this; white shrinks to about a thousandth.
_RAW_BYTES_PER_PX, _WHITE_BYTES_PER_PX = 3.02, 0.006
# JPEG 95 of pure noise without colour subsampling, measured: 2.42 bytes a pixel as it is, 2.00 after downsampling.
_JPEG_BYTES_PER_PX, _JPEG_RESIZED_BYTES_PER_PX, _JPEG_WHITE_BYTES_PER_PX = 2.45, 2.05, 0.02
_FIXED_BYTES = 2048


class PolicyCheck(Value, frozen=True, kw_only=True):
    """One transport policy for one model.

    Args:
        transport: The policy's id.
        n_refused: Pictures that will be refused.
        refused: View → pictures that will be refused.
        reasons: Reason without its numbers → pictures.
        at_risk: View → pictures that may be refused: their bytes are not known before they are drawn, and what they
            can be at most is too much.
        most_bytes: Upload of one pass over all pictures at most, before base64.
        reason: Why the policy cannot be followed, None if it can.
    """

    transport: str
    n_refused: int = 0
    refused: dict[str, int] = msgspec.field(default_factory=dict)
    reasons: dict[str, int] = msgspec.field(default_factory=dict)
    at_risk: dict[str, int] = msgspec.field(default_factory=dict)
    most_bytes: int = 0
    reason: str | None = None

    @property
    def gets_all_through(self) -> bool:
        """Whether no picture will or may be refused."""
        return self.reason is None and not self.n_refused and not self.at_risk


POLICIES = (Transport("native"), Transport("fit"), Transport("fit", jpeg_quality=95))


def check_policies(
    shown: Sequence[ShownPicture], rule: Rule | None, policies: Sequence[Transport] = POLICIES
) -> tuple[PolicyCheck, ...]:
    """Return what each policy would upload and have refused.

    Args:
        shown: The pictures as they are natively.
        rule: The model's rule; without one nothing can be fitted, and no refusal be foretold.
        policies: Policies to look at.
    """
    return tuple(_check_policy(shown, rule, policy) for policy in policies)


def _check_policy(shown: Sequence[ShownPicture], rule: Rule | None, policy: Transport) -> PolicyCheck:
    fit = _fit(rule)
    if policy.kind == "fit" and fit is None:
        return PolicyCheck(transport=policy.id, reason="the model's grid is not known")
    refused: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    at_risk: Counter[str] = Counter()
    total = 0
    for one in shown:
        size = policy.resize(one.picture.size, one.n_pictures, fit)
        n_bytes, is_exact, media_type = upload_of(one.picture, size, is_jpeg=policy.is_jpeg)
        total += n_bytes
        if rule is None:
            continue
        found = refusals(
            rule.limits,
            size,
            n_bytes=n_bytes if is_exact else None,
            media_type=media_type,
            n_images=one.n_pictures,
        )
        if found:
            refused[one.view] += 1
            reasons[reason_kind(found[0])] += 1
        elif not is_exact and refusals(rule.limits, size, n_bytes=n_bytes, n_images=one.n_pictures):
            at_risk[one.view] += 1
    return PolicyCheck(
        transport=policy.id,
        n_refused=refused.total(),
        refused=dict(refused),
        reasons=dict(reasons),
        at_risk=dict(at_risk),
        most_bytes=total,
    )


def _fit(rule: Rule | None) -> Callable[[Size, int], Size] | None:
    """Return the cached fit of a rule, None where its sizes are not published."""
    if rule is None or fitted_size(rule, Size(1000, 1000)) is None:
        return None

    @cache
    def fit(size: Size, n_pictures: int) -> Size:
        return fitted_size(rule, size, n_pictures) or size

    return fit


def upload_of(picture: Picture, size: Size, *, is_jpeg: bool = False) -> tuple[int, bool, str]:
    """Return bytes, whether they are exact, and media type of a picture that leaves at a size.

    A file that is sent whole and unchanged has the bytes of its file; of everything else only a bound is known.

    Example:
        >>> from eyechart.schema import Box, Composition, ImageRef, Recipe
        >>> image = ImageRef("", Size(400, 300), "image/jpeg", n_bytes=7000)
        >>> whole = Picture(image, Recipe(Composition(Size(400, 300), Box(0, 0, 400, 300))), "", Size(400, 300))
        >>> upload_of(whole, Size(400, 300)), upload_of(whole, Size(40, 30))
        ((7000, True, 'image/jpeg'), (5672, False, 'image/png'))
    """
    if not is_jpeg and size == picture.size and is_standing_file(picture) and picture.image.n_bytes is not None:
        return picture.image.n_bytes, True, picture.image.media_type
    kept_px = size.n_px * _kept_share(picture)
    white_px = size.n_px - kept_px
    if is_jpeg:
        is_resized = size != picture.size or sent_scale(picture) != (1.0, 1.0)
        per_px = _JPEG_RESIZED_BYTES_PER_PX if is_resized else _JPEG_BYTES_PER_PX
        most = per_px * kept_px + _JPEG_WHITE_BYTES_PER_PX * white_px
        return int(most) + _FIXED_BYTES, False, "image/jpeg"
    most = _RAW_BYTES_PER_PX * kept_px + _WHITE_BYTES_PER_PX * white_px
    return int(most) + _FIXED_BYTES, False, "image/png"


def reason_kind(reason: str) -> str:
    """Return a reason as a group of reasons: what was too much, without how much.

    Example:
        >>> reason_kind("a side of 9000 px, more than 8000"), reason_kind("32400 patches, more than 30000")
        ('a side, more than 8000', 'patches, more than 30000')
    """
    what, _, rest = reason.partition(", ")
    words = what.partition(" of ")[0] if " of " in what else what.lstrip("0123456789 ")
    return f"{words}, {rest}" if words else reason


def needs_jpeg(checks: Iterable[PolicyCheck]) -> Transport | None:
    """Return the first fitted policy under which every picture goes through, None where none does.

    Example:
        >>> needs_jpeg([PolicyCheck(transport="fit@1")]).id
        'fit@1'
    """
    by_id = {check.transport: check for check in checks}
    for policy in (Transport("fit"), Transport("fit", jpeg_quality=95)):
        check = by_id.get(policy.id)
        if check is not None and check.gets_all_through:
            return policy
    return None


def _kept_share(picture: Picture) -> float:
    """Return the share of the picture that is not white by construction."""
    geometry = picture.recipe.geometry
    if isinstance(geometry, GridComposition):
        return 1.0
    return 0.0 if geometry.kept is None else float(geometry.kept.area) / geometry.canvas.n_px
