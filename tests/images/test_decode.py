"""decode@1: every form of picture, what becomes of its pixels, and what is refused."""

from io import BytesIO

import numpy as np
import pytest
import pyvips
from PIL import Image, ImageFile

from eyechart.errors import ImageError, UsageError
from eyechart.images.decode import MAX_DECODED_PIXELS, NOTES, decode, is_standing
from eyechart.images.probe import describe_stream
from eyechart.schema import DecodePolicy, Size

APPLY = DecodePolicy(exif="apply")


def on_matte(colour, alpha, matte=255):
    """The exact rounded blend, in integers."""
    alpha = alpha.astype(int)[..., None]
    return ((colour.astype(int) * alpha + matte * (255 - alpha)) * 2 + 255) // 510


def ramp(rgb):
    return np.broadcast_to(np.linspace(0, 255, rgb.shape[1]).astype(np.uint8), rgb.shape[:2])


def grey(channel):
    return np.repeat(channel[..., None], 3, axis=2)


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("rgb.png", ()),
        ("rgb.webp", ()),
        ("rgb.bmp", ()),
        ("rgb.tif", ()),
        ("zstd.tif", ()),
        ("rotated.png", ("exif_orientation_ignored",)),
        ("rotated.tif", ("exif_orientation_ignored",)),
        ("mirrored.webp", ("exif_orientation_ignored",)),
        ("rgb16.png", ("sixteen_bit_reduced",)),
        ("icc_broken.png", ("icc_unusable_ignored",)),
        ("icc_foreign.png", ("icc_unusable_ignored",)),
        ("gamma.png", ("gamma_ignored",)),
    ],
)
def test_lossless_forms_keep_their_stored_rgb_values(make_form, rgb, name, notes):
    decoded = decode(make_form(name), place=name)
    assert np.array_equal(decoded.pixels, rgb)
    assert decoded.notes == notes
    assert decoded.pixels.flags.c_contiguous
    assert decoded.pixels.dtype == np.uint8


@pytest.mark.parametrize("name", ["rotated.png", "rotated.tif"])
def test_applied_orientation_6_turns_the_picture_clockwise(make_form, rgb, name):
    decoded = decode(make_form(name), APPLY)
    assert np.array_equal(decoded.pixels, np.rot90(rgb, -1))
    assert decoded.notes == ("exif_orientation_applied",)
    assert decoded.size == Size(32, 48)
    assert decoded.source_size == Size(48, 32)


def test_applied_orientation_5_mirrors_at_the_diagonal(make_form, rgb):
    assert np.array_equal(decode(make_form("mirrored.webp"), APPLY).pixels, rgb.transpose(1, 0, 2))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_all_orientations_of_a_tiff_keep_stored_pixels_and_can_be_applied_as_pillow_does(rgb, orientation):
    stream = BytesIO()
    Image.fromarray(rgb).save(stream, "TIFF", tiffinfo={274: orientation})
    content = stream.getvalue()
    assert np.array_equal(decode(content).pixels, rgb)
    assert np.array_equal(decode(content, APPLY).pixels, np.asarray(Image.open(BytesIO(content))))


def test_a_rotated_jpeg_has_the_pixels_of_the_same_jpeg_without_orientation(make_form):
    assert np.array_equal(decode(make_form("rotated.jpg")).pixels, decode(make_form("rgb.jpg")).pixels)


def test_a_progressive_jpeg_has_the_pixels_of_the_baseline_one(make_form):
    assert np.array_equal(decode(make_form("progressive.jpg")).pixels, decode(make_form("rgb.jpg")).pixels)


def test_jpeg_decodes_as_in_libvips(make_form):
    content = make_form("rgb.jpg")
    assert np.array_equal(decode(content).pixels, pyvips.Image.new_from_buffer(content, "").numpy())


@pytest.mark.parametrize("matte", [255, 0, 90])
def test_alpha_is_blended_with_the_matte(make_form, rgb, matte):
    decoded = decode(make_form("rgba.png"), DecodePolicy(matte=(matte, matte, matte)))
    assert np.array_equal(decoded.pixels, on_matte(rgb, ramp(rgb), matte))
    assert decoded.notes == ("alpha_flattened",)


def test_hidden_colours_under_full_transparency_do_not_show(make_form, rgb):
    decoded = decode(make_form("rgba.png"))
    assert (decoded.pixels[:, 0] == 255).all()


def test_grey_is_repeated_and_its_alpha_blended(make_form, rgb):
    assert np.array_equal(decode(make_form("grey.png")).pixels, grey(rgb[:, :, 2]))
    blended = decode(make_form("grey_alpha.png"))
    assert np.array_equal(blended.pixels, on_matte(grey(rgb[:, :, 2]), ramp(rgb)))
    assert blended.notes == ("alpha_flattened", "grey_expanded")


def test_one_bit_is_black_and_white(make_form):
    assert set(np.unique(decode(make_form("one_bit.png")).pixels)) == {0, 255}


def test_four_bit_grey_is_widened_and_its_key_is_transparent(make_form):
    assert decode(make_form("four_bit.png")).pixels[0, :2, 0].tolist() == [17, 255]
    keyed = decode(make_form("four_bit_key.png"))
    assert keyed.pixels[0, :2, 0].tolist() == [255, 255]
    assert "alpha_flattened" in keyed.notes


@pytest.mark.parametrize("name", ["palette.png", "palette.gif"])
def test_palette_indices_become_their_colours(make_form, name):
    content = make_form(name)
    assert np.array_equal(decode(content).pixels, np.asarray(Image.open(BytesIO(content)).convert("RGB")))


def test_palette_transparency_is_blended_entry_by_entry(make_form):
    content = make_form("palette_holes.png")
    colours = np.asarray(Image.open(BytesIO(content)).convert("RGB"))
    indices = np.asarray(Image.open(BytesIO(content)))
    alpha = np.array([0, 128] + [255] * 254)[indices]
    assert np.array_equal(decode(content).pixels, on_matte(colours, alpha))


def test_only_the_key_colour_is_transparent(make_form, rgb):
    pixels = decode(make_form("colour_key.png"), DecodePolicy(matte=(1, 2, 3))).pixels
    changed = (pixels != rgb).any(axis=2)
    assert np.argwhere(changed).tolist() == [[3, 5]]
    assert pixels[3, 5].tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["grey16.png", "grey16.tif"])
def test_sixteen_bit_grey_keeps_its_high_byte_and_is_not_clipped_to_white(make_form, rgb, name):
    decoded = decode(make_form(name))
    assert np.array_equal(decoded.pixels, grey(rgb[:, :, 0]))
    assert decoded.notes == ("grey_expanded", "sixteen_bit_reduced")


def test_a_sixteen_bit_key_hides_that_value_only(make_form, rgb):
    pixels = decode(make_form("grey16_key.png")).pixels
    assert np.argwhere((pixels != grey(rgb[:, :, 0])).any(axis=2)).tolist() == [[3, 5]]


@pytest.mark.parametrize("name", ["icc.png", "icc_grey.png"])
def test_a_profile_with_red_and_green_exchanged_exchanges_them_back(make_form, rgb, name):
    stored = grey(rgb[:, :, 2]) if name == "icc_grey.png" else rgb
    decoded = decode(make_form(name))
    assert "icc_converted" in decoded.notes
    assert np.abs(decoded.pixels.astype(int) - stored[..., [1, 0, 2]]).max() <= 2


def test_an_srgb_profile_changes_no_pixel(make_form):
    decoded = decode(make_form("icc_srgb.jpg"))
    assert np.array_equal(decoded.pixels, decode(make_form("rgb.jpg")).pixels)
    assert decoded.notes == ("icc_srgb_dropped",)


def test_cmyk_goes_through_its_profile_as_in_libvips(make_form):
    content = make_form("cmyk_icc.jpg")
    decoded = decode(content)
    reference = pyvips.Image.new_from_buffer(content, "").icc_transform("srgb", embedded=True, intent="perceptual")
    assert decoded.notes == ("icc_converted",)
    assert np.abs(decoded.pixels.astype(int) - reference.numpy()).mean() < 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cmyk.jpg", "CMYK without a usable colour profile"),
        ("float.tif", "pixels of kind F have no defined"),
        ("rgb16_key.png", "16-bit RGB with a transparent colour"),
        ("animated.gif", "2 frames"),
        ("animated.png", "2 frames"),
        ("animated.webp", "2 frames"),
        ("pages.tif", "2 pages"),
        ("truncated_rgb.jpg", "truncated"),
        ("truncated_progressive.jpg", "truncated"),
        ("truncated_rgb.png", "truncated"),
        ("truncated_rgb.webp", "truncated_rgb.webp: (cannot decode|damaged)"),
        ("truncated_palette.gif", "truncated"),
        ("truncated_rgb.bmp", "truncated"),
        ("truncated_rgb.tif", "truncated_rgb.tif: (cannot decode|damaged)"),
        ("truncated_zstd.tif", "truncated_zstd.tif: (cannot decode|damaged)"),
        ("endless.png", "truncated, the end of the PNG is missing"),
        ("bomb.png", "20000×10000 = 200,000,000 pixels, more than 178,956,970"),
        ("not_an_image.jpg", "not a picture that can be read .it is a web page"),
        ("empty.png", "not a picture that can be read"),
        ("broken_header.jpg", "damaged image/jpeg header"),
        ("headless.png", "damaged image/png header"),
    ],
)
def test_what_has_no_single_picture_is_refused_with_place_and_hint(make_form, tmp_path, name, message):
    path = tmp_path / name
    path.write_bytes(make_form(name))
    with pytest.raises(ImageError, match=message) as caught:
        decode(path)
    assert str(path) in caught.value.message
    assert caught.value.hint


def test_a_bomb_is_pointed_to_the_tiled_path(make_form):
    with pytest.raises(ImageError) as caught:
        decode(make_form("bomb.png"), place="huge.png")
    assert "eyechart.images.giga" in caught.value.hint
    assert Image.MAX_IMAGE_PIXELS * 2 <= MAX_DECODED_PIXELS + 1


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(ImageError, match=r"cannot read \(No such file"):
        decode(tmp_path / "absent.png")
    with pytest.raises(ImageError, match=r"cannot read \(Is a directory"):
        decode(tmp_path)


def test_a_process_that_accepts_truncated_files_is_refused(make_form, monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    with pytest.raises(ImageError, match="told to accept truncated files"):
        decode(make_form("rgb.png"))


def test_an_unknown_policy_version_is_refused(make_form):
    with pytest.raises(UsageError, match="unknown decode policy 'decode@7'"):
        decode(make_form("rgb.png"), DecodePolicy(version="decode@7"))


STANDING = {"rgb.png", "rgb.jpg", "rgb.webp", "progressive.jpg", "grey.png", "grey.jpg"}


@pytest.mark.parametrize("name", ["rgb.png", "rgb.jpg", "rgb.webp", "progressive.jpg", "grey.png", "grey.jpg",
    "rotated.jpg", "rotated.png", "mirrored.webp", "rgba.png", "grey_alpha.png", "one_bit.png", "four_bit.png",
    "palette.png", "palette_holes.png", "palette.gif", "colour_key.png", "grey16.png", "rgb16.png", "icc.png",
    "icc_srgb.jpg", "gamma.png", "cmyk_icc.jpg", "animated.png", "rgb.bmp", "rgb.tif"])  # fmt: skip
def test_own_bytes_are_sent_only_if_any_decoder_gives_our_pixels(make_form, name):
    content = make_form(name)
    assert is_standing(describe_stream(content, name)) == (name in STANDING)
    if name in STANDING:
        naive = np.asarray(Image.open(BytesIO(content)).convert("RGB"))
        assert np.array_equal(decode(content).pixels, naive)


def test_every_note_is_documented(make_form):
    from_forms = set()
    for name in ("rgba.png", "rotated.png", "palette.gif", "grey16.png", "icc.png", "icc_srgb.jpg", "icc_broken.png"):
        from_forms.update(decode(make_form(name)).notes)
    assert from_forms | {"gamma_ignored", "exif_orientation_applied"} == set(NOTES)
