"""Tiny, randomly initialised checkpoints of real architectures, built on the spot: no hub, no network."""

from pathlib import Path

# Llama 3.2 Vision (mllama) crosses over instead of spending tokens, so its tests count none.
ARCHITECTURES = ("qwen2_vl", "qwen2_5_vl", "idefics3", "llava_next", "llava_onevision", "smolvlm", "internvl")

_SENTENCES = (
    "what colour is the sign on the left of the picture? A red B blue C green D white",
    "answer with the letter of the option only",
    "how many windows can be seen in the image",
) * 20
_TEXT = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 32768,
}
_CLIP = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}


def build(architecture: str, folder: Path) -> Path:
    """Write a checkpoint with its processor and return its folder; the same seed gives the same weights."""
    import torch

    torch.manual_seed(0)
    model, processor = _MAKERS[architecture]()
    model.generation_config.eos_token_id = processor.tokenizer.eos_token_id
    model.generation_config.pad_token_id = processor.tokenizer.pad_token_id
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _tokenizer(special, named=None):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    plain = Tokenizer(models.BPE())
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    chat = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=[*chat, *special], initial_alphabet=alphabet)
    plain.train_from_iterator(_SENTENCES, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=plain,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        bos_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>", *special],
        extra_special_tokens=named or {},
    )


def _template(image):
    """A ChatML template with the family's image placeholder."""
    part = "{% if c['type'] == 'image' %}" + image + "{% else %}{{ c['text'] }}{% endif %}"
    turn = "<|im_start|>{{ m['role'] }}\n{% for c in m['content'] %}" + part + "{% endfor %}<|im_end|>\n"
    answer = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    return "{% for m in messages %}" + turn + "{% endfor %}" + answer


def _ends(tokenizer):
    ids = tokenizer.convert_tokens_to_ids
    end, pad = ids("<|im_end|>"), ids("<|endoftext|>")
    return {"vocab_size": len(tokenizer), "eos_token_id": end, "pad_token_id": pad, "bos_token_id": pad}


def _qwen(version):
    import transformers

    names = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
    tokenizer = _tokenizer(names)
    ids = tokenizer.convert_tokens_to_ids
    special = {
        "image_token_id": ids("<|image_pad|>"),
        "video_token_id": ids("<|video_pad|>"),
        "vision_start_token_id": ids("<|vision_start|>"),
        "vision_end_token_id": ids("<|vision_end|>"),
    }
    rope = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [2, 3, 3]}
    text = {**_TEXT, **_ends(tokenizer), "rope_parameters": rope}
    grid = {"depth": 2, "num_heads": 2, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2}
    if version == "2":
        vision = {**grid, "embed_dim": 32, "hidden_size": 64}
        config = transformers.Qwen2VLConfig(text_config=text, vision_config=vision, **special)
        model, kind = transformers.Qwen2VLForConditionalGeneration(config), transformers.Qwen2VLProcessor
    else:
        window = {"window_size": 112, "fullatt_block_indexes": [1], "intermediate_size": 64, "out_hidden_size": 64}
        vision = {**grid, **window, "hidden_size": 32}
        config = transformers.Qwen2_5_VLConfig(text_config=text, vision_config=vision, **special)
        model, kind = transformers.Qwen2_5_VLForConditionalGeneration(config), transformers.Qwen2_5_VLProcessor
    pictures = transformers.Qwen2VLImageProcessor(min_pixels=56 * 56, max_pixels=256 * 28 * 28)
    processor = kind(
        image_processor=pictures,
        tokenizer=tokenizer,
        video_processor=transformers.Qwen2VLVideoProcessor(),
        chat_template=_template("<|vision_start|><|image_pad|><|vision_end|>"),
    )
    return model, processor


def _idefics(kind):
    import transformers

    cells = [f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)]
    tokenizer = _tokenizer(["<image>", "<fake_token_around_image>", "<global-img>", "<end_of_utterance>", *cells])
    settings = {
        "image_token_id": tokenizer.convert_tokens_to_ids("<image>"),
        "scale_factor": 4,
        "pad_token_id": tokenizer.pad_token_id,
        "text_config": {**_TEXT, **_ends(tokenizer), "model_type": "llama"},
        "vision_config": {**_CLIP, "image_size": 128, "patch_size": 16},
    }
    parts = {"tokenizer": tokenizer, "chat_template": _template("<image>"), "image_seq_len": 4}
    size = {"size": {"longest_edge": 512}, "max_image_size": {"longest_edge": 128}}
    if kind == "idefics3":
        model = transformers.Idefics3ForConditionalGeneration(transformers.Idefics3Config(**settings))
        pictures = transformers.Idefics3ImageProcessor(**size)
        return model, transformers.Idefics3Processor(image_processor=pictures, **parts)
    model = transformers.SmolVLMForConditionalGeneration(transformers.SmolVLMConfig(**settings))
    pictures = transformers.SmolVLMImageProcessor(**size)
    video = transformers.SmolVLMVideoProcessor()
    return model, transformers.SmolVLMProcessor(image_processor=pictures, video_processor=video, **parts)


def _llava_next():
    import transformers

    tokenizer = _tokenizer(["<image>"])
    cells = [[112 * across, 112 * down] for across in range(1, 3) for down in range(1, 3)]
    config = transformers.LlavaNextConfig(
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_grid_pinpoints=cells,
        vision_feature_select_strategy="default",
        vision_feature_layer=-1,
        image_seq_length=64,
        text_config={**_TEXT, **_ends(tokenizer), "model_type": "llama"},
        vision_config={**_CLIP, "model_type": "clip_vision_model", "image_size": 112, "patch_size": 14},
    )
    pictures = transformers.LlavaNextImageProcessor(
        size={"shortest_edge": 112}, crop_size={"height": 112, "width": 112}, image_grid_pinpoints=cells
    )
    processor = transformers.LlavaNextProcessor(
        image_processor=pictures,
        tokenizer=tokenizer,
        chat_template=_template("<image>\n"),
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )
    return transformers.LlavaNextForConditionalGeneration(config), processor


def _llava_onevision():
    import transformers

    tokenizer = _tokenizer(["<image>", "<video>"])
    ids = tokenizer.convert_tokens_to_ids
    cells = [[112 * across, 112 * down] for across in range(1, 3) for down in range(1, 3)]
    vision = {**_CLIP, "model_type": "siglip_vision_model", "image_size": 112, "patch_size": 14}
    config = transformers.LlavaOnevisionConfig(
        image_token_index=ids("<image>"),
        video_token_index=ids("<video>"),
        image_grid_pinpoints=cells,
        vision_feature_select_strategy="full",
        vision_feature_layer=-1,
        text_config={**_TEXT, **_ends(tokenizer), "model_type": "qwen2"},
        vision_config={**vision, "vision_use_head": False},
    )
    size = {"height": 112, "width": 112}
    processor = transformers.LlavaOnevisionProcessor(
        image_processor=transformers.LlavaOnevisionImageProcessor(size=size, image_grid_pinpoints=cells),
        tokenizer=tokenizer,
        video_processor=transformers.LlavaOnevisionVideoProcessor(),
        chat_template=_template("<image>\n"),
        num_image_tokens=64,
        vision_feature_select_strategy="full",
    )
    return transformers.LlavaOnevisionForConditionalGeneration(config), processor


def _internvl():
    import transformers

    names = ["<img>", "</img>", "<IMG_CONTEXT>", "<video>"]
    roles = ("start_image_token", "end_image_token", "context_image_token", "video_token")
    tokenizer = _tokenizer(names, dict(zip(roles, names, strict=True)))
    ids = tokenizer.convert_tokens_to_ids
    vision = {**_CLIP, "image_size": [112, 112], "patch_size": [14, 14]}
    config = transformers.InternVLConfig(
        text_config={**_TEXT, **_ends(tokenizer), "model_type": "qwen2"},
        vision_config=vision,
        image_token_id=ids(names[2]),
        image_seq_length=16,
    )
    pictures = transformers.GotOcr2ImageProcessor(
        size={"height": 112, "width": 112}, crop_to_patches=True, min_patches=1, max_patches=4
    )
    processor = transformers.InternVLProcessor(
        image_processor=pictures,
        tokenizer=tokenizer,
        video_processor=transformers.InternVLVideoProcessor(),
        chat_template=_template("<IMG_CONTEXT>\n"),
        image_seq_length=16,
    )
    return transformers.InternVLForConditionalGeneration(config), processor


def _mllama():
    import transformers

    tokenizer = _tokenizer(["<|image|>"])
    text = {**_TEXT, **_ends(tokenizer), "cross_attention_layers": [1]}
    vision = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_global_layers": 1,
        "attention_heads": 2,
        "image_size": 112,
        "patch_size": 14,
        "vision_output_dim": 64,
        "max_num_tiles": 4,
        "intermediate_layers_indices": [0],
        "supported_aspect_ratios": [[1, 1], [1, 2], [2, 1], [2, 2], [1, 3], [3, 1], [1, 4], [4, 1]],
    }
    config = transformers.MllamaConfig(
        text_config=text, vision_config=vision, image_token_index=tokenizer.convert_tokens_to_ids("<|image|>")
    )
    pictures = transformers.MllamaImageProcessor(size={"height": 112, "width": 112}, max_image_tiles=4)
    processor = transformers.MllamaProcessor(
        image_processor=pictures, tokenizer=tokenizer, chat_template=_template("<|image|>")
    )
    return transformers.MllamaForConditionalGeneration(config), processor


_MAKERS = {
    "internvl": _internvl,
    "mllama": _mllama,
    "qwen2_vl": lambda: _qwen("2"),
    "qwen2_5_vl": lambda: _qwen("2.5"),
    "idefics3": lambda: _idefics("idefics3"),
    "smolvlm": lambda: _idefics("smolvlm"),
    "llava_next": _llava_next,
    "llava_onevision": _llava_onevision,
}
