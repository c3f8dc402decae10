"""A picture turned by its EXIF orientation is planned and drawn at the same size, with its boxes."""

from PIL import Image

from eyechart.images.probe import probe_image
from eyechart.schema import Size


def test_probe_names_the_stored_orientation(tmp_path):
    exif = Image.Exif()
    exif[274] = 6
    Image.new("RGB", (40, 30)).save(tmp_path / "turned.jpg", exif=exif)
    image = probe_image(tmp_path / "turned.jpg")
    assert image.exif_orientation == 6
    assert image.size == Size(40, 30)
