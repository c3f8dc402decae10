"""Questions whose pictures cannot be read: told before anything is asked, and never sent."""

from collections.abc import Iterable, Sequence

from eyechart.errors import BenchmarkError, ImageError, RefusedInputError
from eyechart.runs.large_pictures import refuse_too_large
from eyechart.schema import Picture, Question

_MOST_KINDS, _MOST_NAMED = 8, 3


def fault_of(pictures: Iterable[Picture]) -> str | None:
    """Return which of a request's pictures cannot be read and why, as far as headers show; None if all can."""
    return next((picture.image.fault for picture in pictures if picture.image.fault is not None), None)


def tell_unreadable(shown: Iterable[tuple[str, Sequence[Picture]]], n_questions: int) -> tuple[str, ...]:
    """Say which questions are not asked because of their pictures: how many, and the first of each kind of fault.

    Args:
        shown: Id of the question and pictures, for every view of every question.
        n_questions: All questions, at least 1.

    Returns:
        Lines for the reader, none where every picture can be read.

    Raises:
        BenchmarkError: If no picture of any question can be read.
    """
    faults: dict[str, str] = {}
    has_readable = False
    for question_id, pictures in shown:
        fault = fault_of(pictures)
        if fault is not None:
            faults.setdefault(question_id, fault)
        has_readable = has_readable or fault is None
    if not faults:
        return ()
    kinds = _by_kind(faults)
    if not has_readable:
        raise BenchmarkError(
            f"no picture of {'the question' if n_questions == 1 else f'{n_questions} questions'} can be read: "
            f"{'; '.join(kinds)}",
            hint="paths count from the folder of the question file, or from image_root",
        )
    verb = "is" if len(faults) == 1 else "are"
    told = f"{len(faults)} of {n_questions} questions {verb} not asked, because the picture cannot be read"
    return (f"{told}; it counts as missing:", *(f"  {kind}" for kind in kinds))


def fault_of_size(pictures: Iterable[Picture], place: str) -> str | None:
    """Return why one of a request's pictures is too large to be sent, None if all can be.

    Raises:
        UsageError: If another setting would show it.
    """
    for picture in pictures:
        try:
            refuse_too_large(picture, place)
        except (RefusedInputError, ImageError) as error:
            return error.message
    return None


def tell_too_large(shown: Iterable[tuple[str, str, Sequence[Picture]]]) -> tuple[str, ...]:
    """Say which requests will not be sent because a picture is too large: how many, and the first of each kind.

    Args:
        shown: Id of the question, condition and pictures, for every view of every question.

    Returns:
        Lines for the reader, none where every picture can be sent.

    Raises:
        UsageError: If another setting would show a picture.
    """
    kinds: dict[str, dict[str, None]] = {}
    places = set[str]()
    for question_id, condition, pictures in shown:
        place = f"question {question_id} under {condition}"  # once, however often it is asked
        places.add(place)
        fault = fault_of_size(pictures, f"question {question_id}") if fault_of(pictures) is None else None
        if fault is not None:
            kinds.setdefault(fault.removeprefix(f"question {question_id}: "), {})[place] = None
    if not kinds:
        return ()
    n = sum(map(len, kinds.values()))
    are, they = ("is", "it") if n == 1 else ("are", "they")
    return (
        f"{n} of {len(places)} pictures {are} not sent, because {they} {are} too large; missing for good:",
        *(f"  {_counted(fault, list(named))}" for fault, named in kinds.items()),
    )


def refuse_unreadable(questions: Iterable[Question]) -> None:
    """Refuse pictures that cannot be read, where views of all of them are to be made.

    Raises:
        BenchmarkError: If there are any; the message names the first of each kind.
    """
    faults = {question.id: question.image.fault for question in questions if question.image.fault is not None}
    if faults:
        of = "1 question" if len(faults) == 1 else f"{len(faults)} questions"
        raise BenchmarkError(
            f"the pictures of {of} cannot be read: {'; '.join(_by_kind(faults))}",
            hint="mend the files, or take these questions out",
        )


def _by_kind(faults: dict[str, str]) -> list[str]:
    """Return one line for each kind of fault, with the first files and questions of it."""
    kinds: dict[str, list[str]] = {}
    for question_id, fault in faults.items():
        name, _, reason = fault.partition(": ")
        kinds.setdefault(reason, []).append(f"{name} (question {question_id})")
    lines = [_counted(reason, named) for reason, named in kinds.items()]
    n_more = len(lines) - _MOST_KINDS
    return lines if n_more <= 0 else [*lines[:_MOST_KINDS], f"and {n_more} more kinds of faults"]


def _counted(reason: str, named: Sequence[str]) -> str:
    return f"{len(named)} × {reason}: {', '.join(named[:_MOST_NAMED])}{', …' if len(named) > _MOST_NAMED else ''}"
