"""HRScene's wordings: our own per kind of question, and the published ones from a file, by hash alone."""

import hashlib

import pytest
from strategies import question_about

from eyechart.errors import UsageError
from eyechart.opening import open_prompt
from eyechart.prompts.hrscene_clean import HRSceneClean
from eyechart.prompts.hrscene_exact import PUBLISHED, HRSceneExact
from eyechart.schema import Response, ResponseState, Size
from eyechart.scorers._echo import echo_end
from eyechart.scorers.grid_cell import read_cell
from eyechart.scorers.hrscene_letter import HRSceneLetter

SIZE = Size(9, 9)
CHOICES = ("red", "", "blue (dark)")
# Wordings of our own in the shape of the published ones: a placeholder, a demand, an example.
MADE = {
    "option": "{question}\nGive it as <ans>ANSWER</ans>.         For instance <ans>A</ans>.",
    "words": "{question}\nBe brief.",
    "cell": "Where is '{caption}'?         Say <row>ROW</row><col>COL</col>, like <row>3</row><col>2</col>.",
}
HASHES = {hashlib.sha256(text.encode()).hexdigest(): kind for kind, text in MADE.items()}
AS_PYTHON = """
WORDS = "{question}\\nBe brief."
OPTION = "{question}\\nGive it as <ans>ANSWER</ans>.\\
         For instance <ans>A</ans>."
CELL = ("Where is '{caption}'?         Say <row>ROW</row><col>COL</col>, "
        "like <row>3</row><col>2</col>.")
raise SystemExit("never run")
"""


@pytest.fixture
def published(tmp_path):
    file = tmp_path / "prompts.py"
    file.write_text(AS_PYTHON)
    return HRSceneExact.from_file(file, HASHES)


def _answered(text):
    return Response(request_id="r", state=ResponseState.ANSWERED, text=text)


def asked(**fields):
    return question_about(SIZE, **{"choices": CHOICES, "text": "Which?", "answer": "A", **fields})


def test_clean_lists_options_in_parentheses_unchanged_and_in_order():
    text = HRSceneClean().render(asked(), CHOICES)
    assert text.startswith("Which?\n(A) red\n(B) \n(C) blue (dark)\n")
    assert "<ans>" in text


def test_clean_asks_for_few_words_or_for_a_cell():
    assert HRSceneClean().render(asked(), ()).startswith("Which?\n")
    text = HRSceneClean().render(asked(choices=(), answer=None, text="a {caption}", asks_for_cell=True), ())
    assert "a {caption}" in text
    assert "<row>" in text


def test_clean_holds_no_answer_that_an_echo_could_be_taken_for():
    question = asked()
    text = HRSceneClean().render(question, CHOICES)
    assert HRSceneLetter().score(_answered(text), question, CHOICES, "A", "corrected").answer is None
    assert HRSceneLetter().score(_answered(f"{text}\n<ans>C</ans>"), question, CHOICES, "A", "corrected").answer == "C"
    cell = asked(choices=(), answer=None, text="a kite", asks_for_cell=True)
    assert read_cell(HRSceneClean().render(cell, ()), "a kite").cell is None


@pytest.mark.parametrize("form", [lambda text: text, lambda text: " ".join(text.split())])
def test_an_echo_of_a_clean_prompt_is_recognised_to_its_end(form):
    cell = asked(choices=(), answer=None, text="a kite", asks_for_cell=True)
    for question, choices in ((asked(), CHOICES), (asked(choices=(), answer=None), ()), (cell, ())):
        text = form(HRSceneClean().render(question, choices))
        assert echo_end(text + " C", question.text, tuple(choices)) == len(text)


def test_clean_with_27_choices_has_no_letters():
    with pytest.raises(ValueError, match="27 choices"):
        HRSceneClean().render(asked(), ["x"] * 27)


def test_wordings_are_found_in_a_python_file_that_is_never_run(published):
    raw = "Which?\n(A) red\n(B) \n(C) blue (dark)"
    assert published.render(asked(text_raw=raw), CHOICES) == MADE["option"].replace("{question}", raw)
    assert published.render(asked(choices=(), answer=None), ()) == "Which?\nBe brief."
    cell = asked(choices=(), answer=None, text="a kite", asks_for_cell=True)
    assert published.render(cell, ()) == MADE["cell"].replace("{caption}", "a kite")


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_text_file_with_one_wording_is_enough(end, tmp_path):
    (tmp_path / "words.txt").write_bytes((MADE["words"] + end).encode())
    prompt = HRSceneExact.from_file(tmp_path / "words.txt", HASHES)
    assert prompt.render(asked(choices=(), answer=None), ()) == "Which?\nBe brief."
    with pytest.raises(UsageError, match="no wording for questions with options"):
        prompt.render(asked(text_raw="Which?"), CHOICES)


@pytest.mark.parametrize("change", [" ", "!"])
def test_a_changed_wording_is_refused(change, tmp_path):
    (tmp_path / "words.txt").write_text(MADE["words"] + change)
    with pytest.raises(UsageError, match="none of HRScene's published prompts unchanged"):
        HRSceneExact.from_file(tmp_path / "words.txt", HASHES)


def test_only_the_published_hashes_are_accepted_by_name(tmp_path):
    (tmp_path / "prompts.py").write_text(AS_PYTHON)
    with pytest.raises(UsageError, match="none of HRScene's published prompts"):
        open_prompt(f"hrscene_exact:{tmp_path / 'prompts.py'}")
    assert sorted(PUBLISHED.values()) == ["cell", "option", "words"]


@pytest.mark.parametrize(
    ("prompt_id", "match"),
    [
        ("hrscene_exact", "is read from a file"),
        ("hrscene_exact@1", "is read from a file"),
        ("hrscene_exact:nowhere.py", "cannot be read"),
        ("hrscene_clean:prompts.py", "takes no file"),
    ],
)
def test_a_file_is_given_exactly_where_it_is_needed(prompt_id, match):
    with pytest.raises(UsageError, match=match):
        open_prompt(prompt_id)


def test_options_in_another_order_or_without_source_text_cannot_be_exact(published):
    with pytest.raises(UsageError, match="as the source wrote them"):
        published.render(asked(text_raw="Which?"), CHOICES[::-1])
    with pytest.raises(UsageError, match="has no source text"):
        published.render(asked(text_raw=None), CHOICES)
