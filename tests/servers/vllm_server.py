"""What vLLM says of pictures before it answers: its render endpoint and its tokenizer, in the shapes of vLLM 0.33."""

import base64
import io
import math
import struct

import msgspec
from PIL import Image
from servers.dialects import _picture

TEXT_TOKENS, MARKERS = 9, 2


def vllm(grid_of, *, patch_px=16, block=2, has_render=True, has_tokenize=True, honours_payload=True, most_tokens=None):
    """Return how a server replies to everything: status and body.

    Args:
        grid_of: Columns and rows of patches for a width and a height.
        patch_px: Side of a patch.
        block: Patches per side of a token.
        has_render: Whether there is ``/v1/chat/completions/render``.
        has_tokenize: Whether there is ``/tokenize``.
        honours_payload: Whether ``mm_payload`` can leave the tensors out.
        most_tokens: Context length; longer prompts are refused.
    """

    def say(received):
        if received.path not in {"/v1/chat/completions/render", "/tokenize"}:
            return 404, {"error": {"message": "Not Found"}}
        grids = [grid_of(*size) for size in sizes_in(received)]
        lengths = [columns * rows // block**2 for columns, rows in grids]
        n_tokens = TEXT_TOKENS + sum(MARKERS + length for length in lengths)
        if most_tokens is not None and n_tokens > most_tokens:
            text = f"The prompt ({n_tokens} tokens) is longer than the maximum context length of {most_tokens}"
            return 400, {"error": {"message": text, "type": "BadRequestError", "param": "input_tokens", "code": 400}}
        if received.path == "/tokenize":
            body = {"count": n_tokens, "max_model_len": 32768, "tokens": []}
            return (200, body) if has_tokenize else (404, {"error": {"message": "Not Found"}})
        if not has_render:
            return 404, {"error": {"message": "Not Found"}}
        features = {
            "mm_hashes": {"image": ["h"] * len(grids)},
            "mm_placeholders": {"image": [{"offset": 1, "length": length} for length in lengths]},
            "kwargs_data": None,
            "mm_metadata": None,
        }
        if received.json.get("mm_payload", "tensors") == "tensors" or not honours_payload:
            features["kwargs_data"] = {"image": [packed(grid, patch_px) for grid in grids]}
        return 200, {"request_id": "r", "token_ids": [0] * n_tokens, "features": features}

    return say


def capped(most, block=32, least=65_536):
    """Return the patches of 16 px that Qwen3-VL's processor makes under a cap of so many pixels."""

    def grid(width, height):
        columns, rows = max(1, round(width / block)), max(1, round(height / block))
        if columns * rows * block**2 > most:
            shrink = math.sqrt(width * height / most)
            columns, rows = max(1, int(width / shrink // block)), max(1, int(height / shrink // block))
        elif columns * rows * block**2 < least:
            grow = math.sqrt(least / (width * height))
            columns, rows = math.ceil(width * grow / block), math.ceil(height * grow / block)
        return columns * 2, rows * 2

    return grid


def sizes_in(received):
    """Return the sizes of the pictures in a chat request, of whatever path."""
    content = received.json["messages"][-1]["content"]
    parts = content if isinstance(content, list) else []
    pictures = [picture for part in parts if (picture := _picture(part)) is not None]
    found = []
    for picture in pictures:
        with Image.open(io.BytesIO(picture.encoded)) as opened:
            found.append(opened.size)
    return found


def packed(grid, patch_px):
    """Return a picture's tensors as vLLM packs them; the values of the pixels are left out."""
    columns, rows = grid
    thw = msgspec.msgpack.Ext(3, struct.pack("<3q", 1, rows, columns))
    pixels = msgspec.msgpack.Ext(3, b"")
    field = ["batched", {"keep_on_cpu": True}]
    item = {
        "pixel_values": {"data": ["float32", [rows * columns, 3 * 2 * patch_px**2], pixels], "field": field},
        "image_grid_thw": {"data": ["int64", [3], thw], "field": field},
    }
    return base64.b64encode(msgspec.msgpack.encode(item)).decode()
