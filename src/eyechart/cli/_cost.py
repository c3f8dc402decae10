"""The flags of ``check`` that decide what a run costs, and on what the command fails."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from eyechart.errors import UsageError

if TYPE_CHECKING:
    from eyechart.seen.check import ModelCheck, SeenTable
    from eyechart.seen.cost import Costing

_Cost = Group("Cost", sort_key=3)
FAILURES = ("collapse", "near", "refused", "unknown")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class CostFlags:
    """What is assumed of a run, and what must not be."""

    prices: Annotated[Path | None, Parameter(group=_Cost, help="TOML file of your own prices; they come first.")] = None
    answer_tokens: Annotated[int, Parameter(group=_Cost, help="Tokens of one answer, thoughts included.")] = 100
    seconds_per_call: Annotated[float, Parameter(group=_Cost, help="Seconds that one request takes.")] = 10.0
    fail_on: Annotated[
        str, Parameter(group=_Cost, help=f"Exit with 1 on any of {', '.join(FAILURES)}; comma-separated.")
    ] = ""

    def check(self) -> None:
        """Refuse values that mean nothing.

        Raises:
            UsageError: If a number is below its least value, or ``--fail-on`` names something unknown.
        """
        least = {
            "--answer-tokens": (self.answer_tokens, 0),
            "--seconds-per-call": (self.seconds_per_call, 0),
        }
        for flag, (value, bound) in least.items():
            if value < bound:
                raise UsageError(f"{flag} {value:g} is below {bound}", hint=f"give {flag} a number from {bound}")
        unknown = [name for name in self.failures if name not in FAILURES]
        if unknown:
            raise UsageError(f"--fail-on {unknown[0]!r} is unknown", hint=f"known are {', '.join(FAILURES)}")

    @property
    def failures(self) -> tuple[str, ...]:
        """The names after ``--fail-on``."""
        return tuple(name.strip() for name in self.fail_on.split(",") if name.strip())

    def costing(self, price: str | None, concurrency: int) -> "Costing":
        """Return what costs are worked out from.

        Args:
            price: The user's own price; a dated list if None.
            concurrency: Requests in flight.

        Raises:
            UsageError: If the price or the file of prices cannot be read.
        """
        from eyechart.seen.cost import Costing
        from eyechart.seen.prices import parse_price, read_price_file

        given = (parse_price(price),) if price else ()
        prices = (*given, *(read_price_file(self.prices) if self.prices else ()))
        return Costing(self.answer_tokens, concurrency, self.seconds_per_call, prices)

    def found_in(self, table: "SeenTable") -> tuple[str, ...]:
        """Return what the command must fail on, one sentence per model and cause."""
        return tuple(
            f"{checked.model}: {sentence}"
            for checked in table.models
            for name in self.failures
            if (sentence := _failure(name, checked))
        )


def _failure(name: str, checked: "ModelCheck") -> str:
    """Return why a model fails a check, empty if it does not."""
    views = {
        "collapse": [view.view for view in checked.views if view.same_as],
        "near": [view.view for view in checked.views if view.near_to],
        "refused": [view.view for view in checked.views if view.refused],
        "unknown": [] if checked.is_known else ["all views"],
    }[name]
    words = {
        "collapse": "one picture with another view",
        "near": "nearly one picture with another view",
        "refused": "refused",
        "unknown": "not known what is seen",
    }
    return f"{words[name]}: {', '.join(views)}" if views else ""
