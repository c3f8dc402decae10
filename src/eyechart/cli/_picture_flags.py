"""The flags that decide what pictures a run shows."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

_Views = Group("Pictures", sort_key=3)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class PictureFlags:
    """Choices that no document settles; the defaults are recorded like any other."""

    border: Annotated[
        Literal["clip", "shift"], Parameter(group=_Views, help="A crop over the border is cut, or moved inside.")
    ] = "clip"
    box_rounding: Annotated[
        Literal["outward", "nearest", "trunc"], Parameter(group=_Views, help="How box edges become integers.")
    ] = "outward"
    size_rounding: Annotated[
        Literal["half_up", "trunc", "half_even"], Parameter(group=_Views, help="How downsampled sides become integers.")
    ] = "half_up"
    target_basis: Annotated[
        Literal["clipped", "source"], Parameter(group=_Views, help="Crops grow from the clipped box, or as given.")
    ] = "clipped"
    exif: Annotated[
        Literal["ignore", "apply"], Parameter(group=_Views, help="Keep stored pixels, or turn picture and boxes.")
    ] = "ignore"
    resampler: Annotated[
        str, Parameter(group=_Views, help="Resampler; cykooz-lanczos3@1 is faster and draws other pixels.")
    ] = "pillow-lanczos@1"
    transport: Annotated[
        str,
        Parameter(
            group=_Views,
            help="native sends views as they are; fit resizes them to the model's grid, so that sent = seen; "
            "budget(MIN,MAX) bounds their pixels. With +jpeg95 all leave as JPEG; +jpeg75 is HRScene's.",
        ),
    ] = "native"
    match: Annotated[
        str | None,
        Parameter(
            group=_Views,
            help="Keep target-px or tokens on the target the same under all views, at levels if given: "
            "target-px=8,32. One view and several levels vary the pixels alone.",
        ),
    ] = None
    rules: Annotated[
        Path | None, Parameter(group=_Views, help="TOML file of your own rules of what models see; they come first.")
    ] = None

    def match_id(self) -> str | None:
        """Return the id of the matched design.

        Raises:
            UsageError: If it is none.
        """
        from eyechart.runs.matching import parse_match

        return None if self.match is None else parse_match(self.match).id

    def own_rules(self) -> "tuple[Rule, ...]":
        """Return the user's rules.

        Raises:
            UsageError: If the file cannot be read.
        """
        from eyechart.seen.rules import read_rule_file

        return read_rule_file(self.rules) if self.rules else ()

    def geometry_policy(self) -> "GeometryPolicy":
        """Return the geometry policy."""
        from eyechart.geometry import GeometryPolicy

        return GeometryPolicy(
            border=self.border,
            box_rounding=self.box_rounding,
            size_rounding=self.size_rounding,
            target_basis=self.target_basis,
        )


if TYPE_CHECKING:
    from eyechart.geometry import GeometryPolicy
    from eyechart.seen.rules import Rule
