"""Simulated models keep the promise they are for: their accuracy is known."""

import asyncio
import math

import pytest
from models.asks import ask, asked

from eyechart.errors import BadRequestError, RefusedInputError, TransientModelError, UsageError
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model

N = 4000


def opened(name="oracle", **settings):
    return open_model(f"simulated/{name}", ModelOptions(settings=settings))


def replies(model, view="original", n=N, repeat=0, n_options=4, golds="ABCD"):
    identities = [asked(f"q{i}", view, repeat=repeat) for i in range(n)]
    gold = {one.request_id: golds[i % len(golds)] for i, one in enumerate(identities)}
    model.take_gold(gold)

    async def run():
        return [await model.answer(ask(identity=one, n_options=n_options)) for one in identities]

    return [(reply, gold[one.request_id]) for one, reply in zip(identities, asyncio.run(run()), strict=True)]


def accuracy(model, **arguments):
    outcomes = replies(model, **arguments)
    return sum(reply.text == gold for reply, gold in outcomes) / len(outcomes)


def close(found, expected, n=N):
    """Within 4.5 standard errors: one false alarm in 150,000."""
    return abs(found - expected) <= 4.5 * math.sqrt(max(expected * (1 - expected), 1e-9) / n)


def test_the_oracle_is_always_right_and_chance_is_chance():
    assert accuracy(opened("oracle")) == 1
    assert close(accuracy(opened("chance")), 0.25)
    assert close(accuracy(opened("chance"), n_options=2, golds="AB"), 0.5)


@pytest.mark.parametrize("view", ["original", "crop_3x", "downsample_0_0625", "downsample_0_9375", "no_image"])
def test_the_accuracy_to_be_found_is_the_one_it_expects(view):
    model = opened("vlm")
    assert close(accuracy(model, view=view), model.expected_accuracy(view, 4))


def test_guesses_noise_and_format_failures_are_in_the_expectation():
    model = opened(accuracy=0.8, guess_rate=0.3, noise=0.5, format_failure_rate=0.1, refusal_rate=0.05)
    assert model.expected_accuracy("original", 4) == pytest.approx(0.9 * 0.95 * (0.7 * 0.8 + 0.3 / 4))
    assert close(accuracy(model), model.expected_accuracy("original", 4))


def test_the_nearest_name_gives_the_accuracy():
    model = opened(accuracy=0.1, accuracy_by_view="crop=0.5,crop_3x=0.9")
    assert [model.expected_accuracy(view, 4) for view in ("crop_3x", "crop_6x", "original")] == [0.9, 0.5, 0.1]


def test_accuracy_rises_with_the_target_size_seen():
    model = opened(threshold_px=16)
    px = [2, 8, 16, 32, 128]
    expected = [model.expected_accuracy("original", 4, size) for size in px]
    assert expected == sorted(expected)
    assert expected[2] == pytest.approx(0.25 + 0.75 / 2)
    model.take_target_px({asked(f"q{i}").request_id: 16 for i in range(N)})
    assert close(accuracy(model), expected[2])


def test_a_threshold_needs_the_target_size():
    with pytest.raises(BadRequestError, match="needs the target's size"):
        accuracy(opened(threshold_px=16), n=1)


def test_answers_are_the_same_in_any_process_and_order():
    first = [reply.text for reply, _ in replies(opened("vlm"), n=300)]
    second = [reply.text for reply, _ in replies(opened("vlm"), n=300)]
    other = [reply.text for reply, _ in replies(opened("vlm", seed=1), n=300)]
    assert first == second != other


def test_repeats_agree_but_for_the_noise():
    def disagreement(noise):
        model = opened(accuracy=0.5, noise=noise)
        pairs = zip(replies(model), replies(model, repeat=1), strict=True)
        return sum(first[0].text != second[0].text for first, second in pairs) / N

    assert disagreement(0) == 0
    assert disagreement(0.5) > 0.2


def right(model, view, n=N):
    return [reply.text == gold for reply, gold in replies(model, view=view, n=n)]


def both_right(model, views=("crop_3x", "crop_6x")):
    first, second = (right(model, view) for view in views)
    return sum(a and b for a, b in zip(first, second, strict=True)) / N


def test_views_of_a_question_are_as_correlated_as_told():
    assert close(both_right(opened(accuracy=0.5)), 0.25)
    # Two standard normals with correlation r are both positive with probability 1/4 + asin(r) / 2π.
    assert close(both_right(opened(accuracy=0.5, question_correlation=0.6)), 0.25 + math.asin(0.6) / (2 * math.pi))
    assert close(accuracy(opened(accuracy=0.3, question_correlation=0.6)), 0.3)


def test_questions_on_one_picture_are_as_correlated_as_told():
    model = opened(accuracy=0.5, image_correlation=0.6)
    model.take_image_groups({f"q{i}": f"image {i // 2}" for i in range(N)})
    found = right(model, "original")
    pairs = sum(found[i] and found[i + 1] for i in range(0, N, 2)) / (N // 2)
    assert close(pairs, 0.25 + math.asin(0.6) / (2 * math.pi), N // 2)


def test_wrong_answers_are_spread_over_all_other_options():
    model = opened(accuracy=0.0)
    letters = [reply.text for reply, _ in replies(model, golds="B")]
    assert set(letters) == set("ACD")
    assert all(close(letters.count(letter) / N, 1 / 3) for letter in "ACD")


def test_each_failure_has_its_share_and_its_state():
    model = opened(refusal_rate=0.2, truncation_rate=0.25, format_failure_rate=0.1)
    found = [reply for reply, _ in replies(model)]
    assert close(sum(reply.is_refusal for reply in found) / N, 0.2)
    assert close(sum(reply.finish == "length" for reply in found) / N, 0.8 * 0.25)
    assert close(sum(reply.text.startswith("I cannot tell") for reply in found) / N, 0.8 * 0.75 * 0.1)


def test_a_passing_failure_passes_and_a_lasting_one_lasts():
    async def attempts(model):
        outcomes = []
        for _ in range(4):
            try:
                await model.answer(ask(identity=asked()))
                outcomes.append("answered")
            except TransientModelError:
                outcomes.append("failed")
        return outcomes

    passing = asyncio.run(attempts(opened(transient_rate=1.0, failing_attempts=2)))
    assert passing == ["failed", "failed", "answered", "answered"]
    assert set(asyncio.run(attempts(opened(transient_rate=1.0, failing_attempts=-1)))) == {"failed"}


def test_a_refused_picture_is_refused_every_time():
    with pytest.raises(RefusedInputError, match="simulated refusal"):
        accuracy(opened(refused_input_rate=1.0), n=1)


def test_without_gold_it_cannot_tell():
    reply = asyncio.run(opened().answer(ask(identity=asked())))
    assert reply.text == "I cannot tell from this picture."


def test_it_must_be_told_who_is_asked():
    with pytest.raises(BadRequestError, match="not told which question"):
        asyncio.run(opened().answer(ask()))


@pytest.mark.parametrize(
    ("name", "settings", "match"),
    [
        ("orakle", {}, "no simulated model named 'orakle'"),
        ("oracle", {"accuracy": "1.2"}, r"accuracy 1\.2 is outside"),
        ("oracle", {"guess_rate": -0.1}, "guess_rate"),
        ("oracle", {"accuracy_by_view": "crop=2"}, "accuracy of crop"),
        ("oracle", {"accuracy_by_view": "crop"}, "'crop' is not of the form view=rate"),
        ("oracle", {"question_correlation": 0.7, "image_correlation": 0.6}, "exceed 1 together"),
        ("oracle", {"acuracy": 1}, "acuracy"),
    ],
)
def test_impossible_settings_are_refused(name, settings, match):
    with pytest.raises(UsageError, match=match):
        opened(name, **settings)


def test_extra_body_means_nothing_to_it():
    with pytest.raises(UsageError, match="takes no --extra-body"):
        open_model("simulated/oracle", ModelOptions(extra_body={"a": 1}))
