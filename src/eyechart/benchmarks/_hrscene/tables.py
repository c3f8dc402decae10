"""What HRScene's real-world part holds, as tables: key statistics, overview, origins and licences."""

from eyechart.benchmarks._hrscene.sets import CATEGORIES, SPLITS, SourceSet, facts, split_size
from eyechart.kinds import FactColumn, FactTable
from eyechart.schema import Size

_UNKNOWN = "?"
_TEXT, _NUMBER = False, True


def fact_tables() -> tuple[FactTable, ...]:
    """Return key statistics, the overview of the 25 datasets, and where they come from."""
    return key_statistics(), overview(), origins()


def key_statistics() -> FactTable:
    """Return the figures of the whole benchmark; where published ones disagree, the notes say so."""
    totals, sets = facts().totals, facts().sets
    rows = [
        ("datasets", _count(len(sets))),
        ("categories", _count(len(CATEGORIES))),
        ("samples", _count(totals.samples)),
        *((f"  {split}", _count(split_size(split))) for split in SPLITS),
        ("distinct questions", _count(totals.distinct_questions)),
        ("options", _count(totals.options)),
        ("options per sample", f"{totals.options / totals.samples:.2f}"),
        ("datasets annotated anew", _count(sum(one.is_reannotated for one in sets))),
        ("samples annotated anew", _count(totals.reannotated)),
        ("  of these from scratch", _count(totals.annotated_from_scratch)),
        ("annotators", _count(totals.annotators)),
        ("largest picture", _size(totals.largest)),
        *((f"samples in {name}", _share(name)) for name in CATEGORIES),
    ]
    return FactTable(
        name="key-statistics",
        title="HRScene's real-world part: key statistics",
        columns=(FactColumn("what", _TEXT), FactColumn("number", _NUMBER)),
        rows=tuple(rows),
        notes=(*totals.notes, f"Sources: {facts().sources['tables']}; {facts().sources['page']}"),
    )


def overview() -> FactTable:
    """Return one row per dataset: counts, resolutions, options, capability."""
    ordered = sorted(facts().sets, key=lambda one: CATEGORIES.index(one.category))
    headings = (
        *(("dataset", _TEXT), ("category", _TEXT), ("samples", _NUMBER), ("validation", _NUMBER)),
        *(("testmini", _NUMBER), ("test", _NUMBER), ("smallest", _NUMBER), ("largest", _NUMBER)),
        *(("average", _NUMBER), ("options", _NUMBER), ("pictures", _TEXT), ("capability", _TEXT)),
    )
    return FactTable(
        name="overview",
        title="HRScene's 25 real-world datasets; * is annotated anew",
        columns=tuple(FactColumn(*heading) for heading in headings),
        rows=tuple(_overview_row(one) for one in ordered),
        notes=(
            *(f"{one.name}: {note}" for one in ordered for note in one.notes),
            f"{_UNKNOWN}: not published; known splits: {facts().sources['splits']}",
            f"Options are those of {facts().sources['explorer']}",
            f"Sources: {facts().sources['tables']}; {facts().sources['pie']}",
        ),
    )


def origins() -> FactTable:
    """Return one row per dataset: form of the question, origin, licence."""
    return FactTable(
        name="origins",
        title="What HRScene's datasets ask, where they come from, and what is known of their licences",
        columns=tuple(FactColumn(heading, _TEXT) for heading in ("dataset", "form", "origin", "licence")),
        rows=tuple((one.name, one.form, one.origin, one.licence) for one in facts().sets),
        notes=(f"Origins: {facts().sources['origins']}",),
    )


def _overview_row(one: SourceSet) -> tuple[str, ...]:
    splits = one.splits or (split_size("validation") // len(facts().sets), None, None)
    return (
        f"{one.name}{'*' if one.is_reannotated else ''}",
        one.category,
        _count(one.n_samples),
        *(_UNKNOWN if number is None else _count(number) for number in splits),
        *(_size(size) for size in (one.smallest, one.largest, one.average)),
        ", ".join(str(number) for number in one.n_options),
        one.explanation,
        one.capability,
    )


def _share(category: str) -> str:
    n_samples = sum(one.n_samples for one in facts().sets if one.category == category)
    return f"{_count(n_samples)} ({100 * n_samples / facts().totals.samples:.1f} %)"


def _count(number: int) -> str:
    return f"{number:,}"


def _size(size: Size) -> str:
    return f"{size.width}×{size.height}"
