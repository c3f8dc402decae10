"""Counted tokens against models that run: as many vision features arrive as placeholders were counted."""

import pytest
from seen.local.families import FAMILIES, build

from eyechart.schema import Size
from eyechart.seen.local.processor import LocalProcessor

pytestmark = pytest.mark.hf

TEXT = {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "max_position_embeddings": 16384,
    "pad_token_id": 1,
}
VISION = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}


def qwen(t, ids):
    rope = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [2, 3, 3]}
    vision = {"depth": 1, "hidden_size": 32, "intermediate_size": 32, "out_hidden_size": 32, "num_heads": 2}
    config = t.Qwen2_5_VLConfig(
        text_config={**TEXT, "vocab_size": 99, "rope_parameters": rope},
        vision_config={**vision, "window_size": 112, "fullatt_block_indexes": [0]},
        image_token_id=ids("<|image_pad|>"),
        video_token_id=ids("<|video_pad|>"),
        vision_start_token_id=ids("<|vision_start|>"),
        vision_end_token_id=ids("<|vision_end|>"),
    )
    return t.Qwen2_5_VLForConditionalGeneration(config)


def llava_next(t, ids):
    config = t.LlavaNextConfig(
        text_config={**TEXT, "vocab_size": 99, "model_type": "llama"},
        vision_config={**VISION, "model_type": "clip_vision_model", "image_size": 336, "patch_size": 14},
        image_token_index=ids("<image>"),
        image_grid_pinpoints=[[336, 672], [672, 336], [672, 672]],
        vision_feature_layer=-1,
        image_seq_length=576,
    )
    return t.LlavaNextForConditionalGeneration(config)


def idefics3(t, ids):
    config = t.Idefics3Config(
        text_config={**TEXT, "vocab_size": 99, "model_type": "llama"},
        vision_config={**VISION, "image_size": 364, "patch_size": 14},
        image_token_id=ids("<image>"),
        scale_factor=2,
        pad_token_id=1,
    )
    return t.Idefics3ForConditionalGeneration(config)


def internvl(t, ids):
    config = t.InternVLConfig(
        text_config={**TEXT, "vocab_size": 99, "model_type": "qwen2"},
        vision_config={**VISION, "image_size": [448, 448], "patch_size": [14, 14]},
        image_token_id=ids("<c>"),
    )
    return t.InternVLForConditionalGeneration(config)


CASES = {
    "qwen2.5-vl": (qwen, {}),
    "llava-next": (
        llava_next,
        {
            "size": {"shortest_edge": 336},
            "crop_size": {"height": 336, "width": 336},
            "image_grid_pinpoints": [[336, 672], [672, 336], [672, 672]],
        },
    ),
    "idefics3": (idefics3, {}),
    "internvl": (internvl, {"size": {"height": 448, "width": 448}}),
}


@pytest.mark.parametrize("name", CASES)
def test_model_takes_exactly_the_counted_tokens(name):
    import torch
    import transformers

    make, arguments = CASES[name]
    processor = build(name)
    model = make(transformers, processor.tokenizer.convert_tokens_to_ids).eval()
    (seen,) = LocalProcessor(processor, arguments).see([Size(700, 500)]).pictures
    token = getattr(processor, "image_token", "<image>")
    picture = torch.zeros((3, 500, 700), dtype=torch.uint8)
    inputs = processor(text=[f"{token} ?"], images=[[picture]], return_tensors="pt", **arguments)
    placeholder = max(inputs["input_ids"][0].tolist(), key=inputs["input_ids"][0].tolist().count)
    assert (inputs["input_ids"] == placeholder).sum().item() == seen.tokens
    with torch.inference_mode():
        model(**inputs)  # raises where features and placeholders differ
        inputs["input_ids"][0, inputs["input_ids"][0].tolist().index(placeholder)] = 0
        with pytest.raises(ValueError, match="do not match"):
            model(**inputs)


def test_cases_are_families():
    assert set(CASES) <= set(FAMILIES)
