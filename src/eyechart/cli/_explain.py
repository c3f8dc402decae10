"""The conformance report of a release on the terminal."""

from typing import TYPE_CHECKING

from eyechart.cli._output import print_table, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eyechart.releases.conform import ConformReport, PolicyFit

_MOST_FITS = 4
_MOST_IDS = 10


def show_conformance(report: "ConformReport") -> None:
    """Print which policies explain a release, which identities hold, and what is saturated; tables on stdout."""
    _show_fits("crop boxes (G2, G4, G5)", report.crop_boxes)
    _show_fits("sizes of downsamples (G7)", report.sizes)
    if report.resamplers:
        print_table(
            ["resampler (G9)", ">bit-equal views", ">mean difference, levels"],
            [[fit.resampler, f"{fit.n_equal} of {fit.n_views}", f"{fit.mean_levels:.3f}"] for fit in report.resamplers],
            title=f"\nPixels of {report.n_pixel_questions} of {report.n_questions} questions, the nearest first.",
        )
    _show_identities(report)
    if report.saturated:
        print_table(
            ["view", ">saturated"],
            [[view_id, f"{n} of {report.n_questions}"] for view_id, n in report.saturated.items()],
            title="\nSamples whose crop is the whole image, so that the view shows all of the original.",
        )
    else:
        say("no sample is saturated: no crop is its whole image")
    across = report.boxes_across_border
    shown = ", ".join(across[:_MOST_IDS]) + (", …" if len(across) > _MOST_IDS else "")
    say(f"{len(across)} of {report.n_questions} source boxes leave their image{': ' if across else ''}{shown}")
    if report.deviations:
        print_table(
            ["column", "instead", ">rows", "views"],
            [
                [one.field or "order of the keys", one.what, str(one.n_rows), ", ".join(one.views)]
                for one in report.deviations
            ],
            title="\nWhere rows differ from what eyechart build writes; all of this is read, and nothing is changed.",
        )
    say(verdict("crop boxes", report.crop_boxes))
    say(verdict("sizes of downsamples", report.sizes))


def verdict(what: str, fits: "Sequence[PolicyFit]") -> str:
    """Return one sentence: which policy explains all rows, or that none does.

    Example:
        >>> from eyechart.releases.conform import PolicyFit
        >>> verdict("sizes", [PolicyFit("size_rounding=trunc", 9, 9), PolicyFit("size_rounding=half_up", 4, 9)])
        'sizes: size_rounding=trunc explains all 9 rows, and nothing else does'
    """
    if not fits or not fits[0].n_rows:
        return f"{what}: this release has no rows that could tell"
    full = [fit for fit in fits if fit.explains_all]
    if not full:
        best = fits[0]
        return (
            f"{what}: no policy explains all rows; {best.policy} explains {best.n_explained} of {best.n_rows}, "
            f"not {best.first_unexplained}"
        )
    if len(full) == 1:
        return f"{what}: {full[0].policy} explains all {full[0].n_rows} rows, and nothing else does"
    names = "; ".join(fit.policy for fit in full)
    return f"{what}: {len(full)} policies explain all {full[0].n_rows} rows and cannot be told apart here: {names}"


def _show_fits(title: str, fits: "Sequence[PolicyFit]") -> None:
    best = [fit for fit in fits if fit.n_rows]
    n_shown = max(_MOST_FITS, sum(fit.explains_all for fit in best))
    rows = [[fit.policy, f"{fit.n_explained} of {fit.n_rows}", fit.first_unexplained or ""] for fit in best[:n_shown]]
    if rows:
        print_table([title, ">rows explained", "first other row"], rows, title="")


def _show_identities(report: "ConformReport") -> None:
    rows = [
        [
            f"pixels of {pair.first} = {pair.second}",
            f"{pair.n_equal} of {pair.n_compared}",
            "" if not pair.max_levels else f"largest difference {pair.max_levels} levels",
        ]
        for pair in report.identities
    ]
    rows += [
        [rule.rule, f"{rule.n_hold} of {rule.n_pairs}", f"not {rule.first_broken}" if rule.first_broken else ""]
        for rule in report.rules
    ]
    if rows:
        print_table(["identity", ">holds", ""], rows, title="\nIdentities that follow from the definitions.")
