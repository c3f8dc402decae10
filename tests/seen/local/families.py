"""Real processors of many model families, built from their default configuration with tokenizers of a few words."""

from collections.abc import Callable
from dataclasses import dataclass, field

ROWS = [f"<row_{row}_col_{column}>" for row in range(1, 9) for column in range(1, 9)]
QWEN = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
AYA = [
    *("<image>", "<|START_OF_IMG|>", "<|END_OF_IMG|>", "<|IMG_PATCH|>", "<|IMG_LINE_BREAK|>", "TILE", "TILE_GLOBAL"),
    *(f"TILE_{n}" for n in range(1, 13)),
]
LLAMA = ["<|image|>", "<|image_start|>", "<|image_end|>", "<|patch|>", "<|tile_x_separator|>", "<|tile_y_separator|>"]
MOLMO = ["<|image|>", "<im_patch>", "<im_col>", "<im_start>", "<im_end>", "<low_res_im_start>", "<|video|>"]
MOLMO += ["<frame_start>", "<frame_end>", "<im_low>"]
IDEFICS = ["<image>", "<fake_token_around_image>", "<global-img>", "<end_of_utterance>", *ROWS]
CLIP_TOKENS = {"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
PINPOINTS = [[336, 672], [672, 336], [672, 672]]


@dataclass(frozen=True)
class Family:
    """How to build a processor, and arguments under which it gives fewer or other tokens.

    ``image_processor`` is the class's name. ``tiles`` says whether ``pixel_values`` is a stack of pictures.
    """

    image_processor: str
    build: Callable[[object], object]
    overrides: dict = field(default_factory=dict)
    tiles: bool = True


def tokenizer(specials=(), **named):
    """Return a tokenizer that knows the special tokens and the question mark."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = ["[UNK]", "<eos>", *dict.fromkeys([*specials, *named.values()])]
    made = Tokenizer(models.WordLevel({word: n for n, word in enumerate([*words, "?"])}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.add_special_tokens(words)
    ends = {"unk_token": "[UNK]", "eos_token": "<eos>", "pad_token": "<eos>", "bos_token": "<eos>"}
    return PreTrainedTokenizerFast(tokenizer_object=made, **ends, extra_special_tokens=named)


def _llava(t, picture):
    return t.LlavaProcessor(picture, tokenizer(["<image>", "<video>"]), **CLIP_TOKENS)


def _gemma(t, image, **more):
    return {
        "image_processor": image,
        "tokenizer": tokenizer(boi_token="<b>", image_token="<i>", eoi_token="<e>", **more),
    }


FAMILIES = {
    "qwen2.5-vl": Family(
        "Qwen2VLImageProcessor",
        lambda t: t.Qwen2_5_VLProcessor(t.Qwen2VLImageProcessor(), tokenizer(QWEN), t.Qwen2VLVideoProcessor()),
        {"size": {"shortest_edge": 3136, "longest_edge": 100352}},
        tiles=False,
    ),
    "qwen3-vl": Family(
        "Qwen2VLImageProcessor",
        lambda t: t.Qwen3VLProcessor(
            t.Qwen2VLImageProcessor(patch_size=16), tokenizer(QWEN), t.Qwen3VLVideoProcessor()
        ),
        {"size": {"shortest_edge": 65536, "longest_edge": 131072}},
        tiles=False,
    ),
    "internvl": Family(
        "GotOcr2ImageProcessor",
        lambda t: t.InternVLProcessor(
            t.GotOcr2ImageProcessor(),
            tokenizer(
                start_image_token="<img>", end_image_token="</img>", context_image_token="<c>", video_token="<video>"
            ),
            t.InternVLVideoProcessor(),
        ),
        {"max_patches": 4},
    ),
    "aya": Family(
        "GotOcr2ImageProcessor",
        lambda t: t.AyaVisionProcessor(
            t.GotOcr2ImageProcessor(size={"height": 364, "width": 364}),
            tokenizer(AYA),
            patch_size=14,
            downsample_factor=2,
        ),
        {"max_patches": 3},
    ),
    "llava-clip": Family(
        "CLIPImageProcessor",
        lambda t: _llava(t, t.CLIPImageProcessor()),
        {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}},
    ),
    "llava-padded": Family(
        "LlavaImageProcessor",
        lambda t: _llava(t, t.LlavaImageProcessor(do_pad=True)),
        {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}},
    ),
    "paligemma": Family(
        "SiglipImageProcessor",
        lambda t: t.PaliGemmaProcessor(t.SiglipImageProcessor(image_seq_length=256), tokenizer(["<image>"])),
    ),
    "llava-next": Family(
        "LlavaNextImageProcessor",
        lambda t: t.LlavaNextProcessor(t.LlavaNextImageProcessor(), tokenizer(["<image>", "<video>"]), **CLIP_TOKENS),
    ),
    "llava-onevision": Family(
        "LlavaOnevisionImageProcessor",
        lambda t: t.LlavaOnevisionProcessor(
            t.LlavaOnevisionImageProcessor(),
            tokenizer(["<image>", "<video>"]),
            t.LlavaOnevisionVideoProcessor(),
            num_image_tokens=729,
            vision_feature_select_strategy="full",
        ),
    ),
    "gemma3": Family(
        "Gemma3ImageProcessor",
        lambda t: t.Gemma3Processor(**_gemma(t, t.Gemma3ImageProcessor())),
        {
            "do_pan_and_scan": True,
            "pan_and_scan_min_crop_size": 64,
            "pan_and_scan_max_num_crops": 4,
            "pan_and_scan_min_ratio_to_activate": 1.2,
        },
    ),
    "gemma4": Family(
        "Gemma4ImageProcessor",
        lambda t: t.Gemma4Processor(
            feature_extractor=t.Gemma4AudioFeatureExtractor(),
            video_processor=t.Gemma4VideoProcessor(),
            **_gemma(
                t, t.Gemma4ImageProcessor(), boa_token="<ba>", audio_token="<a>", eoa_token="<ea>", video_token="<v>"
            ),
        ),
        {"max_soft_tokens": 70},
        tiles=False,
    ),
    "pixtral": Family(
        "PixtralImageProcessor",
        lambda t: t.PixtralProcessor(t.PixtralImageProcessor(), tokenizer(["[IMG]", "[IMG_BREAK]", "[IMG_END]"])),
        {"size": {"longest_edge": 512}},
    ),
    "idefics2": Family(
        "Idefics2ImageProcessor",
        lambda t: t.Idefics2Processor(t.Idefics2ImageProcessor(), tokenizer(IDEFICS)),
        {"size": {"shortest_edge": 200, "longest_edge": 400}},
    ),
    "idefics3": Family(
        "Idefics3ImageProcessor",
        lambda t: t.Idefics3Processor(t.Idefics3ImageProcessor(), tokenizer(IDEFICS)),
        {"size": {"longest_edge": 728}},
    ),
    "smolvlm": Family(
        "SmolVLMImageProcessor",
        lambda t: t.SmolVLMProcessor(t.SmolVLMImageProcessor(), tokenizer(IDEFICS), t.SmolVLMVideoProcessor()),
        {"size": {"longest_edge": 728}},
    ),
    "glm-4.6v": Family(
        "Glm46VImageProcessor",
        lambda t: t.Glm46VProcessor(
            t.Glm46VImageProcessor(), tokenizer(["<|image|>", "<|video|>"]), t.Glm46VVideoProcessor()
        ),
        {"size": {"shortest_edge": 12544, "longest_edge": 250880}},
        tiles=False,
    ),
    "glm-4v": Family(
        "Glm4vImageProcessor",
        lambda t: t.Glm4vProcessor(
            t.Glm4vImageProcessor(), tokenizer(["<|image|>", "<|video|>"]), t.Glm4vVideoProcessor()
        ),
        {"size": {"shortest_edge": 12544, "longest_edge": 250880}},
        tiles=False,
    ),
    "ovis2": Family(
        "Ovis2ImageProcessor",
        lambda t: t.Ovis2Processor(t.Ovis2ImageProcessor(), tokenizer(["<IMG_ATOM>"], image_token="<image>")),
        {"max_patches": 4},
    ),
    "command-a-vision": Family(
        "Cohere2VisionImageProcessor",
        lambda t: t.Cohere2VisionProcessor(
            t.Cohere2VisionImageProcessor(),
            tokenizer(
                image_token="<|IMG_PATCH|>",
                boi_token="<|START_OF_IMG|>",
                eoi_token="<|END_OF_IMG|>",
                img_line_break_token="<|IMG_LINE_BREAK|>",
            ),
        ),
        {"max_patches": 2},
    ),
    "lfm2-vl": Family(
        "Lfm2VlImageProcessor",
        lambda t: t.Lfm2VlProcessor(
            t.Lfm2VlImageProcessor(),
            tokenizer(
                [f"<|img_row_{row}_col_{column}|>" for row in range(1, 11) for column in range(1, 11)],
                image_token="<image>",
                image_start_token="<|image_start|>",
                image_end_token="<|image_end|>",
                image_thumbnail_token="<|img_thumbnail|>",
            ),
        ),
        {"max_tiles": 4},
        tiles=False,
    ),
    "llama4": Family(
        "Llama4ImageProcessor",
        lambda t: t.Llama4Processor(t.Llama4ImageProcessor(), tokenizer(LLAMA), chat_template=None),
        {"max_patches": 4},
    ),
    "phi-4": Family(
        "Phi4MultimodalImageProcessor",
        lambda t: t.Phi4MultimodalProcessor(
            t.Phi4MultimodalImageProcessor(),
            t.Phi4MultimodalFeatureExtractor(),
            tokenizer(image_token="<|image|>", audio_token="<|audio|>"),
        ),
        {"dynamic_hd": 4},
    ),
    "molmo2": Family(
        "Molmo2ImageProcessor",
        lambda t: t.Molmo2Processor(t.Molmo2ImageProcessor(), t.Molmo2VideoProcessor(), tokenizer(MOLMO)),
        {"max_crops": 4},
        tiles=False,
    ),
    "minicpm-v-4.6": Family(
        "MiniCPMV4_6ImageProcessor",
        lambda t: t.MiniCPMV4_6Processor(
            t.MiniCPMV4_6ImageProcessor(),
            t.MiniCPMV4_6VideoProcessor(),
            tokenizer(
                image_token="<it>",
                video_token="<vt>",
                image_start_token="<image>",
                image_end_token="</image>",
                slice_start_token="<slice>",
                slice_end_token="</slice>",
                image_id_start_token="<image_id>",
                image_id_end_token="</image_id>",
            ),
        ),
        {"max_slice_nums": 4},
        tiles=False,
    ),
    "kimi-k2.5": Family(
        "Kimi_K25ImageProcessor",
        lambda t: t.Kimi_K25Processor(
            t.Kimi_K25ImageProcessor(),
            tokenizer(image_token="<|media_pad|>", video_token="<|video|>"),
            t.Kimi_K25VideoProcessor(),
        ),
        tiles=False,
    ),
    "aria": Family(
        "AriaImageProcessor",
        lambda t: t.AriaProcessor(t.AriaImageProcessor(), tokenizer(image_token="<|img|>")),
        {"max_image_size": 490},
    ),
    "deepseek-vl": Family(
        "DeepseekVLImageProcessor",
        lambda t: t.DeepseekVLProcessor(t.DeepseekVLImageProcessor(), tokenizer(image_token="<image_placeholder>")),
    ),
    "janus": Family(
        "JanusImageProcessor",
        lambda t: t.JanusProcessor(
            t.JanusImageProcessor(), tokenizer(image_token="<image_placeholder>", boi_token="<b>", eoi_token="<e>")
        ),
    ),
    "deepseek-ocr-2": Family(
        "DeepseekOcr2ImageProcessor",
        lambda t: t.DeepseekOcr2Processor(t.DeepseekOcr2ImageProcessor(), tokenizer(image_token="<image>")),
    ),
    "perception-lm": Family(
        "PerceptionLMImageProcessor",
        lambda t: t.PerceptionLMProcessor(
            t.PerceptionLMVideoProcessor(),
            t.PerceptionLMImageProcessor(),
            tokenizer(image_token="<|image|>", video_token="<|video|>"),
            patch_size=14,
        ),
        {"max_num_tiles": 4},
    ),
    "chameleon": Family(
        "ChameleonImageProcessor",
        lambda t: t.ChameleonProcessor(
            t.ChameleonImageProcessor(), tokenizer(["<image>"], boi_token="<b>", eoi_token="<e>")
        ),
    ),
    "paddleocr-vl": Family(
        "PaddleOCRVLImageProcessor",
        lambda t: t.PaddleOCRVLProcessor(t.PaddleOCRVLImageProcessor(), tokenizer(image_token="<|IMAGE|>")),
        {"size": {"shortest_edge": 28224, "longest_edge": 100352}},
        tiles=False,
    ),
    "ernie-4.5-vl": Family(
        "Ernie4_5_VLMoeImageProcessor",
        lambda t: t.Ernie4_5_VLMoeProcessor(
            t.Ernie4_5_VLMoeImageProcessor(),
            tokenizer(
                image_token="<i>",
                image_start_token="<s>",
                image_end_token="<e>",
                video_token="<v>",
                video_start_token="<vs>",
                video_end_token="<ve>",
            ),
            t.Ernie4_5_VLMoeVideoProcessor(),
        ),
        {"size": {"shortest_edge": 3136, "longest_edge": 100352}},
        tiles=False,
    ),
    "video-llama-3": Family(
        "VideoLlama3ImageProcessor",
        lambda t: t.VideoLlama3Processor(
            t.VideoLlama3ImageProcessor(),
            tokenizer(image_token="<image>", video_token="<video>"),
            t.VideoLlama3VideoProcessor(),
        ),
        {"size": {"shortest_edge": 3136, "longest_edge": 100352}},
        tiles=False,
    ),
    "step-3.7": Family(
        "Step3p7ImageProcessor",
        lambda t: t.Step3p7Processor(t.Step3p7ImageProcessor(), tokenizer(image_token="<im_patch>")),
    ),
}


def build(name):
    """Return the processor of a family."""
    import transformers

    transformers.logging.set_verbosity_error()
    return FAMILIES[name].build(transformers)
