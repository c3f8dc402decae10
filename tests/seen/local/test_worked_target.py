"""The worked target of 64 × 24 px in an 8K master, as real processors show it under six views."""

import json
from pathlib import Path

import pytest
from seen.made import picture

from eyechart.schema import Box, Size
from eyechart.seen.ledger import chain_of, target_on_grid
from eyechart.seen.local.processor import LocalProcessor

pytestmark = pytest.mark.hf

MASTER = Size(7680, 4320)
VIEWS = {
    "original 7680x4320": picture(MASTER, target=Box(1000, 1000, 1064, 1024)),
    "downsample 0.5": picture(MASTER, resized=(3840, 2160), target=Box(500, 500, 532, 512)),
    "downsample 0.25": picture(MASTER, resized=(1920, 1080), target=Box(250, 250, 266, 256)),
    **{
        f"crop {side}x{side} native": picture(
            MASTER, cut=Box(900, 900, 900 + side, 900 + side), target=Box(100, 100, 164, 124)
        )
        for side in (2048, 1024, 448)
    },
}
WORKED = [json.loads(line) for line in Path(__file__).with_name("worked_target.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("row", WORKED, ids=lambda row: f"{row['model']}-{row['view']}")
def test_target_px_is_that_of_the_worked_table(row):
    import transformers

    processor = LocalProcessor(getattr(transformers, row["processor"])(**row["config"]), row["arguments"])
    one = VIEWS[row["view"]]
    (seen,) = processor.see([one.size]).pictures
    target = target_on_grid(one, chain_of(one, seen.stages), seen.cell_px)
    assert target.px == pytest.approx(row["target_px"], abs=0.06)
    assert target.presented_px == pytest.approx(row["presented_px"], abs=0.06)
    if target.tokens is not None:
        assert target.tokens == pytest.approx(row["tokens"], abs=0.0051)
