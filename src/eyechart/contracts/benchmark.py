"""The contract of a benchmark: ids unique, answers among the choices, boxes in the picture, bytes as hashed."""

import hashlib

from eyechart.contracts.checks import expect
from eyechart.geometry import clip
from eyechart.kinds import Benchmark
from eyechart.schema import Question


def check_benchmark(benchmark: Benchmark, *, n_files: int = 3) -> None:
    """Check a benchmark's questions, and the bytes of its first pictures.

    Args:
        benchmark: The benchmark, opened.
        n_files: How many pictures to hash.

    Raises:
        ContractError: If a question breaks the contract.
    """
    expect(bool(benchmark.identity.name) and bool(benchmark.identity.revision), "a benchmark has a name and revision")
    questions = tuple(benchmark.questions())
    expect(bool(questions), "a benchmark has questions")
    ids = [question.id for question in questions]
    expect(len(set(ids)) == len(ids), "question ids are unique")
    expect(ids == [question.id for question in benchmark.questions()], "questions come in the same order twice")
    for question in questions:
        _check_question(question, benchmark.identity.name)
    readable = [question for question in questions if question.image.fault is None]
    for question in readable[:n_files]:
        digest = hashlib.sha256(benchmark.image_path(question.image).read_bytes()).hexdigest()
        expect(digest == question.image.file_sha256, f"{question.id}: the picture's bytes must have the hash it names")
    for view_id in benchmark.released_views():
        image = benchmark.released_image(questions[0], view_id)
        expect(image is None or image.view == view_id, f"a released picture of {view_id} must name that view")


def _check_question(question: Question, name: str) -> None:
    what = f"{name}/{question.id}"
    expect(question.benchmark == name, f"{what}: a question names its benchmark, got {question.benchmark!r}")
    expect(bool(question.text.strip()), f"{what}: a question has a text")
    expect(len(question.choices) != 1, f"{what}: a question has no choices or at least two")
    if question.answer is not None:
        index = ord(question.answer) - ord("A")
        expect(0 <= index < len(question.choices), f"{what}: the answer {question.answer!r} must be among its choices")
    for target in question.targets:
        clip(target, question.image.size)
