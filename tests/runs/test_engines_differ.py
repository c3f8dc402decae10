"""Pictures on which serving engines differ, turned by EXIF or transparent, are the same to all of them once sent."""

import io

import msgspec
import numpy as np
import pytest
from PIL import Image, ImageOps

from eyechart.images.probe import describe_form, probe_image
from eyechart.runs.pictures import PictureSource
from eyechart.runs.plan import PlanOptions
from eyechart.schema import DecodePolicy, ModelIdentity
from eyechart.seen.ledger import planned_ledger
from eyechart.seen.rules import look_up


def vllm(picture):
    """Turn by EXIF, then lay on white (vLLM 0.33, multimodal/image.py)."""
    return over(ImageOps.exif_transpose(picture), 255)


def sglang(picture):
    """Keep as stored, then lay on a dark grey that depends on the picture's edge (SGLang 0.5, smart_to_rgb)."""
    return over(picture, 32)


def lmdeploy(picture):
    """Keep as stored, and drop what says how transparent a pixel is."""
    return picture.convert("RGB")


def gemini(picture):
    """Keep as stored, and lay on black."""
    return over(picture, 0)


def over(picture, grey):
    rgba = picture.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", rgba.size, (grey, grey, grey, 255)), rgba).convert("RGB")


ENGINES = [vllm, sglang, lmdeploy, gemini]


def read_by(engine, content):
    with Image.open(io.BytesIO(content)) as opened:
        return np.asarray(engine(opened))


def noise(mode):
    pixels = np.random.default_rng(3).integers(0, 256, (300, 400, len(mode)), dtype=np.uint8)
    return Image.fromarray(pixels, mode)


def turned(path):
    exif = Image.Exif()
    exif[274] = 6
    noise("RGB").save(path, "JPEG", exif=exif)


def transparent(path):
    noise("RGBA").save(path, "PNG")


@pytest.fixture(params=[turned, transparent])
def content_and_plan(request, make, tmp_path):
    """The file's bytes, and how the benchmark's own question is planned under two views."""

    def store(decode):
        path = tmp_path / "new"
        request.param(path)
        content, form = path.read_bytes(), describe_form(path)
        image = msgspec.structs.replace(probe_image(path), exif_orientation=form.exif_orientation)
        path.rename(tmp_path / f"{image.file_sha256}.{image.media_type.split('/')[1]}")
        question = msgspec.structs.replace(make.question(0), image=image)
        benchmark = make.benchmark([question], folder=tmp_path)
        plan = make.plan(benchmark=benchmark, views="original,crop_3x", options=PlanOptions(decode=decode))
        return content, benchmark, plan

    return store


def test_engines_read_the_file_itself_differently(content_and_plan):
    content, _, _ = content_and_plan(DecodePolicy())
    read = [read_by(engine, content) for engine in ENGINES]
    assert any(one.shape != read[0].shape or not np.array_equal(one, read[0]) for one in read[1:])


@pytest.mark.parametrize("exif", ["ignore", "apply"])
def test_engines_read_what_is_sent_alike_and_as_we_do(content_and_plan, exif):
    _, benchmark, plan = content_and_plan(DecodePolicy(exif=exif))
    source = PictureSource(benchmark)
    for request in plan.requests:
        sent = source.send(request.pictures[0])
        for engine in ENGINES:
            assert np.array_equal(read_by(engine, sent.encoded()), sent.pixels())


@pytest.mark.parametrize("exif", ["ignore", "apply"])
def test_planned_size_is_that_of_what_is_sent(content_and_plan, exif):
    _, benchmark, plan = content_and_plan(DecodePolicy(exif=exif))
    source = PictureSource(benchmark)
    rows = planned_ledger(plan.requests, look_up(ModelIdentity("anthropic", "claude-sonnet-4-5")))
    for request, row in zip(plan.requests, rows, strict=True):
        assert source.send(request.pictures[0]).size == row.sent_size
        assert row.sent_media_type == source.send(request.pictures[0]).media_type
