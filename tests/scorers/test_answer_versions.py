"""Versions of the readers: the first never changes, the newest reads what a careful person reads, each by its name."""

import json
from pathlib import Path

import pytest
from growth import MAX_GROWTH, growth
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart import registry
from eyechart.contracts import check_scorer
from eyechart.errors import UsageError
from eyechart.opening import open_scorer, versions_of
from eyechart.scorers.option_letter.extraction import VERSIONS, extract

COLOURS = ("red", "blue", "green", "white")
HERE = Path(__file__).parent
VERSIONED = ("option_letter", "hrscene_letter", "grid_cell", "vqa_soft")


def _rows(name):
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def _as_row(read):
    return [read.letter, list(read.span) if read.span else None, read.rule, read.reason, list(read.diagnostics)]


def test_version_1_reads_every_sentence_as_it_always_did():
    # Letter, span, rule, reason and diagnostics, written by the code before there was a second version.
    wrong = [
        (text, choices, mode)
        for text, choices, *frozen in _rows("option_letter_first_version.jsonl")
        for mode, was in zip(("strict", "lenient"), frozen, strict=True)
        if _as_row(extract(text, tuple(choices), mode, 1)) != was
    ]
    assert not wrong


def test_version_1_of_the_other_readers_scores_every_sentence_as_it_always_did(ask, answered):
    scorers = {name: open_scorer(f"{name}.corrected@1")[0] for name in ("hrscene_letter", "vqa_soft", "grid_cell")}
    wrong = []
    for text, choices, *frozen in _rows("first_versions.jsonl"):
        question = ask("Which?", choices=tuple(choices), answers=("red", "2.5"))
        for (name, scorer), was in zip(scorers.items(), frozen, strict=True):
            gold = None if name == "vqa_soft" else "B"
            score = scorer.score(answered(text), question, tuple(choices), gold, "corrected")
            span = list(score.span) if score.span else None
            read = [score.value, score.answer, span, score.rule, score.reason, list(score.diagnostics)]
            if read != was:
                wrong.append((name, text, read, was))
    assert not wrong


def _careful():
    return sorted({row["kind"] for row in _rows("answer_sentences.jsonl")})


@pytest.mark.parametrize("kind", _careful())
def test_the_newest_version_reads_what_a_careful_person_reads(kind):
    wrong = []
    for row in _rows("answer_sentences.jsonl"):
        if row["kind"] != kind:
            continue
        read = tuple(extract(row["response"], tuple(row["choices"]), mode).letter for mode in ("strict", "lenient"))
        if read != (row["strict"], row["lenient"]):
            wrong.append((row["response"], read))
    assert not wrong


@pytest.mark.parametrize(
    ("text", "choices", "strict", "lenient"),
    [
        ("The ratio is \\boxed{\\langle H\\rangle \\ll \\Delta E}.\n\n**Answer: D**", COLOURS, "D", "D"),
        ("<answer>blue</answer>\nThe answer is B", COLOURS, "B", "B"),
        (
            "The kite is red, blue, and gold.",
            ("Red, blue and gold", "Red, green and gold", "Blue, red and gold", "Gold"),
            None,
            "A",
        ),
        ("The car that is not parked is red.", COLOURS, None, "A"),
    ],
)
def test_symptoms_of_the_first_version_are_gone(text, choices, strict, lenient):
    assert [extract(text, choices, mode).letter for mode in ("strict", "lenient")] == [strict, lenient]
    assert [extract(text, choices, mode, 1).letter for mode in ("strict", "lenient")] != [strict, lenient]


@pytest.mark.parametrize("name", VERSIONED)
def test_every_version_keeps_the_contract_and_says_which_it_is(name):
    for version in versions_of(open_scorer(name)[0]):
        scorer, mode = open_scorer(f"{name}@{version}")
        assert (scorer.version, mode) == (version, scorer.modes[0])
        check_scorer(scorer)


def test_a_bare_name_is_the_newest_version_and_an_unknown_one_is_refused_with_those_there_are():
    assert open_scorer("option_letter.lenient")[0].version == VERSIONS[-1] == 2
    with pytest.raises(UsageError, match="this eyechart has versions 1, 2"):
        open_scorer("option_letter.strict@3")
    with pytest.raises(UsageError, match="no version 7"):
        registry.load("scorer", "vqa_soft")(7)


ENDS = (
    "<|im_end|>",
    "</s>",
    "<|eot_id|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "<eos>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
)
ANSWERS = (
    "B",
    "Answer: B",
    "The answer is **(B)**.",
    "<answer>B</answer>",
    '{"answer": "B"}',
    "\\boxed{B}",
    "It is blue.",
)
LATER = st.sampled_from(
    (
        "C",
        "Answer: C",
        "<answer>D</answer>",
        "\\boxed{A}",
        "The lid is red.",
        "Question: Why?\nAnswer: D",
        "答案：A",
        "D<|im_end|>",
    )
)


def _both(text, choices=COLOURS):
    return [extract(text, choices, mode).letter for mode in ("strict", "lenient")]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ANSWERS), st.sampled_from(ENDS), LATER)
def test_what_follows_an_end_token_does_not_speak(answer, end, later):
    assert _both(answer + end + later) == _both(answer)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(ANSWERS),
    st.sampled_from(
        ("Question: {}", "Q: {}", "Human: {}", "USER: {}", "### Instruction: {}", "Question 2: {}", "问题：{}")
    ),
    LATER,
)
def test_a_question_that_the_model_asks_itself_does_not_speak(answer, heading, later):
    asked = heading.format("What is on the roof?")
    assert _both(f"{answer}\n\n{asked}\n{later}") == _both(answer)


FOREIGN = (
    "\\boxed{x^2 = 4}",
    "\\boxed{A \\cap B}",
    "<answer>see above</answer>",
    '{"answer": "as explained"}',
    "<ans>100%</ans>",
)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(FOREIGN), st.sampled_from(("The answer is B.", "Answer: B", "I choose option B.")), st.booleans()
)
def test_a_container_that_holds_no_answer_changes_nothing(container, answer, is_before):
    text = f"{container}\n{answer}" if is_before else f"{answer}\n{container}"
    assert _both(text) == ["B", "B"]


WORDS = st.lists(st.sampled_from(("red", "blue", "gold", "tall", "old")), min_size=2, max_size=4, unique=True)
GAPS = st.sampled_from((" ", ", ", " - ", "/", "; ", ", \n"))


@settings(max_examples=80, deadline=None)
@given(WORDS, st.data())
def test_a_contained_text_is_found_whatever_stands_between_its_words_and_the_longest_wins(words, data):
    said = "".join(word + (data.draw(GAPS) if index + 1 < len(words) else "") for index, word in enumerate(words))
    choices = (words[0], ", ".join(words), words[-1])
    read = extract(f"The kite is {said}.", choices, "lenient")
    assert read.letter == "B", read


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(("car", "lamp", "person", "hat")),
    st.sampled_from(("that is not moving", "which isn't lit", "who does not have a bag", "not facing us")),
    st.sampled_from(("is", "looks", "was")),
    st.sampled_from(COLOURS),
)
def test_a_negation_in_the_description_of_a_thing_rejects_no_option(thing, described, verb, colour):
    read = extract(f"The {thing} {described} {verb} {colour}.", COLOURS, "lenient")
    assert read.letter == "ABCD"[COLOURS.index(colour)]
    denied = extract(f"I don't think the {thing} {described} {verb} {colour}.", COLOURS, "lenient")
    assert denied.letter is None


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9_999_999), st.integers(0, 99), st.integers(0, 3))
def test_a_number_is_the_same_number_however_it_is_written(whole, hundredths, n_zeros):
    part = f"{hundredths:02d}".rstrip("0")
    plain = f"{whole}.{part}" if part else str(whole)
    grouped = f"{whole:,}" + (f".{part}" if part else ".") + "0" * n_zeros
    choices = (f"{whole + 1}", plain, f"{whole}5")
    for said in (grouped.rstrip("."), f"It is {grouped.rstrip('.')}."):
        assert extract(said, choices, "lenient").letter == "B"


@pytest.mark.parametrize(
    "token",
    [
        *(
            "</s>",
            "<s>",
            "B</s>",
            "[INST] ",
            "<think>",
            "<|im_end|>B",
            "\nQuestion: ",
            "B\nQ: ",
            "Is it?\nA. ",
            "<answer>x",
        ),
        *(
            "<answer>x</answer>",
            "\\boxed{x} ",
            "\\boxed{",
            '{"answer": [',
            '{"answer": "x"} ',
            "red, ",
            "none of ",
            "there are three ",
        ),
        *("the second option ", "that is not ", "not parked is "),
    ],
)
def test_hostile_input_is_read_in_linear_time_by_the_newest_version(token):
    choices = ("red, red and red", "red", "3", "not parked is red")
    assert growth(lambda text: extract(text, choices, "lenient"), token) < MAX_GROWTH


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("\\boxed{3}", "3"),
        ("2.50", "2.5"),
        ("1,234.0", "1234"),
        ("2,5", "2.5"),
        ("50 %", "50%"),
        ("\u22125", "-5"),
        ("The answer is $3$.", "3"),
        ('{"answer": 3}', "three"),
        ("<answer>dog</answer>\nHope this helps!", "dog"),
        ("red</s> blue", "red"),
        ("red\n\nQuestion: What is it?\nAnswer: blue", "red"),
        ("Sure, let me see.\n\nQuestion: What is it?\nAnswer: red", "red"),
        ("The area is \\boxed{42}.\n\nAnswer: dog", "dog"),
    ],
)
def test_free_answers_are_compared_as_numbers_and_read_where_they_are_given(text, accepted, ask, answered):
    scorer, mode = open_scorer("vqa_soft")
    assert scorer.score(answered(text), ask(answers=(accepted,) * 10), (), None, mode).value == 1.0


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("1,2", "12"),
        ("007", "7"),
        ("v2.10", "v2.1"),
        ("$5", "5"),
        ("1.000", "1000"),
        ('{"answer": null}', "0"),
        ("12.05.2020", "12.5.2020"),
    ],
)
def test_what_is_no_spelling_of_a_number_stays_another_answer(text, accepted, ask, answered):
    scorer, mode = open_scorer("vqa_soft")
    assert scorer.score(answered(text), ask(answers=(accepted,) * 10), (), None, mode).value == 0.0


@pytest.mark.parametrize("later", ["</s> row 3, column 1", "\n\nQuestion: Where is the hat?\nAnswer: row 3, column 1"])
def test_a_cell_behind_the_end_of_an_answer_does_not_speak(later, ask, answered):
    for version, value in ((1, 0.0), (2, 1.0)):
        scorer, mode = open_scorer(f"grid_cell@{version}")
        score = scorer.score(answered("row 2, column 4" + later), ask(), (), "row: 2, col: 4", mode)
        assert score.value == value


def test_two_tags_across_an_end_token_are_no_conflict_for_hrscene(ask, answered):
    for version, letter in ((1, None), (2, "B")):
        scorer, mode = open_scorer(f"hrscene_letter@{version}")
        score = scorer.score(answered("<ans>B</ans></s> <ans>C</ans>"), ask(choices=COLOURS), COLOURS, "B", mode)
        assert score.answer == letter


PUBLISHED = HERE.parents[1].parent / "shared" / "data" / "hrscene_explorer125.json"


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published answers of HRScene are not beside the repository")
def test_published_answers_change_only_where_a_person_agrees():
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    changed = {}
    for model, responses in published["responses"].items():
        for question, response in zip(published["questions"], responses, strict=True):
            for mode in ("strict", "lenient"):
                before, after = (
                    extract(response or "", tuple(question["choices"]), mode, version).letter for version in VERSIONS
                )
                if before != after:
                    changed.setdefault(model, {})[question["id"], mode] = (before, after)
    # Read by eye: 25 answers of Llava-Next-34B echo the prompt with its example <ans>A</ans> before their own letter.
    echoed = changed.pop("Llava-Next-34B")
    assert {before for before, _ in echoed.values()} == {"A"}
    assert len(echoed) == 50
    assert changed == {
        "InternVL2-1B": {("MMAD_241", "strict"): (None, "D"), ("MMAD_241", "lenient"): (None, "D")},
        "InternVL2-2B": {("MMAD_241", "strict"): (None, "D"), ("MMAD_241", "lenient"): (None, "D")},
        "Janus-Pro-7B_old": {("HR-Bench_264", "lenient"): (None, "A")},
        "Llava-hr-7B": {("Grass_230", "strict"): (None, "D")},
    }
