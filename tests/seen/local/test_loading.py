"""Loading a model's processor as the rule of what it sees."""

import datetime
from importlib.util import find_spec

import pytest
from seen.local.families import build
from seen.made import identity, picture, request

from eyechart.errors import MissingDependencyError, UsageError
from eyechart.schema import Box, Size
from eyechart.seen.check import check_pictures
from eyechart.seen.ledger import planned_seen
from eyechart.seen.local.loading import load_processor, processor_rule
from eyechart.seen.rules import Lookup
from eyechart.seen.shown import ShownPicture, shown_pictures

TODAY = datetime.date(2026, 11, 30)


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed here")
def test_missing_torch_names_the_extra():
    with pytest.raises(MissingDependencyError, match="torch is not installed") as caught:
        load_processor("Org/Name")
    assert "eyechart[hf]" in caught.value.hint


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("model")
    build("qwen2.5-vl").save_pretrained(place)
    return place


@pytest.mark.hf
def test_saved_processor_is_loaded_from_its_folder_and_executed(folder):
    rule = processor_rule(load_processor(str(folder)), identity("hf/tiny"), TODAY)
    one = picture((3840, 2160), target=Box(100, 100, 164, 124))
    seen = planned_seen(request(one), 0, Lookup(rule))
    assert (seen.evidence, seen.rule_date) == ("executed", "2026-11-30")
    assert seen.rule_id.startswith("Qwen2VLImageProcessor@transformers-")
    assert seen.seen_size == Size(1316, 728)
    assert seen.visual_tokens == 1222
    assert seen.configuration_sha256 == rule.sha256


@pytest.mark.hf
def test_arguments_of_the_inference_reach_the_processor(folder):
    arguments = {"size": {"shortest_edge": 3136, "longest_edge": 12845056}}
    rule = processor_rule(load_processor(str(folder), arguments=arguments), identity("hf/tiny"), TODAY)
    assert rule.apply(Size(3840, 2160)).tokens == 10549


@pytest.mark.hf
def test_shape_that_the_processor_cannot_take_is_a_refused_view(folder):
    rule = processor_rule(load_processor(str(folder)), identity("hf/tiny"), TODAY)
    shown = [ShownPicture("q1", "original", picture((5000, 10)))]
    (model,) = check_pictures(shown, [identity("hf/tiny")], today=TODAY, own_rules=[rule]).models
    (view,) = model.views
    assert sum(view.refused.values()) == 1
    assert view.seen_size is None


@pytest.mark.hf
def test_folder_without_a_processor_is_named_with_what_to_give(tmp_path):
    with pytest.raises(UsageError, match="has no processor that transformers can load"):
        load_processor(str(tmp_path))


@pytest.mark.hf
def test_second_picture_of_a_view_is_accounted_for_with_the_first(tmp_path):
    build("llava-onevision").save_pretrained(tmp_path)
    rule = processor_rule(load_processor(str(tmp_path)), identity("hf/tiny"), TODAY)
    whole, detail = picture((1000, 700)), picture((1000, 700), cut=Box(0, 0, 400, 400))
    shown = [
        *shown_pictures("q1", "original", [whole]),
        *shown_pictures("q1", "original_plus_crop_3x", [whole, detail]),
    ]
    (model,) = check_pictures(shown, [identity("hf/tiny")], today=TODAY, own_rules=[rule]).models
    tokens = {view.view: view.tokens for view in model.views}
    assert tokens["original_plus_crop_3x"] < tokens["original"]
    assert tokens["original_plus_crop_3x#2"]
