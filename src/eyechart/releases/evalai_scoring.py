"""The evaluation script of a challenge with private answers: standard library only, copied as it is into the bundle."""

# Written by eyechart. Licensed under the Apache License, Version 2.0; see http://www.apache.org/licenses/LICENSE-2.0

import json
from collections.abc import Mapping

OVERALL = "All"
UNPARSED = "Unparsed"
_MOST_NAMES = 5


def evaluate(
    test_annotation_file: str, user_submission_file: str, phase_codename: str, **kwargs: object
) -> dict[str, object]:
    """Score a submission; the host's server calls this.

    Args:
        test_annotation_file: JSON with the right answers of a phase, written by eyechart.
        user_submission_file: JSON object, id → letter.
        phase_codename: Code name of the phase; must be the one the answers are of.
        **kwargs: What else the server tells; not read.

    Returns:
        One entry for the phase's split with percentages by category and overall, and the number of answers that are not
        among the letters offered.

    Raises:
        ValueError: If the submission is not a JSON object, or its ids are not exactly those of the phase, each once.
    """
    del kwargs
    with open(test_annotation_file, encoding="utf-8") as file:  # noqa: PTH123 -- runs alone on the host's server
        annotations = json.load(file)
    if annotations["phase"] != phase_codename:
        raise ValueError(f"the answers are of phase {annotations['phase']}, the submission is of {phase_codename}")
    answers = annotations["answers"]
    given = read_submission(user_submission_file)
    check_ids(given, answers)
    metrics = score(given, annotations)
    return {"result": [{annotations["split"]: metrics}], "submission_result": metrics}


def read_submission(path: str) -> dict[str, str]:
    """Read a submission, refusing what is not a JSON object of texts or holds an id twice.

    Raises:
        ValueError: If it is anything else.
    """

    def without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for name, value in pairs:
            if name in found:
                raise ValueError(f"id {name!r} stands twice")
            found[name] = value
        return found

    with open(path, encoding="utf-8") as file:  # noqa: PTH123 -- runs alone on the host's server
        try:
            given = json.load(file, object_pairs_hook=without_duplicates)
        except json.JSONDecodeError as error:
            raise ValueError(f"the submission is not JSON: {error}") from error
    if not isinstance(given, dict):
        raise ValueError("the submission is not a JSON object from id to letter")  # noqa: TRY004 -- shown to participants
    wrong = [name for name, value in given.items() if not isinstance(value, str)]
    if wrong:
        raise ValueError(f"answers must be texts: {', '.join(wrong[:_MOST_NAMES])}")
    return given


def check_ids(given: Mapping[str, str], answers: Mapping[str, object]) -> None:
    """Refuse missing and extra ids.

    Raises:
        ValueError: If the ids differ; the first few are named.
    """
    missing = [name for name in answers if name not in given]
    extra = [name for name in given if name not in answers]
    if missing or extra:
        parts = [
            f"{len(names)} {what}: {', '.join(names[:_MOST_NAMES])}"
            for names, what in ((missing, "ids are missing"), (extra, "ids are unknown"))
            if names
        ]
        raise ValueError("; ".join(parts))


def score(given: Mapping[str, str], annotations: Mapping[str, object]) -> dict[str, float]:
    """Return percentages by category and overall, weighted as the annotations say, and the number of unread answers.

    ``weights`` give each dataset its share of the overall score and of its category; without them every question counts
    the same.
    """
    answers = annotations["answers"]
    weights = annotations.get("weights") or {}
    if not isinstance(answers, dict) or not isinstance(weights, dict):
        raise ValueError("the annotations are damaged")  # noqa: TRY004 -- shown to the host
    is_right: dict[str, dict[str, list[bool]]] = {}
    n_unparsed = 0
    for name, right in answers.items():
        said = given[name].strip().upper()
        n_unparsed += said not in list(right["options"])
        category, dataset = right.get("category") or "", right.get("dataset") or ""
        is_right.setdefault(category, {}).setdefault(dataset, []).append(said == right["answer"])
    metrics = {}
    every: dict[str, list[bool]] = {}
    for category, datasets in sorted(is_right.items()):
        if category:
            metrics[category] = _average(datasets, weights)
        for dataset, rights in datasets.items():
            every.setdefault(dataset, []).extend(rights)
    metrics[OVERALL] = _average(every, weights)
    metrics[UNPARSED] = float(n_unparsed)
    return metrics


def _average(datasets: Mapping[str, list[bool]], weights: Mapping[str, float]) -> float:
    """Return the weighted mean of dataset accuracies in percent, rounded to four decimals."""
    shares = {name: float(weights.get(name, 0.0)) for name in datasets} if weights else {}
    if not any(shares.values()):
        shares = {name: float(len(rights)) for name, rights in datasets.items()}
    total = sum(shares.values())
    value = sum(shares[name] * sum(rights) / len(rights) for name, rights in datasets.items()) / total
    return round(100.0 * value, 4)
