"""Rules about what answers mean: letters of another order of the options, and pictures that never arrived."""

import json
import os
from pathlib import Path

import msgspec
import pytest
from PIL import Image
from runs_made import SCORER, make_run

from eyechart.benchmarks._hrscene.explorer import read_explorer
from eyechart.cli._app import run_app as main
from eyechart.errors import StatisticsError
from eyechart.runs.answer_rules import check_answers, check_option_order
from eyechart.runs.cells import read_table
from eyechart.runs.compare import DiffOptions, compare_runs, compare_views
from eyechart.runs.folders import Origin
from eyechart.runs.imported import write_imported
from eyechart.runs.items import pack_items, read_items, unpack_items
from eyechart.runs.pairing import Side
from eyechart.runs.score import score_run
from eyechart.runs.store import RunStore
from eyechart.runs.summarise import estimate
from eyechart.schema import BenchmarkIdentity, ModelIdentity, Size, Usage
from eyechart.scorers.hrscene_letter import HRSceneLetter
from eyechart.stats.option_order import OrderPair

INTEROP = Path(__file__).parents[1] / "interop"
LARGE = Size(2400, 1600)
COLOURS = ("red", "blue", "green", "white")


@pytest.fixture
def table_of(make, tmp_path):
    """A function that runs questions of four options and returns the gathered table, its cells edited."""

    def build(edit=None, *, provider="scripted", n=40, views="original,crop_3x", size=LARGE):
        questions = [make.question(index, answer="ABCD"[index % 4], size=size) for index in range(n)]
        store = make_run(make, tmp_path / "run", lambda ask: "A", questions=questions, views=views)
        table = read_table(store, SCORER)
        run = msgspec.structs.replace(table.run, model=msgspec.structs.replace(table.run.model, provider=provider))
        cells = {key: edit(table, key, cell) if edit else cell for key, cell in table.cells.items()}
        return msgspec.structs.replace(table, run=run, cells=cells)

    return build


def with_pairs(pair_of):
    """An edit: the pair of a question's answers, from its number."""

    def edit(_, key, cell):
        pair = pair_of(key[0])
        return msgspec.structs.replace(cell, pair=None if pair is None else OrderPair(*pair, n_options=4))

    return edit


def turned(number):
    return number % 4, (number + 1) % 4


def rules(table):
    return {rule.code: rule.level for rule in check_answers(table)}


# --- OPTION_ORDER -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", ["imported", "replay"])
def test_answers_of_elsewhere_under_another_order_are_blocked(table_of, provider):
    table = table_of(with_pairs(turned), provider=provider)
    summary = estimate(table, SCORER, ())
    (rule,) = [rule for rule in summary.rules if rule.code == "OPTION_ORDER"]
    assert rule.level == "error"
    assert "of 40 questions" in rule.message
    assert "40 copy that of another" in rule.message
    assert "by text 0.0 %" in rule.message
    assert "--options-as FILE" in rule.message
    assert all("OPTION_ORDER" in one.blocked_by for one in summary.contrasts)


@pytest.mark.parametrize(("provider", "is_blocked"), [("imported", True), ("replay", True), ("scripted", False)])
def test_one_view_under_another_order_is_not_outvoted_by_the_others(table_of, provider, is_blocked):
    """Answers of one view in another order came out as a loss of 100 points under this view."""

    def edit(_, key, cell):
        letter = key[0] % 4
        return msgspec.structs.replace(cell, pair=OrderPair(letter, (letter + key[1]) % 4, n_options=4))

    found = [rule for rule in check_answers(table_of(edit, provider=provider)) if rule.code == "OPTION_ORDER"]
    assert [rule.level for rule in found] == ["error"] * is_blocked
    assert all("in view crop_3x of 40 questions" in rule.message for rule in found)


def test_letters_of_another_order_are_not_blamed_on_the_model(table_of):
    """Every answer is A, which alone is a preference for a letter."""
    assert "LETTER_BIAS" in {rule.code for rule in estimate(table_of(), SCORER, ()).rules}
    table = table_of(with_pairs(lambda number: (0, 1 + number % 3)), provider="imported")
    assert "LETTER_BIAS" not in {rule.code for rule in estimate(table, SCORER, ()).rules}


def test_accuracy_by_text_is_that_of_the_options_copied(table_of):
    """The text is right in every question, the letter in none."""
    table = table_of(with_pairs(lambda number: ((number + 1) % 4, number % 4)), provider="imported")
    assert "by text 100.0 %" in check_option_order(table)[0].message


def test_one_order_that_explains_our_own_run_blocks_it(table_of):
    (rule,) = check_option_order(table_of(with_pairs(turned)))
    assert rule.level == "error"
    assert "A is B, B is C, C is D, D is A" in rule.message


def test_our_own_model_that_contradicts_itself_is_remarked_and_not_blocked(table_of):
    table = table_of(with_pairs(lambda number: (number % 4, number * 7 // 4 % 4)))
    (rule,) = check_option_order(table)
    assert rule.level == "warning"
    assert rule.message.startswith("the model contradicts itself: ")
    assert not any("OPTION_ORDER" in one.blocked_by for one in estimate(table, SCORER, ()).contrasts)


@pytest.mark.parametrize("provider", ["imported", "scripted"])
def test_slips_in_two_of_a_hundred_answers_are_silent(table_of, provider):
    table = table_of(with_pairs(lambda n: turned(n) if n % 50 == 0 else (n % 4, n % 4)), n=100, provider=provider)
    assert check_option_order(table) == []


@pytest.mark.parametrize(("n_wrong", "is_alarm"), [(4, False), (5, True)])
def test_four_of_ten_questions_are_too_few_and_five_are_enough(table_of, n_wrong, is_alarm):
    def pair(number):
        return None if number >= 10 else turned(number) if number < n_wrong else (number % 4, number % 4)

    assert bool(check_option_order(table_of(with_pairs(pair), provider="imported"))) == is_alarm


def test_diff_refuses_such_a_run_unless_it_is_allowed_by_name(table_of):
    whole = table_of(with_pairs(turned), provider="imported")
    good = msgspec.structs.replace(
        whole, cells={k: msgspec.structs.replace(c, pair=None) for k, c in whole.cells.items()}
    )
    sides = [Side("old", whole), Side("new", good)]
    with pytest.raises(StatisticsError, match="OPTION_ORDER: old: of 40 questions"):
        compare_runs(sides, SCORER, DiffOptions())
    with pytest.raises(StatisticsError, match="OPTION_ORDER"):
        compare_views(sides[0], SCORER, DiffOptions(views=("original", "crop_3x")))
    allowed = compare_runs(sides, SCORER, DiffOptions(allowed=("OPTION_ORDER",)))
    assert [(rule.code, rule.level) for rule in allowed.rules] == [("OPTION_ORDER", "warning")]
    assert all("OPTION_ORDER" in one.contrast.warnings for one in allowed.differences)


def test_report_that_carries_its_items_finds_the_same_rules(make, tmp_path):
    store = make_run(make, tmp_path / "run", lambda ask: "A", n=4)
    items = read_items(store, SCORER)
    cells = {key: msgspec.structs.replace(cell, pair=OrderPair(1, 2, 4)) for key, cell in items.table.cells.items()}
    items = msgspec.structs.replace(items, table=msgspec.structs.replace(items.table, cells=cells))
    again = unpack_items(json.loads(json.dumps(pack_items(items))), "here")
    assert {cell.pair for cell in again.table.cells.values()} == {OrderPair(1, 2, 4)}


@pytest.fixture
def colours(tmp_path, monkeypatch):
    """Questions and answers that copy the right colour under the letter of another order."""
    monkeypatch.chdir(tmp_path)
    Image.new("RGB", (64, 48)).save("p1.png")
    (tmp_path / "questions.jsonl").write_text((INTEROP / "other_order_questions.jsonl").read_text())
    (tmp_path / "answers.jsonl").write_text((INTEROP / "read" / "other_order.jsonl").read_text())
    asked = [json.loads(line) for line in Path("questions.jsonl").read_text().splitlines()]
    given = [json.loads(line) for line in Path("answers.jsonl").read_text().splitlines()]
    rows = []
    for question, answer in zip(asked, given, strict=True):
        letter, _, text = answer["response"].partition(". ")
        place, choices = "ABCD".index(letter), question["choices"]
        first = choices.index(text) - place
        rows.append({"id": question["id"], "choices": [choices[(first + step) % 4] for step in range(4)]})
    Path("orders.jsonl").write_text("\n".join(map(json.dumps, rows)))
    told = [{**answer, **row} for answer, row in zip(given, rows, strict=True)]
    Path("told.jsonl").write_text("\n".join(map(json.dumps, told)))
    return tmp_path


RUN = ("run", "folder", "--data", "questions.jsonl", "--views", "original", "--no-report", "--json")


def accuracies(out):
    return [one["value"] for one in json.loads(out)["estimates"]]


@pytest.mark.parametrize(
    ("more", "accuracy", "codes"),
    [
        (("--model", "replay/answers.jsonl"), 0.25, {"OPTION_ORDER"}),
        (("--model", "replay/answers.jsonl", "--options-as", "orders.jsonl"), 1.0, set()),
        (("--model", "replay/told.jsonl"), 1.0, set()),
    ],
)
def test_replay_of_answers_under_another_order(colours, capsys, more, accuracy, codes):
    assert main([*RUN, "--out", "run", *more]) == 0
    out = capsys.readouterr().out
    assert accuracies(out) == [accuracy]
    assert {rule["code"] for rule in json.loads(out)["rules"] if rule["level"] == "error"} == codes
    assert len({request.choice_order for request in RunStore(Path("run")).requests()}) == (4 if accuracy == 1.0 else 1)


def test_board_refuses_such_a_run_unless_it_is_allowed_and_says_so_then(colours, capsys):
    assert main([*RUN, "--out", "run", "--model", "replay/answers.jsonl"]) == 0
    capsys.readouterr()
    assert main(["leaderboard", "folder", "run"]) == 1
    assert "OPTION_ORDER" in capsys.readouterr().err
    assert main(["leaderboard", "folder", "run", "--allow", "OPTION_ORDER", "--json"]) == 0
    assert any("OPTION_ORDER" in note for note in json.loads(capsys.readouterr().out)["notes"])
    assert main(["leaderboard", "folder", "run", "--allow", "OPTION_ODER"]) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": "q0", "choices": ["red", "blue"]}', "are not those of question q0"),
        ('{"id": "q99", "choices": ["red", "blue", "green", "white"]}', "'q99' is not a question"),
        (
            '{"id": "q0", "choices": ["red", "blue", "green", "white"]}\n' + '{"id": "q0", "A": "blue", "B": "red"}',
            "are not those of question q0",
        ),
        (
            "\n".join(json.dumps({"id": "q0", "choices": order}) for order in (COLOURS, COLOURS[::-1])),
            "another order before",
        ),
        ('{"id": "q0"}', "tells no options"),
        ('{"choices": ["red"]}', "no id"),
    ],
)
def test_order_that_does_not_fit_is_refused(colours, capsys, text, message):
    Path("bad.jsonl").write_text(text)
    assert main([*RUN, "--out", "run", "--model", "replay/answers.jsonl", "--options-as", "bad.jsonl"]) == 1
    assert message in capsys.readouterr().err
    assert not Path("run").exists()


def test_order_and_rotations_exclude_each_other(colours, capsys):
    command = [*RUN, "--out", "run", "--model", "replay/answers.jsonl", "--options-as", "orders.jsonl"]
    assert main([*command, "--rotate-choices", "2"]) == 2
    assert "--rotate-choices turns the options" in capsys.readouterr().err


# Real answers of real models, all under the right order; read here, never copied into the project.
EXPLORER = Path(os.environ.get("EYECHART_HRSCENE_EXPLORER", "../shared/data/hrscene_explorer125.json"))


@pytest.mark.skipif(not EXPLORER.is_file(), reason="the published answers are not part of the project")
def test_published_models_are_silent(tmp_path):
    explorer = read_explorer(EXPLORER)
    origin = Origin(
        now=__import__("datetime").datetime.now(tz=__import__("datetime").UTC),
        versions={},
        command=(),
        scorer="hrscene_letter",
    )
    n_pairs = 0
    for name, answers in explorer.answers.items():
        identity = BenchmarkIdentity("hrscene", "r", {"split": "explorer"})
        model = ModelIdentity("imported", name, fingerprint="f")
        store = write_imported(identity, explorer.questions, answers, model, tmp_path / name.replace("/", "-"), origin)
        table = read_table(store, score_run(store, HRSceneLetter(), "corrected"))
        n_pairs += sum(cell.pair is not None for cell in table.cells.values())
        assert check_option_order(table) == []
    assert n_pairs > 200


# --- NO_PICTURE and FLAT_PICTURE_PRICE --------------------------------------------------------------------------------


def with_tokens(tokens_of, image_tokens=None, **changes):
    """An edit: input tokens of an answer, from its question, condition and size sent."""

    def edit(table, key, cell):
        name = table.conditions[key[1]]
        usage = Usage(input_tokens=tokens_of(key[0], name, cell.sent_size), image_tokens=image_tokens)
        ending = msgspec.structs.replace(cell.ending, usage=usage)
        return msgspec.structs.replace(cell, ending=ending, **changes)

    return edit


def by_tiles(number, name, size):
    """Text, and 170 tokens for each tile of 512 pixels, and 85 for a picture: a price by tiles."""
    tiles = -(-size.width // 512) * -(-size.height // 512) if size else 0
    return 30 + number % 7 + (85 + 170 * tiles if size else 0)


BLIND = "original,crop_3x,no_image,blank"


def test_pictures_that_cost_nothing_block(table_of):
    """Usage of 30 tokens for a picture of 2400×1600, for a crop and without a picture alike."""
    table = table_of(with_tokens(lambda number, name, size: 30), views=BLIND)
    (rule,) = check_answers(table)
    assert (rule.code, rule.level, rule.conditions) == ("NO_PICTURE", "error", ("original", "crop_3x", "blank"))
    assert "original 40 of 40" in rule.message
    contrasts = {(one.condition, one.baseline): one.blocked_by for one in estimate(table, SCORER, ()).contrasts}
    assert "NO_PICTURE" in contrasts["crop_3x", "original"]


def test_one_view_whose_pictures_do_not_arrive_blocks_that_view(table_of):
    def tokens(number, name, size):
        return 30 if name == "original" else by_tiles(number, name, size)

    (rule,) = check_answers(table_of(with_tokens(tokens), views=BLIND))
    assert rule.conditions == ("original",)


def test_diff_of_views_refuses_pictures_that_did_not_arrive(table_of):
    table = table_of(with_tokens(lambda number, name, size: 30), views=BLIND)
    with pytest.raises(StatisticsError, match="NO_PICTURE"):
        compare_views(Side("run", table), SCORER, DiffOptions(views=("original", "crop_3x")))


@pytest.mark.parametrize(
    ("name", "edit", "views"),
    [
        ("pictures by tiles", with_tokens(by_tiles), BLIND),
        ("nothing without a picture to compare with", with_tokens(lambda *_: 30), "original,crop_3x"),
        ("a white picture is a picture", with_tokens(lambda *_: 300), "original,blank"),
        ("no usage reported", with_tokens(lambda *_: None), BLIND),
        ("zero is no report", with_tokens(lambda *_: 0), BLIND),
        ("tokens of pictures counted apart", with_tokens(lambda number, *_: 30 + number, image_tokens=258), BLIND),
        ("another order of the words", with_tokens(lambda *_: 30), None),
    ],
)
def test_no_alarm_without_the_same_words_at_the_same_price(table_of, name, edit, views):
    table = table_of(edit, views=views or BLIND)
    if views is None:
        blind = table.conditions.index("no_image")
        cells = {
            key: msgspec.structs.replace(cell, prompt_sha256="other") if key[1] == blind else cell
            for key, cell in table.cells.items()
        }
        table = msgspec.structs.replace(table, cells=cells)
    assert "NO_PICTURE" not in rules(table), name


def test_answers_that_failed_are_no_evidence(table_of):
    def edit(table, key, cell):
        cell = with_tokens(lambda *_: 30)(table, key, cell)
        ending = msgspec.structs.replace(cell.ending, state=type(cell.ending.state)("bad_request"))
        return msgspec.structs.replace(cell, ending=ending)

    assert check_answers(table_of(edit, views=BLIND)) == []


def flat(number, name, size):
    return 30 + number + (258 if size else 0)


@pytest.mark.parametrize("views", ["original,crop_3x", BLIND])
def test_flat_price_of_a_picture_is_remarked_and_blocks_nothing(table_of, views):
    table = table_of(with_tokens(flat), views=views)
    assert rules(table) == {"FLAT_PICTURE_PRICE": "info"}
    assert not any(one.blocked_by for one in estimate(table, SCORER, ()).contrasts)


@pytest.mark.parametrize(
    ("edit", "views", "size"),
    [
        (with_tokens(by_tiles), "original,crop_3x", LARGE),
        (with_tokens(by_tiles), "original,crop_3x", Size(400, 300)),  # one tile each
        (with_tokens(flat), "original,crop_3x", Size(400, 300)),  # nobody could tell
        (with_tokens(flat), "original", LARGE),  # one size of picture
        (with_tokens(lambda *_: None), "original,crop_3x", LARGE),
    ],
)
def test_no_flat_price_where_prices_could_not_differ(table_of, edit, views, size):
    assert rules(table_of(edit, views=views, size=size)) == {}


def test_four_questions_are_too_few_for_a_flat_price(table_of):
    assert rules(table_of(with_tokens(flat), n=4)) == {}
