"""One part of a run for one of many writers: whole pictures, so that each is decoded by one of them alone."""

from collections.abc import Iterable

from eyechart.errors import UsageError
from eyechart.schema import Question, Request, Value


class Shard(Value, frozen=True):
    """The part ``number`` of ``n_shards``, counted from 1."""

    number: int
    n_shards: int

    def __str__(self) -> str:
        """Return it as it is written on the command line."""
        return f"{self.number}/{self.n_shards}"


def read_shard(text: str) -> Shard:
    """Return the shard written as ``i/n``.

    Raises:
        UsageError: If it is not such a pair, or ``i`` is not within 1 … ``n``.

    Example:
        >>> read_shard("2/8")
        Shard(number=2, n_shards=8)
    """
    number, separator, n_shards = text.partition("/")
    if not (separator and number.isdecimal() and n_shards.isdecimal()) or not 1 <= int(number) <= int(n_shards):
        raise UsageError(f"--shard {text!r} is not a part of a run", hint="write i/n with i from 1 to n, such as 2/8")
    return Shard(int(number), int(n_shards))


def ids_of(shard: Shard | None, questions: Iterable[Question], requests: Iterable[Request]) -> frozenset[str] | None:
    """Return the ids of a shard's requests, None where there is but one writer.

    Pictures are dealt out in the order of the questions, so shards differ by one picture at most; the parts of one
    number of shards are disjoint and together everything.
    """
    own = questions_of(shard, questions)
    return None if own is None else frozenset(one.id for one in requests if one.question_id in own)


def questions_of(shard: Shard | None, questions: Iterable[Question]) -> frozenset[str] | None:
    """Return the ids of a shard's questions, as ``ids_of`` deals them out."""
    if shard is None:
        return None
    pictures: dict[str, int] = {}
    of_question = {one.id: pictures.setdefault(one.image.file_sha256, len(pictures)) for one in questions}
    return frozenset(name for name, place in of_question.items() if place % shard.n_shards == shard.number - 1)
