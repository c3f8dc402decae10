"""What a probe proves, as sentences and as a dated rule in a file that ``--rules`` reads."""

import math
from collections.abc import Iterator, Mapping

import msgspec
import msgspec.structs

from eyechart.runs.probe import Probed
from eyechart.schema import ModelIdentity
from eyechart.seen.algorithms import Algorithm, AnyAlgorithm, CountedTiles, ShrunkBefore, TokenBudget, Unpublished
from eyechart.seen.probing.readings import check_growth
from eyechart.seen.rules import NOT_SENT, Rule

# Settings that decide how a picture is resized; a probe holds under those that it was asked with.
_RESIZING = ("detail", "media_resolution", "vl_high_resolution_images", "min_pixels", "max_pixels")
_MOST_SHOWN = 4


def probed_rule(probed: Probed) -> Rule | None:
    """Return the rule that a probe found, None if it found none.

    It holds for the model under the settings it was probed with.
    """
    found = probed.explanation
    if found is None:
        return None
    return Rule(
        id=f"probed-{probed.model.name.replace('/', '-')}-{probed.date:%Y%m%d}@1",
        models=(probed.model.name,),
        algorithm=found.algorithm,
        source=f"eyechart probe, {len(probed.readings)} blank pictures",
        date=probed.date,
        confidence="B",
        when=_resizing_settings(probed.model),
        obtained="probed",
        note="; ".join(_open_sentences(probed)),
        provider=probed.model.provider,
    )


def rule_text(rule: Rule) -> str:
    """Return a rule as the text of a rule file.

    Example:
        >>> from datetime import date
        >>> from eyechart.seen.algorithms import Patches
        >>> rule = Rule(id="a@1", models=("m",), algorithm=Patches(32), source="s", date=date(2026, 11, 30),
        ...             confidence="B", obtained="probed", provider="vllm")
        >>> print(rule_text(rule))
        provider = "vllm"
        <BLANKLINE>
        [[rules]]
        id = "a@1"
        models = ["m"]
        algorithm = { kind = "patches", patch_px = 32, tokens_per_patch = 1.0 }
        source = "s"
        date = 2026-11-30
        confidence = "B"
        obtained = "probed"
        <BLANKLINE>
    """
    lines = [f"provider = {_toml(rule.provider)}", "", "[[rules]]"]
    for name, value in msgspec.structs.asdict(rule).items():
        if name in {"provider", "limits"} or value in ("", {}):
            continue
        lines.append(f"{name} = {_toml(value)}")
    return "\n".join([*lines, ""])


def sentences(probed: Probed) -> tuple[str, ...]:
    """Return what a probe found, what it leaves open, and what it cannot show."""
    return (*_found_sentences(probed), *_known_sentences(probed), *_open_sentences(probed), *_limits(probed))


def _found_sentences(probed: Probed) -> Iterator[str]:
    found = probed.explanation
    if found is None:
        yield f"no known algorithm gives all {len(probed.readings)} readings exactly, so no rule is written"
        yield from _cap(probed)
        return
    extra = f", and {found.extra_tokens} more around each" if found.extra_tokens else ""
    yield f"{described(found.algorithm)}: exactly the tokens of all {len(probed.readings)} pictures{extra}"
    algorithm = found.algorithm
    if isinstance(algorithm, ShrunkBefore):
        note = f" and adds {algorithm.note_tokens} tokens, such as a note" if algorithm.note_tokens else ""
        yield (
            f"something between here and the model shrinks pictures to a longer side of {algorithm.max_side_px} px"
            f"{note}: views above that size are seen at that size"
        )


def _known_sentences(probed: Probed) -> Iterator[str]:
    if probed.known_rule_id is None:
        return
    n_all = len(probed.readings)
    if not probed.differences:
        yield f"rule {probed.known_rule_id} gives the same: it is documented and now probed"
        return
    shown = ", ".join(
        f"{one.sent.width}×{one.sent.height} read {one.read}, expected {one.expected}"
        for one in probed.differences[:_MOST_SHOWN]
    )
    more = len(probed.differences) - _MOST_SHOWN
    yield (
        f"rule {probed.known_rule_id} does not hold here: other tokens for {len(probed.differences)} of {n_all} "
        f"pictures ({shown}{f', and {more} more' if more > 0 else ''})"
    )


def _open_sentences(probed: Probed) -> Iterator[str]:
    found = probed.explanation
    if found is None:
        return
    for name, (low, high) in found.open_numbers.items():
        upper = "no bound" if math.isinf(high) else f"{high:g}" if high < 1e6 else f"{high:.0f}"  # noqa: PLR2004 -- whole numbers
        yield f"{name} may be anything from {low:.0f} to {upper}"
    if found.others:
        yield f"the readings also fit another algorithm: {'; '.join(found.others)}"


def _limits(probed: Probed) -> Iterator[str]:
    tokens = {reading.tokens for reading in probed.readings}
    if tokens == {0}:
        yield (
            "NO_PICTURE: a request with a picture costs as many tokens as without one: pictures do not reach the "
            "model, or the server counts none"
        )
    elif len(tokens) == 1 and len(probed.readings) > 1:
        yield f"FLAT_PICTURE_PRICE: every picture costs {next(iter(tokens))} tokens, whatever its size"
    if len(tokens) <= 1 or not check_growth(probed.readings):
        yield "tokens do not grow with pixels here, so they say nothing about how large pictures are seen"
    else:
        yield (
            "where tokens stop growing, a bound is proven, since below it they grow; how pictures are resampled, and "
            "whether the bill is what the model computes, tokens cannot show"
        )
    if probed.explanation is not None and _hides_size(probed.explanation.algorithm):
        yield "tokens do not show the size on the model's grid under this algorithm"
    if not probed.has_image_tokens:
        yield "replies do not count the tokens of pictures apart: those of the same question without one were taken off"
    if probed.text_tokens[0] != probed.text_tokens[1]:
        yield f"the same question cost {probed.text_tokens[0]} and {probed.text_tokens[1]} tokens, so readings waver"
    for one in probed.refused[:_MOST_SHOWN]:
        yield f"{one.sent.width}×{one.sent.height} was refused: {one.reason}"
    if len(probed.refused) > _MOST_SHOWN:
        yield f"{len(probed.refused) - _MOST_SHOWN} more pictures were refused"


def _cap(probed: Probed) -> Iterator[str]:
    """Yield where tokens of squares stop growing."""
    squares = sorted((r for r in probed.readings if r.sent.width == r.sent.height), key=lambda r: r.sent.width)
    if not squares:
        return
    most = max(reading.tokens for reading in squares)
    first = next(reading for reading in squares if reading.tokens == most)
    if first is not squares[-1] and squares[0].tokens < most:
        yield f"squares cost at most {most} tokens, from {first.sent.width} px on: there is a bound below that size"


def described(algorithm: Algorithm) -> str:
    """Return an algorithm with its numbers in one line.

    Example:
        >>> from eyechart.seen.algorithms import Patches
        >>> described(Patches(32, 1536))
        'patches (patch_px 32, max_patches 1536, tokens_per_patch 1)'
    """
    fields = msgspec.structs.asdict(algorithm)
    then = fields.pop("then", None)
    numbers = ", ".join(f"{name} {value:g}" for name, value in fields.items() if isinstance(value, int | float))
    kind = str(algorithm.__struct_config__.tag).replace("_", " ")
    return f"{kind} ({numbers})" + (f", then {described(then)}" if then is not None else "")


def _hides_size(algorithm: AnyAlgorithm) -> bool:
    inner = algorithm.then if isinstance(algorithm, ShrunkBefore) else algorithm
    is_budget = isinstance(inner, TokenBudget) and inner.cell_px is None
    return is_budget or isinstance(inner, CountedTiles | Unpublished)


def _resizing_settings(model: ModelIdentity) -> dict[str, tuple[str, ...]]:
    given = model.settings
    return {name: (_setting_text(given.get(name)),) for name in _RESIZING if name in given}


def _setting_text(value: object) -> str:
    if value is None:
        return NOT_SENT
    return str(value).lower() if isinstance(value, bool) else str(value)


def _toml(value: object) -> str:
    if isinstance(value, msgspec.Struct):
        tag = value.__struct_config__.tag
        fields = {"kind": tag, **{k: v for k, v in msgspec.structs.asdict(value).items() if v is not None}}
        return _toml(fields)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_toml(entry)}" for name, entry in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(entry) for entry in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return msgspec.json.encode(value).decode()
    return str(value)
