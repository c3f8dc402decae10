"""The OCR model: it reads real pixels, knows when it cannot tell, and says what size it read at."""

import asyncio
import hashlib
import threading
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from eyechart.contracts import check_model
from eyechart.errors import MissingDependencyError, RefusedInputError, UsageError
from eyechart.kinds import Ask, ModelOptions, PredictsSeen
from eyechart.models import ocr
from eyechart.models.ocr import OcrKind, OcrSettings, read_size, weight_files
from eyechart.schema import Sampling, Size

pytest.importorskip("rapidocr")
pytest.importorskip("onnxruntime")

OPTIONS = ("4821", "4827", "4321", "4327")


@dataclass
class Shown:
    """A picture on its way to the model, which counts how often its pixels are asked for."""

    array: np.ndarray
    media_type: str = "image/png"
    n_reads: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def size(self):
        return Size(self.array.shape[1], self.array.shape[0])

    @property
    def pixel_sha256(self):
        return hashlib.sha256(repr(self.size).encode() + self.array.tobytes()).hexdigest()

    def pixels(self):
        with self.lock:
            self.n_reads += 1
        return self.array

    def encoded(self):
        raise AssertionError("the OCR model needs pixels only")


def shown(*lines, size=(400, 160), text_px=40):
    image = Image.new("RGB", size, (245, 245, 240))
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(text_px)
    for row, line in enumerate(lines):
        pen.text((20, 20 + row * 1.4 * text_px), line, fill=(20, 20, 30), font=font)
    return Shown(np.asarray(image))


def ask(*pictures, choices=OPTIONS):
    return Ask(prompt="Which number is on the sign?", pictures=pictures, choices=choices, sampling=Sampling())


@pytest.fixture(scope="module")
def opened():
    model = OcrKind().open("rapidocr", ModelOptions(settings={"workers": 2}))
    yield model
    asyncio.run(model.close())


def answered(model, *asks):
    async def gather():
        return await asyncio.gather(*(model.answer(one) for one in asks))

    return asyncio.run(gather())


def test_model_keeps_its_contract():
    check_model(OcrKind().open("rapidocr", ModelOptions()))


@pytest.mark.parametrize("letter", "ABCD")
def test_option_that_is_written_is_answered_by_its_letter(opened, letter):
    number = OPTIONS["ABCD".index(letter)]
    (reply,) = answered(opened, ask(shown("MAPLE", number)))
    assert reply.text == letter
    assert number in "".join(reply.extra["lines_read"])
    assert reply.extra["label"] == "OCR model, not a VLM"


def test_letter_follows_the_order_of_the_options(opened):
    picture = shown("MAPLE", "4821")
    replies = answered(opened, ask(picture), ask(picture, choices=OPTIONS[::-1]))
    assert [reply.text for reply in replies] == ["A", "D"]


@pytest.mark.parametrize(
    "pictures",
    [(), (shown(),), (shown("MAPLE", "7777"),), (shown("4821", "4327"),)],
    ids=["none", "blank", "other", "two"],
)
def test_cannot_tell_is_said_in_exactly_these_words(opened, pictures):
    (reply,) = answered(opened, ask(*pictures))
    assert reply.text == "cannot tell"


def test_colours_reach_the_reader_in_the_right_order(opened):
    # Red on a blue of the same grey can be read in RGB and in BGR alike, so the channels themselves are compared.
    seen = []
    engine = opened._loaded_engine()
    original = engine.preprocess_img
    engine.preprocess_img = lambda image: seen.append(image[0, 0].tolist()) or original(image)
    try:
        answered(opened, ask(Shown(np.full((64, 64, 3), (250, 20, 10), np.uint8))))
    finally:
        engine.preprocess_img = original
    assert seen == [[10, 20, 250]]


def test_one_pass_serves_all_questions_about_a_picture(opened):
    picture = shown("QUAIL", "4321")
    replies = answered(opened, *(ask(picture, choices=OPTIONS[turn:] + OPTIONS[:turn]) for turn in range(4)))
    again = answered(opened, ask(picture))
    assert [reply.text for reply in replies] == ["C", "B", "A", "D"]
    assert again[0].text == "C"
    assert picture.n_reads == 1


def test_cancelled_question_does_not_take_the_picture_from_the_others(opened):
    picture = shown("OTTER", "4827", size=(900, 700))

    async def cancel_one():
        first = asyncio.create_task(opened.answer(ask(picture)))
        second = asyncio.create_task(opened.answer(ask(picture)))
        await asyncio.sleep(0)
        first.cancel()
        return (await asyncio.gather(first, second, return_exceptions=True))[1]

    assert asyncio.run(cancel_one()).text == "B"


@pytest.mark.parametrize("size", [(2600, 300), (300, 40), (33, 20), (500, 500)])
def test_executed_size_is_the_predicted_one(opened, size):
    picture = shown(size=size)
    (reply,) = answered(opened, ask(picture))
    assert isinstance(opened, PredictsSeen)
    assert reply.seen == (opened.predict_seen(picture.size),)
    assert reply.seen[0].evidence == "executed"


sides = st.integers(1, 5000)


@settings(max_examples=100, deadline=None)
@given(st.tuples(sides, sides).filter(lambda size: size[0] * size[1] < 4_000_000))
def test_predicted_size_is_that_of_rapidocr_itself(size):
    from rapidocr.utils.process_img import ResizeImgError, resize_image_within_bounds

    try:
        image, _, _ = resize_image_within_bounds(np.zeros((size[1], size[0], 3), np.uint8), 30, 2000)
        expected = Size(image.shape[1], image.shape[0])
    except ResizeImgError:
        expected = None
    assert read_size(Size(*size), OcrSettings()) == expected


def test_picture_too_thin_to_resize_is_refused_input(opened):
    assert opened.predict_seen(Size(4000, 8)) is None
    with pytest.raises(RefusedInputError, match="cannot resize a picture of 4000×8 pixels"):
        answered(opened, ask(Shown(np.zeros((8, 4000, 3), np.uint8))))


def test_settings_that_change_answers_change_the_identity_and_workers_do_not():
    identities = [
        OcrKind().open("rapidocr", ModelOptions(settings=given)).identity
        for given in ({}, {"workers": "3"}, {"max_side_px": "1000"}, {"detector_min_side_px": "736"})
    ]
    assert identities[0] == identities[1]
    assert len({repr(identity) for identity in identities}) == 3
    assert (
        identities[0].fingerprint
        == hashlib.sha256(b"".join(path.read_bytes() for _, path in sorted(weight_files().items()))).hexdigest()
    )


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("tesseract", ModelOptions(), "no OCR model named 'tesseract'"),
        ("rapidocr", ModelOptions(base_url="http://localhost"), "runs on this machine"),
        ("rapidocr", ModelOptions(settings={"max_side": "1"}), "no setting of ocr/rapidocr named 'max_side'"),
        ("rapidocr", ModelOptions(settings={"max_side_px": "20"}), "max_side_px, min_side_px"),
        ("rapidocr", ModelOptions(settings={"line_score": "2"}), "line_score 2"),
        ("rapidocr", ModelOptions(settings={"workers": "0"}), "workers 0"),
    ],
)
def test_wrong_names_and_settings_are_refused(name, options, message):
    with pytest.raises(UsageError, match=message):
        OcrKind().open(name, options)


def test_missing_library_names_the_extra(monkeypatch):
    monkeypatch.setattr(ocr, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="rapidocr is not installed") as caught:
        OcrKind().open("rapidocr", ModelOptions())
    assert "eyechart[ocr]" in caught.value.hint


def test_missing_weights_are_named_and_never_downloaded(monkeypatch):
    monkeypatch.setitem(ocr.WEIGHTS, "Det", "PP-OCRv9_det.onnx")
    with pytest.raises(MissingDependencyError, match=r"weights PP-OCRv9_det\.onnx"):
        weight_files()
