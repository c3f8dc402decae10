"""What validity rules say and block, and that a clean run triggers none; the cases of each: test_rule_cases.py."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from runs_made import SCORER, draw, make_run, make_side

from eyechart.errors import RefusedInputError
from eyechart.kinds import Reply
from eyechart.runs.cells import Sight, read_table
from eyechart.runs.compare import DiffOptions, compare_runs
from eyechart.runs.plan import PlanOptions
from eyechart.runs.score import judge
from eyechart.runs.summarise import estimate
from eyechart.runs.validity import check_contrasts
from eyechart.schema import Contrast, Response, ResponseState, Size
from eyechart.scorers.option_letter import OptionLetter
from eyechart.stats.codes import Code

N = 80


def gold_of(question_id):
    return "ABCD"[int(question_id[1:]) % 4]


def guess(asked, rate, letter_shift=1):
    """The right letter with a rate, else another one."""
    is_right = draw(asked.question_id, asked.condition, asked.repeat) < rate
    gold = "ABCD".index(gold_of(asked.question_id))
    return "ABCD"[(gold + (0 if is_right else letter_shift + int(asked.question_id[1:]) // 4 % 3)) % 4]


def honest(ask):
    rates = {"no_image": 0.25, "blank": 0.25}
    return guess(ask.identity, rates.get(ask.identity.condition, 0.7))


@pytest.fixture
def table_of(make, tmp_path):
    """A function that runs balanced questions and returns the gathered table."""

    def build(script=honest, *, n=N, question=None, **changes):
        questions = [(question or (lambda _: {}))(index) | {"answer": gold_of(f"q{index:03d}")} for index in range(n)]
        made = [make.question(index, **fields) for index, fields in enumerate(questions)]
        return read_table(make_run(make, tmp_path / "run", script, questions=made, **changes), SCORER)

    return build


def rules(table):
    """Code → level of every rule of the run's summary."""
    return {rule.code: rule.level for rule in estimate(table, SCORER, ()).rules}


def changed(table, condition, **fields):
    """The table with fields of one condition's cells replaced."""
    index = table.conditions.index(condition)
    cells = {
        key: msgspec.structs.replace(cell, **fields) if key[1] == index else cell for key, cell in table.cells.items()
    }
    return msgspec.structs.replace(table, cells=cells)


def changed_part(table, condition, part, **fields):
    """The table with fields of a part (ending, verdict) of one condition's cells replaced."""
    index = table.conditions.index(condition)
    cells = {
        key: msgspec.structs.replace(cell, **{part: msgspec.structs.replace(getattr(cell, part), **fields)})
        if key[1] == index
        else cell
        for key, cell in table.cells.items()
    }
    return msgspec.structs.replace(table, cells=cells)


def test_a_clean_run_triggers_no_rule(table_of):
    assert rules(table_of(views="original,crop_3x,no_image")) == {}


def test_prompt_mix_blocks_the_contrast(table_of):
    summary = estimate(changed(table_of(), "crop_3x", prompt_sha256="other"), SCORER, ())
    assert {rule.code: rule.level for rule in summary.rules} == {"DIFFERENT_PROMPTS": "error"}
    assert summary.contrasts[0].blocked_by == ("DIFFERENT_PROMPTS",)
    assert "not compared: DIFFERENT_PROMPTS" in summary.findings[0].text


def lacking(table, n_absent, condition=1):
    """The table without the first questions under one condition."""
    cells = {key: cell for key, cell in table.cells.items() if not (key[1] == condition and key[0] < n_absent)}
    return msgspec.structs.replace(table, cells=cells)


@pytest.mark.parametrize(
    ("rate", "n_absent", "blocked_by"),
    [
        (0.25, 45, ("SUBSET_MISMATCH",)),  # those that it was not asked could undo 45 points
        (0.25, 2, ()),  # whatever these two would have been
        (0.7, 45, ()),  # nothing is claimed that could be undone
    ],
)
def test_other_questions_block_only_where_they_could_undo_the_verdict(table_of, rate, n_absent, blocked_by):
    rates = {"original": 0.7, "crop_3x": rate}
    table = lacking(table_of(lambda ask: guess(ask.identity, rates[ask.identity.condition])), n_absent)
    summary = estimate(table, SCORER, ())
    (contrast,) = summary.contrasts
    assert (contrast.blocked_by, "SUBSET_MISMATCH" in contrast.warnings) == (blocked_by, True)
    assert {rule.code: rule.level for rule in summary.rules}["SUBSET_MISMATCH"] == "warning"
    assert any("not compared: SUBSET_MISMATCH" in one.text for one in summary.findings) == bool(blocked_by)
    assert contrast.claimed == (rate == 0.25 and not blocked_by)


def test_a_contrast_between_views_with_the_same_questions_is_left_alone(table_of):
    rates = {"original": 0.7, "crop_3x": 0.25, "crop_6x": 0.25}
    asked = table_of(lambda ask: guess(ask.identity, rates[ask.identity.condition]), views="original,crop_3x,crop_6x")
    narrow, wide = estimate(lacking(asked, 45, condition=1), SCORER, ()).contrasts
    assert (narrow.condition, narrow.blocked_by) == ("crop_3x", ("SUBSET_MISMATCH",))
    assert (wide.condition, wide.blocked_by, wide.claimed) == ("crop_6x", (), True)
    assert "SUBSET_MISMATCH" not in wide.warnings


def test_one_absent_question_in_two_hundred_only_warns(table_of):
    table = table_of(n=200)
    cells = {key: cell for key, cell in table.cells.items() if key != (7, 1, 0)}
    assert rules(msgspec.structs.replace(table, cells=cells)) == {"SUBSET_MISMATCH": "warning"}


def test_refused_pictures_are_named_and_missing_is_not_random(table_of):
    def refusing(ask):
        is_refused = ask.identity.condition == "crop_3x" and int(ask.identity.question_id[1:]) % 5 == 0
        return RefusedInputError("too large") if is_refused else honest(ask)

    found = rules(table_of(refusing))
    assert found["VIEW_REJECTED"] == "warning"
    assert found["MISSING_BY_VIEW"] == "warning"


@pytest.mark.parametrize(("every", "expected"), [(20, {}), (5, {"UNREADABLE_BY_VIEW": "warning"})])
def test_unreadable_answers_of_one_view_warn(table_of, every, expected):
    def mumbling(ask):
        is_lost = ask.identity.condition == "crop_3x" and int(ask.identity.question_id[1:]) % every == 0
        return "hm" if is_lost else honest(ask)

    assert rules(table_of(mumbling)) == expected


@pytest.mark.parametrize(("shift", "is_found"), [(1, True), (0, False)])
def test_letters_of_swapped_labels_are_below_chance_and_block(table_of, shift, is_found):
    def swapped(ask):
        gold = "ABCD".index(gold_of(ask.identity.question_id))
        return "hm" if int(ask.identity.question_id[1:]) % 2 and not shift else "ABCD"[(gold + shift) % 4]

    summary = estimate(table_of(swapped), SCORER, ())
    levels = {rule.code: rule.level for rule in summary.rules}
    assert (levels.get("BELOW_CHANCE") == "error") == is_found
    assert ("BELOW_CHANCE" in summary.contrasts[0].blocked_by) == is_found
    if is_found:
        assert "NEAR_LIMIT" not in levels


@pytest.mark.parametrize("unread", ["hm", ""])
def test_unread_answers_do_not_count_towards_below_chance(table_of, unread):
    def reads_little(ask):
        return unread if int(ask.identity.question_id[1:]) % 8 else honest(ask)

    assert "BELOW_CHANCE" not in rules(table_of(reads_little, n=160))


def test_a_letter_that_is_seldom_right_is_no_answer_below_chance(table_of):
    """One letter for everything scores what its gold share is: a preference, and no swapped labels."""

    def rarely_b(index):
        return {"choices": tuple("wxyz")}

    table = table_of(lambda ask: "B", n=160, question=rarely_b)
    kept = tuple(
        msgspec.structs.replace(one, answer="ACD"[index % 3] if index % 20 else "B")
        for index, one in enumerate(table.questions)
    )
    cells = {
        key: msgspec.structs.replace(
            cell, verdict=msgspec.structs.replace(cell.verdict, value=float(kept[key[0]].answer == "B"))
        )
        for key, cell in table.cells.items()
    }
    found = rules(msgspec.structs.replace(table, questions=kept, cells=cells))
    assert "BELOW_CHANCE" not in found
    assert found["LETTER_BIAS"] == "warning"


def test_unreadable_answers_are_counted_by_answers_and_not_by_questions_with_repeats(table_of):
    def mumbling(ask):
        asked = ask.identity
        is_lost = asked.condition == "crop_3x" and asked.repeat == 1 and int(asked.question_id[1:]) < 2
        return "hm" if is_lost else honest(ask)

    found = rules(table_of(mumbling, n=160, plan=PlanOptions(repeats=4)))
    assert "UNREADABLE_BY_VIEW" not in found  # 2 of 640 answers, though 2 of 160 questions


def test_a_difference_made_of_unreadable_answers_is_blocked(table_of):
    def mumbling(ask):
        is_lost = ask.identity.condition == "crop_3x" and int(ask.identity.question_id[1:]) % 3 == 0
        return "hm" if is_lost else guess(msgspec.structs.replace(ask.identity, condition="any"), 0.7)

    summary = estimate(table_of(mumbling), SCORER, ())
    assert summary.contrasts[0].blocked_by == ("UNREADABLE_BY_VIEW",)
    assert summary.sensitivity[0].significance_changes
    assert "not compared: UNREADABLE_BY_VIEW" in summary.findings[0].text


def test_random_fill_blocks_its_view(table_of):
    def filled(ask):
        log = "Failed to predict, thus randomly generate one. " if ask.identity.condition == "crop_3x" else "ok"
        return Reply(text=honest(ask), finish="stop", extra={"log": log})

    summary = estimate(table_of(filled), SCORER, ())
    assert {rule.code: rule.level for rule in summary.rules} == {"RANDOM_FILL": "error"}
    assert summary.contrasts[0].blocked_by == ("RANDOM_FILL",)


def test_lenient_scoring_is_said(make, tmp_path):
    questions = [make.question(index, answer=gold_of(f"q{index:03d}")) for index in range(N)]
    store = make_run(make, tmp_path / "run", honest, questions=questions)
    scorer_id = "option_letter.lenient@2"
    table = read_table(store, scorer_id, judge(store, OptionLetter(), "lenient"))
    assert rules(table) == {"LENIENT_MATCH": "warning"}


def test_a_constant_letter_is_a_letter_bias(table_of):
    assert rules(table_of(lambda ask: "B"))["LETTER_BIAS"] == "warning"


def test_rotated_choices_are_summarised(table_of):
    found = estimate(table_of(lambda ask: "B", plan=PlanOptions(rotations=4)), SCORER, ()).rules
    (rule,) = [rule for rule in found if rule.code == "SHUFFLE"]
    assert rule.level == "info"
    assert "letter followed in 100.0 %" in rule.message


def test_answers_without_the_picture_above_chance_are_named(table_of):
    def knowing(ask):
        return guess(ask.identity, 0.7)

    found = estimate(table_of(knowing, views="original,no_image"), SCORER, ()).rules
    (rule,) = [rule for rule in found if rule.code == "BLIND"]
    assert rule.level == "warning"
    assert "solved blind: q" in rule.message


@pytest.mark.parametrize("rate", [1.0, 0.25])
def test_ceiling_and_floor_are_named(table_of, rate):
    assert rules(table_of(lambda ask: guess(ask.identity, rate)))["NEAR_LIMIT"] == "warning"


def test_many_views_at_chance_are_one_short_warning(table_of):
    views = ",".join(f"crop_{ratio}x" for ratio in range(1, 10))
    found = estimate(table_of(lambda ask: guess(ask.identity, 0.25), n=240, views=views), SCORER, ()).rules
    (rule,) = [rule for rule in found if rule.code == "NEAR_LIMIT"]
    assert len(rule.conditions) >= 7
    assert "; the same holds for crop_2x, crop_3x" in rule.message
    assert rule.message.endswith(" more")


def test_repeats_are_said_with_their_noise(table_of):
    found = estimate(table_of(plan=PlanOptions(repeats=3)), SCORER, ())
    (rule,) = [rule for rule in found.rules if rule.code == "EPOCHS"]
    assert rule.level == "info"
    assert "3 repeats, averaged per question" in rule.message
    assert found.estimates[0].n_questions == N


@pytest.mark.parametrize(("rate", "level"), [(0.7, "info"), (0.2, "warning")])
def test_identical_pictures_with_other_scores_are_an_alarm_only_beyond_noise(table_of, rate, level):
    rates = {"crop_1x": 0.7, "target_only_1x": rate}
    table = table_of(
        lambda ask: guess(ask.identity, rates.get(ask.identity.condition, 0.7)), views="crop_1x,target_only_1x"
    )
    assert rules(table)["AA_NOISE"] == level


def test_views_that_the_model_resizes_to_one_are_a_collapse(table_of):
    table = table_of(views="original,downsample_0_5,crop_3x")
    for name, cut, scale in (("original", "x", 0.250), ("downsample_0_5", "x", 0.254), ("crop_3x", "y", 0.25)):
        table = changed(table, name, sight=Sight("executed", Size(100, 75), None, (scale, scale)), cut=cut)
    summary = estimate(table, SCORER, ())
    assert {rule.code: rule.conditions for rule in summary.rules if rule.level != "info"} == {
        "SAME_PICTURE": ("original", "downsample_0_5"),
    }


def test_identical_files_are_the_same_input_and_no_collapse(table_of):
    table = table_of(views="crop_1x,target_only_1x")
    for name in table.conditions:
        table = changed(table, name, sight=Sight("executed", Size(9, 9)))
    found = rules(table)
    assert found["SAME_INPUT"] == "warning"
    assert "SAME_PICTURE" not in found


def test_another_judge_is_a_drift(table_of):
    assert rules(changed_part(table_of(), "crop_3x", "verdict", judge="judge: other")) == {"JUDGE_DRIFT": "warning"}


def test_shared_pictures_are_said(table_of):
    assert rules(table_of(question=lambda index: {"picture": f"p{index // 2}"})) == {"SHARED_IMAGE": "info"}


def test_too_few_questions_are_said(table_of):
    assert rules(table_of(n=12))["TINY_GROUP"] == "warning"


def test_many_raw_p_values_are_said():
    one = Contrast(
        name="x", condition="a", baseline="b", value=0.1, low=0.0, high=0.2, n_questions=99, n_clusters=99, gained=9,
        lost=1, method="", p=0.02,
    )  # fmt: skip
    assert [rule.code for rule in check_contrasts([one] * 21)] == [Code.MANY_TESTS]
    assert check_contrasts([one] * 20) == ()


def test_groups_with_other_chance_levels_are_said(table_of):
    def fields(index):
        return {"task": "two", "choices": ("yes", "no", "x", "y", "z")} if index % 2 else {"task": "four"}

    assert rules(table_of(question=fields))["OPTION_MIX"] == "warning"


def test_free_question_without_a_score_moves_no_chance_level(table_of):
    """The letter scorer leaves it without a score, so it is in no accuracy that chance stands beside."""

    def fields(index):
        return {"task": "two" if index % 2 else "one"}

    table = table_of(question=fields)
    is_free = [index % 2 == 1 and index < N // 2 for index in range(N)]
    free = tuple(
        msgspec.structs.replace(one, n_choices=0) if own else one
        for one, own in zip(table.questions, is_free, strict=True)
    )
    unscored = {
        key: msgspec.structs.replace(cell, verdict=None) if is_free[key[0]] else cell
        for key, cell in table.cells.items()
    }
    mixed = msgspec.structs.replace(table, questions=free, cells=unscored)
    assert "OPTION_MIX" not in rules(mixed)
    assert estimate(mixed, SCORER, ()).chance == 0.25
    scored = msgspec.structs.replace(table, questions=free)
    assert rules(scored)["OPTION_MIX"] == "warning"
    assert estimate(scored, SCORER, ()).chance == pytest.approx(0.25 * (N - N // 4) / N)


def test_known_errata_are_said_and_left_out_in_one_reading(table_of):
    summary = estimate(table_of(question=lambda index: {"notes": ("errata: red",) if index == 3 else ()}), SCORER, ())
    assert {rule.code: rule.level for rule in summary.rules} == {"ITEM_ERRATA": "info"}
    assert [one.n_questions for one in summary.sensitivity[0].readings] == [N, N - 1]


@pytest.mark.parametrize(("text", "codes"), [("D", {"DUP_ROWS": "error"}), (None, {})])
def test_two_different_answers_to_one_request_are_an_error_and_equal_ones_are_not(make, tmp_path, text, codes):
    questions = [make.question(index, answer=gold_of(f"q{index:03d}")) for index in range(N)]
    store = make_run(make, tmp_path / "run", honest, questions=questions)
    writer = store.open_writer("second")
    for response in list(store.responses())[:16]:
        again = Response(
            request_id=response.request_id, state=ResponseState.ANSWERED, text=text or response.text,
            finished_at=response.finished_at,
        )  # fmt: skip
        writer.append(msgspec.structs.replace(again, text="C" if text == response.text else again.text))
    writer.close()
    assert rules(read_table(store, SCORER)) == codes


def test_a_changed_provider_and_late_views_are_a_drift(table_of):
    table = table_of()
    assert rules(changed_part(table, "crop_3x", "ending", provider_fingerprint="fp_2")) == {}
    other = changed_part(table, "original", "ending", provider_fingerprint="fp_1")
    assert rules(changed_part(other, "crop_3x", "ending", provider_fingerprint="fp_2")) == {"DRIFT": "warning"}
    late = (datetime.now(tz=UTC) + timedelta(days=3)).isoformat()
    summary = estimate(changed_part(table, "crop_3x", "ending", finished_at=late), SCORER, ())
    assert [rule.conditions for rule in summary.rules if rule.code == "DRIFT"] == [("crop_3x",)]
    assert "DRIFT" in summary.contrasts[0].warnings


def test_other_settings_block_the_contrast(table_of):
    summary = estimate(changed(table_of(), "crop_3x", settings="temperature 1.0"), SCORER, ())
    assert {rule.code: rule.level for rule in summary.rules} == {"HETEROGENEOUS_SETTINGS": "error"}
    assert summary.contrasts[0].blocked_by == ("HETEROGENEOUS_SETTINGS",)


@pytest.mark.parametrize("faulty", [(False, False), (False, True), (True, True)])
def test_errors_of_a_collection_that_were_allowed_are_said_beside_every_difference(make, tmp_path, faulty):
    sides = []
    for name, is_faulty in zip("ab", faulty, strict=True):
        side = make_side(make, tmp_path / name, lambda ask: "A", n=30, views="original", name=name)
        faults = ("1 × wrong_size (q001)",) if is_faulty else ()
        run = msgspec.structs.replace(side.table.run, allowed_faults=faults)
        sides.append(msgspec.structs.replace(side, table=msgspec.structs.replace(side.table, run=run)))
    compared = compare_runs(sides, SCORER, DiffOptions())
    codes = {rule.code: rule.level for rule in compared.rules}
    assert codes == ({"ALLOWED_FAULTS": "warning"} if any(faulty) else {})
    assert ("ALLOWED_FAULTS" in compared.differences[0].contrast.warnings) == any(faulty)
    assert all("1 × wrong_size (q001)" in rule.message for rule in compared.rules)


def test_questions_that_neither_side_was_asked_undo_nothing(table_of):
    """Both lack the same 40 of 80 questions, and one of them lacks 2 more."""
    rates = {"original": 0.9, "crop_3x": 0.3}
    asked = table_of(lambda ask: guess(ask.identity, rates[ask.identity.condition]))
    (contrast,) = estimate(lacking(lacking(asked, 40, condition=0), 42, condition=1), SCORER, ()).contrasts
    assert (contrast.n_questions, contrast.blocked_by, contrast.claimed) == (38, (), True)
