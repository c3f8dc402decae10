"""Every registered member keeps the contract of its kind, and what breaks a contract is caught."""

import msgspec
import pytest

from eyechart import registry
from eyechart.contracts import (
    ContractError,
    check_figure,
    check_prompt,
    check_report,
    check_scorer,
    check_view,
    made_summary,
)
from eyechart.geometry import GeometryPolicy
from eyechart.kinds import PlannedPicture, ReadFromFile
from eyechart.schema import (
    Blank,
    Box,
    Composition,
    Crop,
    Downsample,
    Grid,
    NoImage,
    Original,
    OriginalPlusCrop,
    Size,
    TargetOnly,
    Whiteground,
)
from eyechart.views.crop import CropKind

EXAMPLES = {
    "original": [Original()],
    "crop": [Crop(1.0), Crop(1.5), Crop(18.0), Crop(2.000001)],
    "whiteground": [Whiteground(1.0), Whiteground(6.0)],
    "downsample": [Downsample(1.0), Downsample(0.0625), Downsample(0.33)],
    "target_only": [TargetOnly(None), TargetOnly(1.0), TargetOnly(18.0)],
    "grid": [Grid("white", 10, 10, 3, 7), Grid("captioned", 3, 3, 0, 2, 5)],
    "no_image": [NoImage()],
    "blank": [Blank()],
    "original_plus_crop": [OriginalPlusCrop(1.5)],
}


@pytest.mark.parametrize("name", registry.names("view"))
def test_view_keeps_its_contract(name):
    check_view(registry.load("view", name)(), EXAMPLES[name])


@pytest.mark.parametrize("name", registry.names("prompt"))
def test_prompt_keeps_its_contract(name):
    member = registry.load("prompt", name)
    if not isinstance(member, ReadFromFile):  # its tests give it a file
        check_prompt(member())


@pytest.mark.parametrize("name", registry.names("scorer"))
def test_scorer_keeps_its_contract(name):
    check_scorer(registry.load("scorer", name)())


@pytest.mark.parametrize("name", registry.names("figure"))
def test_figure_keeps_its_contract(name):
    check_figure(registry.load("figure", name)(), made_summary())


@pytest.mark.parametrize("name", registry.names("report"))
def test_report_keeps_its_contract(name, tmp_path):
    check_report(registry.load("report", name)(), made_summary(), tmp_path)


@pytest.mark.parametrize("kind", ["model", "benchmark"])
def test_models_and_benchmarks_declare_their_settings(kind):
    for name in registry.names(kind):
        member = registry.load(kind, name)
        declared = member.settings if kind == "model" else member.options
        assert issubclass(declared, msgspec.Struct), name
        declared()  # every setting has a default


class Outside(CropKind):
    """A view whose target lies outside its picture."""

    def plan(self, view, question, policy: GeometryPolicy):
        return (PlannedPicture(geometry=Composition(canvas=Size(4, 4), kept=None), target=Box(0, 0, 9, 9)),)


class Greedy(CropKind):
    """A view that reads ids of others."""

    def parse(self, view_id: str):
        return Crop(1.0)


class Overfull(CropKind):
    """A view that keeps more than its canvas holds."""

    def plan(self, view, question, policy: GeometryPolicy):
        return (PlannedPicture(geometry=Composition(canvas=Size(4, 4), kept=Box(0, 0, 9, 9))),)


@pytest.mark.parametrize(
    ("kind", "match"),
    [(Outside(), "must lie inside"), (Greedy(), "must be read as None"), (Overfull(), "must fit on the canvas")],
)
def test_broken_view_is_caught(kind, match):
    with pytest.raises(ContractError, match=match):
        check_view(kind, [Crop(1.0)])


def test_view_without_examples_is_refused():
    with pytest.raises(ContractError, match="at least one example"):
        check_view(CropKind(), [])
