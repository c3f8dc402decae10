"""The demo: what it draws, and that nothing but the pixels gives an answer away."""

from collections import Counter

import msgspec
import numpy as np
import pytest
from PIL import Image

from eyechart.benchmarks._demo.draw import PHOTO, draw_scene, read_photo
from eyechart.benchmarks._demo.folder import HASH_FILE
from eyechart.benchmarks._demo.fonts import text_width
from eyechart.benchmarks._demo.items import draw_numbers
from eyechart.benchmarks._demo.plan import PHOTO_SIZE, SCENE_SIZE, SIGN_COLOURS, plan_scenes
from eyechart.benchmarks.demo import DEMO_VIEWS, DemoKind, DemoOptions, default_folder
from eyechart.benchmarks.folder import FolderKind, FolderOptions
from eyechart.contracts import check_benchmark
from eyechart.errors import BenchmarkError, StoreError, UsageError
from eyechart.geometry import intersect
from eyechart.schema import ImageRef, Size
from eyechart.views import parse_view

SEEDS = range(5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def demo(folder):
    benchmark = DemoKind().open(folder, DemoOptions())
    tuple(benchmark.questions())
    return benchmark


@pytest.fixture(scope="module")
def photo():
    return read_photo()


def items(seed=0):
    return [item for scene in plan_scenes(seed) for item in scene.items]


def test_demo_keeps_the_contract_of_benchmarks(demo):
    check_benchmark(demo, n_files=40)


def test_demo_has_twenty_picture_groups_of_four_megapixels_and_forty_questions(demo):
    questions = tuple(demo.questions())
    assert len({question.image_group for question in questions}) == 20
    assert len({question.image.file_sha256 for question in questions}) == 20
    assert len(questions) == 40
    assert all(3_900_000 <= question.image.size.n_px <= 4_100_000 for question in questions)
    assert len({parse_view(view_id) for view_id in DEMO_VIEWS}) == 8


def test_photograph_is_small_enough_to_ship():
    assert PHOTO.stat().st_size <= 1_500_000
    assert Image.open(PHOTO).size == PHOTO_SIZE


def test_text_heights_reach_from_4_to_100_px():
    heights = [item.text_px for item in items()]
    assert (min(heights), max(heights)) == (4, 100)


@pytest.mark.parametrize("seed", SEEDS)
def test_answer_letters_are_balanced(seed):
    assert Counter(item.letter for item in items(seed)) == dict.fromkeys("ABCD", 10)


@pytest.mark.parametrize("seed", SEEDS)
def test_options_stand_to_each_other_alike_so_that_they_name_no_answer(seed):
    for item in items(seed):
        numbers = item.options
        distances = [sum(_n_different(one, other) for other in numbers) for one in numbers]
        assert len(set(distances)) == 1
        assert len(set(numbers)) == 4
        assert {len(number) for number in numbers} == {4}
        assert numbers["ABCD".index(item.letter)] == item.number


def test_right_number_is_neither_larger_nor_smaller_than_the_wrong_ones():
    ranks = Counter(sorted(item.options).index(item.number) for seed in range(40) for item in items(seed))
    expected = sum(ranks.values()) / 4
    assert sum((n - expected) ** 2 / expected for n in ranks.values()) < 16.27  # chi-squared, 3 degrees, p = 0.001


@pytest.mark.parametrize("seed", SEEDS)
def test_box_is_the_same_for_every_option(seed):
    for item in items(seed):
        widths = {round(text_width(number, item.text_px)) for number in item.options}
        assert widths == {item.box.width}
        assert item.box.height == item.text_px


@pytest.mark.parametrize("seed", SEEDS)
def test_words_are_unique_and_no_option_is_drawn_for_another_question(seed):
    words = [item.word for item in items(seed)]
    assert len(set(words)) == len(words)
    for scene in plan_scenes(seed):
        drawn = " ".join(text.text for text in scene.texts)
        for item in scene.items:
            assert [number for number in item.options if number in drawn] == [item.number]


@pytest.mark.parametrize("seed", SEEDS)
def test_everything_is_drawn_inside_its_picture_and_signs_do_not_overlap(seed):
    for scene in plan_scenes(seed):
        for text in scene.texts:
            assert text.x >= 0
            assert text.x + text_width(text.text, text.text_px) <= SCENE_SIZE.width
            assert text.text_px <= text.baseline < SCENE_SIZE.height
        boxes = [panel.box for panel in scene.panels]
        assert all(
            0 <= box.x0 < box.x1 <= SCENE_SIZE.width and 0 <= box.y0 < box.y1 <= SCENE_SIZE.height for box in boxes
        )
        assert len(boxes) < 2 or intersect(boxes[0], boxes[1]) is None


def test_signs_have_a_contrast_of_at_least_7_to_1():
    for paint, ink in SIGN_COLOURS:
        light, dark = sorted((_luminance(paint), _luminance(ink)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 7


def test_number_changes_pixels_inside_its_box_only(photo):
    for scene in (plan_scenes(0)[0], next(scene for scene in plan_scenes(0) if scene.photo_corner is None)):
        item = scene.items[0]
        wrong = next(number for number in item.options if number != item.number)
        texts = tuple(msgspec.structs.replace(text, text=text.text.replace(item.number, wrong)) for text in scene.texts)
        changed = (draw_scene(scene, photo) != draw_scene(msgspec.structs.replace(scene, texts=texts), photo)).any(
            axis=2
        )
        rows, columns = np.nonzero(changed)
        box = item.box
        # Round digits reach over baseline and capital height by a fiftieth of the height, and edges are softened.
        slack = 2 + item.text_px // 30
        assert box.x0 - slack <= columns.min() <= columns.max() < box.x1 + slack
        assert box.y0 - slack <= rows.min() <= rows.max() < box.y1 + slack


def test_same_seed_draws_the_same_bytes_and_another_seed_another_demo(demo, tmp_path):
    again = DemoKind().open(tmp_path, DemoOptions())
    assert tuple(again.questions()) == tuple(demo.questions())
    assert again.identity == demo.identity
    assert DemoKind().open(tmp_path, DemoOptions(seed=1)).identity.revision != demo.identity.revision


def test_question_file_is_read_by_folder(demo, folder):
    own = tuple(FolderKind().open(folder, FolderOptions(box_format="xyxy")).questions())
    facts = [(question.id, question.text, question.choices, question.answer, question.targets) for question in own]
    assert facts == [
        (question.id, question.text, question.choices, question.answer, question.targets)
        for question in demo.questions()
    ]
    assert all(_within(question.targets[0], question.image.size) for question in own)


def test_damaged_and_foreign_revisions_of_pictures_are_drawn_again(demo, tmp_path):
    first = tuple(DemoKind().open(tmp_path, DemoOptions(seed=3)).questions())
    (tmp_path / "scene_07.jpg").write_bytes(b"damaged")
    (tmp_path / "scene_08.jpg").unlink()
    assert tuple(DemoKind().open(tmp_path, DemoOptions(seed=3)).questions()) == first
    assert tuple(DemoKind().open(tmp_path, DemoOptions()).questions()) == tuple(demo.questions())


def test_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "scene_01.jpg").write_bytes(b"somebody's photograph")
    with pytest.raises(BenchmarkError, match="holds files that are not the demo's"):
        DemoKind().open(tmp_path, DemoOptions()).questions()
    assert (tmp_path / "scene_01.jpg").read_bytes() == b"somebody's photograph"


def test_unreadable_hash_file_is_named(tmp_path):
    (tmp_path / HASH_FILE).write_bytes(b"\xff\xfe")
    with pytest.raises(BenchmarkError, match="cannot be read"):
        DemoKind().open(tmp_path, DemoOptions()).questions()


def test_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot write"):
        DemoKind().open(tmp_path / "file" / "inside", DemoOptions()).questions()


def test_file_as_folder_and_foreign_options_are_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match="is not a folder"):
        DemoKind().open(tmp_path / "file", DemoOptions())
    with pytest.raises(UsageError, match="are not the options of demo"):
        DemoKind().open(tmp_path, FolderOptions())


def test_unknown_picture_is_refused(demo):
    with pytest.raises(BenchmarkError, match="no picture of the demo has SHA-256 abc"):
        demo.image_path(ImageRef(file_sha256="abc", size=Size(1, 1), media_type="image/png"))


def test_pictures_are_kept_in_the_cache_folder_by_default(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "eyechart"
    benchmark = DemoKind().open(None, DemoOptions())
    assert benchmark.folder.parent == default_folder()
    assert not benchmark.folder.exists()  # nothing is drawn before it is asked for


def test_numbers_have_no_zero_and_differ_at_two_places():
    rng = np.random.default_rng(5)
    for _ in range(200):
        numbers = draw_numbers(rng)
        assert "0" not in "".join(numbers)
        assert sum(len({number[place] for number in numbers}) == 2 for place in range(4)) == 2


def _n_different(one, other):
    return sum(a != b for a, b in zip(one, other, strict=True))


def _luminance(colour):
    linear = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _within(box, size):
    return 0 <= box.x0 < box.x1 <= size.width and 0 <= box.y0 < box.y1 <= size.height
