"""What a model that really looks must show on the demo: accuracy falls with the pixels, and only with the pixels."""

import asyncio

import numpy as np
import pytest

from eyechart.benchmarks.demo import DEMO_VIEWS, DemoKind, DemoOptions
from eyechart.images.compose import compose
from eyechart.images.decode import decode
from eyechart.images.hash import pixel_sha256
from eyechart.images.pixels import DecodedImage
from eyechart.kinds import Ask, ModelOptions
from eyechart.models.ocr import CANNOT_TELL, OcrKind
from eyechart.schema import Sampling, Size
from eyechart.views import parse_view, plan_view

pytest.importorskip("rapidocr")
pytest.importorskip("onnxruntime")

# Of the fixed seed 0: numbers of 26 to 60 px, so that the whole picture can be read and the smallest view cannot.
FEW = 6


class Shown:
    """A view of a picture as a model receives it."""

    media_type = "image/png"

    def __init__(self, pixels):
        self._pixels = np.ascontiguousarray(pixels)
        self.size = Size(pixels.shape[1], pixels.shape[0])
        self.pixel_sha256 = pixel_sha256(self._pixels)

    def pixels(self):
        return self._pixels

    def encoded(self):
        raise AssertionError("no bytes are needed")


class Sitting:
    """The demo in front of the OCR model."""

    def __init__(self, folder):
        self.demo = DemoKind().open(folder, DemoOptions())
        self.questions = tuple(self.demo.questions())
        self._model = OcrKind().open("rapidocr", ModelOptions())

    def few(self):
        readable = [question for question in self.questions if 26 <= question.extra["text_px"] <= 60]
        return readable[:FEW]

    def shown(self, question, view_id, original=None):
        original = original or decode(self.demo.image_path(question.image))
        (planned,) = plan_view(parse_view(view_id), question)
        return Shown(compose(original, planned.geometry))

    def shown_shuffled(self, question, view_id):
        """Show a view of the picture whose target pixels were shuffled, as many as there were of each colour."""
        pixels = decode(self.demo.image_path(question.image)).pixels.copy()
        box = question.targets[0]
        target = pixels[box.y0 : box.y1, box.x0 : box.x1]
        target[:] = np.random.default_rng(0).permutation(target.reshape(-1, 3)).reshape(target.shape)
        return self.shown(question, view_id, DecodedImage.from_pixels(pixels))

    def answers(self, asked):
        """Return the answer to each pair of a question and a picture, in order."""

        async def gather():
            return await asyncio.gather(*(self._answer(question, picture) for question, picture in asked))

        return asyncio.run(gather())

    def accuracy(self, questions, view_id):
        answers = self.answers([(question, self.shown(question, view_id)) for question in questions])
        return np.mean([answer == question.answer for answer, question in zip(answers, questions, strict=True)])

    async def _answer(self, question, picture):
        ask = Ask(prompt=question.text, pictures=(picture,), choices=question.choices, sampling=Sampling())
        return (await self._model.answer(ask)).text


@pytest.fixture(scope="module")
def sitting(tmp_path_factory):
    return Sitting(tmp_path_factory.mktemp("demo"))


def check_control(sitting, asked):
    """Check that a control says "cannot tell" nearly always and is not systematically right."""
    answers = sitting.answers(asked)
    n_right = sum(answer == question.answer for answer, (question, _) in zip(answers, asked, strict=True))
    assert answers.count(CANNOT_TELL) >= 0.8 * len(asked)
    assert n_right <= 0.05 * len(asked)


def wrong_crops(sitting, questions):
    return [
        (question, sitting.shown(other, "crop_3x"))
        for question, other in zip(questions, [*questions[1:], questions[0]], strict=True)
    ]


def test_few_questions_are_read_in_the_crop_and_lost_in_the_smallest_view(sitting):
    few = sitting.few()
    assert sitting.accuracy(few, "crop_3x") >= 0.9
    assert sitting.accuracy(few, "downsample_0_0625") <= 0.5


def test_few_wrong_crops_and_blanks_cannot_be_told(sitting):
    few = sitting.few()
    check_control(sitting, wrong_crops(sitting, few))
    check_control(sitting, [(question, sitting.shown(question, "blank")) for question in few])


def test_few_numbers_with_shuffled_pixels_are_not_read(sitting):
    few = sitting.few()
    answers = sitting.answers([(question, sitting.shown_shuffled(question, "crop_12x")) for question in few])
    assert answers == [CANNOT_TELL] * len(few)


def test_smallest_text_is_not_read_where_its_pixels_are_gone(sitting):
    smallest = [question for question in sitting.questions if question.extra["text_px"] < 12]
    answers = sitting.answers([(question, sitting.shown(question, "downsample_0_0625")) for question in smallest])
    assert answers == [CANNOT_TELL] * len(smallest)


@pytest.mark.full
def test_accuracy_of_the_whole_demo_falls_with_the_pixels_and_wrong_crops_cannot_be_told(sitting):
    # One test, because its halves read the same pictures, and tests are spread over processes.
    accuracy = {view_id: sitting.accuracy(sitting.questions, view_id) for view_id in DEMO_VIEWS}
    assert accuracy["downsample_0_0625"] <= accuracy["original"] - 0.4
    assert max(accuracy["crop_3x"], accuracy["crop_12x"]) >= accuracy["original"] - 0.1
    assert accuracy["blank"] == 0
    check_control(sitting, wrong_crops(sitting, sitting.questions))
    check_control(sitting, [(question, sitting.shown(question, "blank")) for question in sitting.questions])


@pytest.mark.parametrize(
    "view_id",
    [pytest.param("crop_12x", marks=pytest.mark.slow(seconds=6)), pytest.param("original", marks=pytest.mark.full)],
)
def test_shuffling_the_pixels_of_the_target_makes_the_whole_demo_fail(sitting, view_id):
    asked = [(question, sitting.shown_shuffled(question, view_id)) for question in sitting.questions]
    check_control(sitting, asked)
