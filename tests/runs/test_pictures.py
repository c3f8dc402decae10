"""What leaves for a model: standing files as they are, everything else as PNG of our pixels."""

import hashlib
import io

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from eyechart.errors import ImageError, UsageError
from eyechart.images.ends import has_end
from eyechart.images.probe import describe_form, probe_image
from eyechart.runs.pictures import PictureSource, check_drawing
from eyechart.runs.plan import PlanOptions
from eyechart.schema import DecodePolicy


@pytest.fixture
def stored(make, tmp_path):
    """A function that stores an image file and returns benchmark and plan of one question about it."""

    def store(picture, kind="PNG", views="original,crop_3x,downsample_0_5,whiteground_3x", decode=None, **how):
        path = tmp_path / "new"
        picture.save(path, kind, **how)
        form = describe_form(path)
        image = msgspec.structs.replace(probe_image(path), exif_orientation=form.exif_orientation)
        path.rename(tmp_path / f"{image.file_sha256}.{image.media_type.split('/')[1]}")
        question = msgspec.structs.replace(make.question(0), image=image)
        benchmark = make.benchmark([question], folder=tmp_path)
        options = PlanOptions(decode=decode or DecodePolicy())
        plan = make.plan(benchmark=benchmark, views=views, options=options)
        return benchmark, {request.view: request.pictures[0] for request in plan.requests}

    return store


def noise(size=(400, 300), mode="RGB"):
    rng = np.random.default_rng(7)
    return Image.fromarray(rng.integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)).convert(mode)


def pixels_of(content):
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))


@pytest.mark.parametrize(("kind", "media_type"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_a_standing_file_leaves_as_its_own_bytes(stored, tmp_path, kind, media_type):
    benchmark, pictures = stored(noise(), kind)
    sent = PictureSource(benchmark).send(pictures["original"])
    content = benchmark.image_path(pictures["original"].image).read_bytes()
    assert (sent.encoded(), sent.media_type) == (content, media_type)
    assert sent.sent_as == (len(content), media_type)


def test_a_built_view_leaves_as_png_of_exactly_our_pixels(stored):
    benchmark, pictures = stored(noise(), "JPEG", quality=90)
    source = PictureSource(benchmark)
    for view in ("crop_3x", "downsample_0_5", "whiteground_3x"):
        sent = source.send(pictures[view])
        assert sent.media_type == "image/png"
        assert np.array_equal(pixels_of(sent.encoded()), sent.pixels())
        assert sent.pixels().shape[:2] == sent.size[::-1]


def test_transparency_and_orientation_are_applied_before_sending(stored):
    rgba = noise().convert("RGBA")
    rgba.putalpha(0)
    benchmark, pictures = stored(rgba)
    sent = PictureSource(benchmark).send(pictures["original"])
    assert (pixels_of(sent.encoded()) == 255).all()
    exif = Image.Exif()
    exif[274] = 6
    benchmark, pictures = stored(noise(), "JPEG", decode=DecodePolicy(exif="apply"), exif=exif)
    upright = PictureSource(benchmark).send(pictures["original"])
    assert upright.size == (300, 400)
    assert upright.pixels().shape == (400, 300, 3)
    assert upright.media_type == "image/png"


def test_equal_pixels_have_equal_keys_whatever_the_file(stored):
    benchmark, pictures = stored(noise())
    first = PictureSource(benchmark).send(pictures["original"]).pixel_sha256
    grey = noise(mode="L")
    other_benchmark, other = stored(grey)
    grey_key = PictureSource(other_benchmark).send(other["original"]).pixel_sha256
    as_rgb, rgb_pictures = stored(grey.convert("RGB"))
    assert PictureSource(as_rgb).send(rgb_pictures["original"]).pixel_sha256 == grey_key != first


def test_one_decode_serves_all_views(stored, monkeypatch):
    benchmark, pictures = stored(noise())
    source = PictureSource(benchmark)
    source.send(pictures["original"]).pixels()
    benchmark.image_path(pictures["original"].image).unlink()
    for view in ("crop_3x", "downsample_0_5", "whiteground_3x"):
        assert source.send(pictures[view]).pixels() is not None


def test_pictures_are_prepared_in_the_form_the_model_takes(stored):
    benchmark, pictures = stored(noise())
    source = PictureSource(benchmark)
    first = source.send(pictures["crop_3x"])
    source.prepare((first,))
    assert first.sent_as == (None, None)
    first.encoded()
    second = source.send(pictures["downsample_0_5"])
    source.prepare((second,))
    assert second.sent_as[1] == "image/png"
    assert "_pixels" not in second.__dict__


def test_a_file_that_changed_since_planning_is_refused(stored):
    benchmark, pictures = stored(noise())
    path = benchmark.image_path(pictures["original"].image)
    noise((400, 299)).save(path, "PNG")
    with pytest.raises(ImageError, match="the file is not the one that was planned"):
        PictureSource(benchmark).send(pictures["original"]).encoded()
    assert hashlib.sha256(path.read_bytes()).hexdigest() != pictures["original"].image.file_sha256


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])  # a truncated WebP has no readable header, so it is never planned
def test_a_truncated_original_never_leaves(make, tmp_path, kind):
    path = tmp_path / "new"
    noise().save(path, kind)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    image = probe_image(path)
    path.rename(tmp_path / f"{image.file_sha256}.{image.media_type.split('/')[1]}")
    question = msgspec.structs.replace(make.question(0), image=image)
    benchmark = make.benchmark([question], folder=tmp_path)
    (request,) = make.plan(benchmark=benchmark, views="original").requests
    with pytest.raises(ImageError, match=r"truncated|cannot decode"):
        PictureSource(benchmark).send(request.pictures[0]).encoded()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_what_follows_the_end_of_a_whole_original_changes_nothing(stored, kind):
    benchmark, pictures = stored(noise(), kind)
    content = benchmark.image_path(pictures["original"].image).read_bytes()
    assert has_end(content, f"image/{kind.lower()}")
    assert not has_end(content + b"camera notes", f"image/{kind.lower()}")
    trailing = content + b"camera notes"
    path = benchmark.image_path(pictures["original"].image)
    image = msgspec.structs.replace(pictures["original"].image, file_sha256=hashlib.sha256(trailing).hexdigest())
    path.with_stem(image.file_sha256).write_bytes(trailing)
    picture = msgspec.structs.replace(pictures["original"], image=image)
    assert PictureSource(benchmark).send(picture).encoded() == trailing


def test_a_missing_file_is_named(stored):
    benchmark, pictures = stored(noise())
    benchmark.image_path(pictures["original"].image).unlink()
    with pytest.raises(ImageError, match="cannot read"):
        PictureSource(benchmark).send(pictures["original"]).encoded()


def test_unknown_resamplers_and_transports_are_refused_before_anything_is_asked():
    with pytest.raises(UsageError, match="unknown resampler"):
        check_drawing(PlanOptions(resampler="pillow-lanzcos@1"))
    with pytest.raises(UsageError, match="unknown transport 'shrink@1'"):
        check_drawing(PlanOptions(transport="shrink@1"))


@settings(max_examples=30, deadline=None)
@given(at=st.integers(40, 2000), bit=st.integers(0, 7))
def test_a_png_with_one_changed_bit_is_not_taken_for_whole(at, bit):
    """A PNG that was damaged in its middle was sent as it was, and the answer to it was scored."""
    rng = np.random.default_rng(5)
    file = io.BytesIO()
    Image.fromarray(rng.integers(0, 255, (32, 40, 3), dtype=np.uint8)).save(file, "PNG")
    content = file.getvalue()
    assert has_end(content, "image/png")
    damaged = bytearray(content)
    damaged[at] ^= 1 << bit
    assert not has_end(bytes(damaged), "image/png")


def test_a_png_that_is_damaged_in_its_middle_never_leaves(make, tmp_path):
    path = tmp_path / "new"
    noise().save(path, "PNG")
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 255
    path.write_bytes(damaged)
    image = probe_image(path)
    path.rename(tmp_path / f"{image.file_sha256}.png")
    benchmark = make.benchmark([msgspec.structs.replace(make.question(0), image=image)], folder=tmp_path)
    (request,) = make.plan(benchmark=benchmark, views="original").requests
    with pytest.raises(ImageError, match="cannot decode"):
        PictureSource(benchmark).send(request.pictures[0]).encoded()
