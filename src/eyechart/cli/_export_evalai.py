"""Write what an EvalAI server takes: a submission, or a whole challenge."""

import datetime
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from eyechart.cli._flags import Data, Option, Plugin, load_plugins, open_named_benchmark
from eyechart.cli._output import say
from eyechart.errors import UsageError
from eyechart.stats.averages import Rule

_DAYS = 365


def evalai(
    run: Path,
    /,
    *,
    out: Annotated[Path, Parameter(help="File to write.")] = Path("submission.json"),
    unparsed: Annotated[
        str | None,
        Parameter(help="Text for answers without a letter, or raw; refused otherwise."),
    ] = None,
    ids: Annotated[
        Path | None, Parameter(help="File with the ids of the split, one per line; the run's questions if left out.")
    ] = None,
    scorer: Annotated[
        str | None, Parameter(help="Reads the letters, such as hrscene_letter.compat; the run's own if left out.")
    ] = None,
    plugin: Plugin = (),
) -> int:
    """Write one JSON object with every id of the split once and the letter that was answered. No right answer is in it.

    Args:
        run: Run folder.
    """
    from eyechart.runs.choosing import choose_scorer
    from eyechart.runs.store import RunStore
    from eyechart.runs.submission import read_ids, read_submission, write_submission

    load_plugins(plugin)
    store = RunStore(run)
    chosen, mode = choose_scorer(store, scorer)
    expected = None if ids is None else read_ids(ids)
    submission = read_submission(store, chosen, mode, unparsed=unparsed, ids=expected)
    write_submission(submission, out)
    say(f"wrote {out}: {len(submission.answers)} ids, {len(submission.unparsed)} without a readable letter")
    return 0


def challenge(
    benchmark: str,
    /,
    *,
    out: Annotated[Path, Parameter(help="New folder.")],
    title: Annotated[str, Parameter(help="Title of the challenge.")],
    description: Annotated[str, Parameter(help="What it is about.")] = "",
    phase: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="NAME, or NAME:option=value,…; repeat it. One, test, else."),
    ] = (),
    private: Annotated[
        tuple[str, ...], Parameter(negative="", show_default=False, help="Phase whose scores only the host sees.")
    ] = (),
    average: Annotated[Rule, Parameter(help="How datasets and categories are averaged.")] = "micro",
    start: Annotated[datetime.datetime | None, Parameter(help="Start, UTC; today if left out.")] = None,
    end: Annotated[datetime.datetime | None, Parameter(help="End, UTC; a year later if left out.")] = None,
    per_day: Annotated[int, Parameter(help="Submissions a team may make a day.")] = 5,
    data: Data = None,
    option: Option = (),
    plugin: Plugin = (),
) -> int:
    """Write configuration, evaluation script, private answers and pages, and challenge.zip to upload.

    Args:
        benchmark: Where questions and right answers come from, for example folder.
    """
    from eyechart.releases.challenge import ChallengeTerms, Phase, write_challenge

    load_plugins(plugin)
    phases = []
    for text in phase or ("test",):
        name, _, changes = text.partition(":")
        opened = open_named_benchmark(benchmark, data, (*option, *(part for part in changes.split(",") if part)))
        phases.append(Phase(codename=name, questions=tuple(opened.questions()), is_public=name not in private))
    unknown = [name for name in private if name not in {one.codename for one in phases}]
    if unknown:
        raise UsageError(f"no phase is called {', '.join(unknown)}", hint="--private names a --phase")
    begins = start or datetime.datetime.now(tz=datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    sizes, dataset_sizes = _sizes(benchmark)
    terms = ChallengeTerms(
        title=title,
        description=description,
        start=begins,
        end=end or begins + datetime.timedelta(days=_DAYS),
        rule=average,
        max_submissions_per_day=per_day,
        sizes=sizes,
        dataset_sizes=dataset_sizes,
    )
    written = write_challenge(phases, terms, out)
    say(f"wrote {len(written)} files into {out}; annotations/ holds the right answers, public/ does not")
    return 0


def _sizes(benchmark: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return the published sizes of categories and datasets; none for benchmarks without published results."""
    from eyechart.benchmarks._published import read_published

    try:
        published = read_published(benchmark)
    except UsageError:
        return {}, {}
    return dict(published.weights), {known.name: known.n for known in published.datasets}
