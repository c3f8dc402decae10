"""Laws of the items that a report carries: packed and unpacked, they give the same numbers to the last digit."""

import json

import msgspec
import pytest
from runs_made import SCORER, make_run, right_at

from eyechart.errors import SchemaError
from eyechart.kinds import ObservedPicture
from eyechart.runs.folders import Destination
from eyechart.runs.items import pack_items, read_items, unpack_items
from eyechart.runs.plan import PlanOptions
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.runs.summarise import summarise, summarise_items
from eyechart.schema import Size
from eyechart.views import resolve_views

VIEWS = "original,crop_3x,whiteground_3x,downsample_0_5"


@pytest.fixture
def store(make, tmp_path):
    """A run with right, wrong and unreadable answers, three repeats and two turns of the choices."""

    def script(ask):
        answer = right_at({"original": 0.5, "crop_3x": 0.9})(ask)
        return "no idea" if ask.identity.question_id.endswith("7") else answer

    return make_run(make, tmp_path / "run", script, n=25, views=VIEWS, plan=PlanOptions(repeats=2, rotations=2))


def shortened(cell):
    """A cell with the beginnings of its hashes, which are enough to tell them apart."""
    cut = " ".join(part[:16] for part in cell.cut.split(" "))
    return msgspec.structs.replace(cell, recipes=tuple(key[:16] for key in cell.recipes), cut=cut)


def through_json(items):
    return unpack_items(json.loads(json.dumps(pack_items(items))), "here")


def test_unpacked_items_give_the_same_summary(store):
    items = read_items(store, SCORER)
    again = through_json(items)
    assert again.table.cells == {slot: shortened(cell) for slot, cell in items.table.cells.items()}
    assert summarise_items(again) == summarise_items(items) == summarise(store, SCORER)


def test_views_of_known_size_are_told_apart_after_packing_too(make, tmp_path):
    class Shrinking(make.model):
        def predict_seen(self, sent):
            return ObservedPicture(seen_size=Size(min(40, sent.width), min(30, sent.height)), evidence="executed")

    outcome = run_benchmark(
        make.benchmark([make.question(index) for index in range(25)]),
        Shrinking(right_at({"original": 0.5, "crop_3x": 0.9})),
        resolve_views("original,crop_3x,crop_12x,blank,downsample_0_5,downsample_0_25")[0],
        make.prompt(),
        options=RunOptions(scorer="tiny_letter", where=Destination(out=tmp_path / "run")),
    )
    items = read_items(outcome.store, SCORER)
    assert len({cell.cut for cell in items.table.cells.values()}) > 2 * 25
    assert summarise_items(items).close_views
    assert summarise_items(through_json(items)) == summarise_items(items)


def test_every_item_names_question_view_state_answer_score_and_size_seen(store):
    packed = pack_items(read_items(store, SCORER))
    assert {"id", "condition", "slot", "state", "answer", "score"} <= packed["items"].keys()
    assert len(packed["items"]["id"]["rows"]) == 25 * 4 * 4


def test_no_text_of_an_answer_and_no_picture_is_carried(store):
    packed = json.dumps(pack_items(read_items(store, SCORER)))
    assert "no idea" not in packed
    assert "file_sha256" not in packed.replace('"file_sha256": ""', "")


@pytest.mark.parametrize("damage", [
    lambda packed: {**packed, "format": "eyechart-items@9"},
    lambda packed: {name: value for name, value in packed.items() if name != "table"},
    lambda packed: {**packed, "items": {"id": {"values": [], "rows": [3]}}},
    lambda packed: {**packed, "views": 7},
    lambda packed: [packed],
])  # fmt: skip
def test_damaged_items_are_refused(store, damage):
    with pytest.raises(SchemaError, match=r"here: (no items|the items are damaged)"):
        unpack_items(damage(pack_items(read_items(store, SCORER))), "here")
