"""What local servers do to pictures behind their doors: tokens by the pictures' decoded sizes, in code of their own."""

import io
import math

from PIL import Image
from servers.dialects import Answer

TEXT_TOKENS = 11


def counting(tokens_of, *, apart=False, marker=2):
    """Return how a server answers: with the tokens of its rule, of the text, and of two markers around each picture."""

    def answer(received):
        tokens = 0
        for picture in received.pictures:
            with Image.open(io.BytesIO(picture.encoded)) as opened:
                tokens += marker + tokens_of(*opened.size)
        return Answer(text="A", input_tokens=TEXT_TOKENS + tokens, image_tokens=tokens if apart else None)

    return answer


def patches_of_32(width, height):
    """Like OpenAI's guide: at most 2048 px and 1536 patches, 1.62 tokens each."""
    longer = max(width, height)
    if longer > 2048:
        width, height = width * 2048 / longer, height * 2048 / longer
    if math.ceil(width / 32) * math.ceil(height / 32) > 1536:
        shrink = math.sqrt(32 * 32 * 1536 / (width * height))
        columns, rows = width * shrink / 32, height * shrink / 32
        shrink *= min(math.floor(columns + 1e-9) / columns, math.floor(rows + 1e-9) / rows)
        width, height = math.floor(width * shrink + 1e-9), math.floor(height * shrink + 1e-9)
    return -(-min(1536, math.ceil(width / 32) * math.ceil(height / 32)) * 162 // 100)


def patches_of_28(width, height, edge=1568, most=1568):
    """Like Claude's code, but trying every longer side from the top."""

    def fits(a, b):
        return math.ceil(max(a, b) / 28) * 28 <= edge and math.ceil(a / 28) * math.ceil(b / 28) <= most

    longer, shorter = max(width, height), min(width, height)
    side = longer
    while not fits(side, max(1, round(side * shorter / longer)) if side < longer else shorter):
        side -= 1
    other = shorter if side == longer else max(1, round(side * shorter / longer))
    return math.ceil(side / 28) * math.ceil(other / 28)


def blocks_of_32(width, height, least=65_536, most=1_605_632):
    """Like Qwen3-VL behind a harness that caps pictures at 1.6 megapixels."""
    columns, rows = max(1, round(width / 32)), max(1, round(height / 32))
    if columns * rows * 1024 > most:
        shrink = math.sqrt(width * height / most)
        columns, rows = max(1, int(width / shrink // 32)), max(1, int(height / shrink // 32))
    elif columns * rows * 1024 < least:
        grow = math.sqrt(least / (width * height))
        columns, rows = math.ceil(width * grow / 32), math.ceil(height * grow / 32)
    return columns * rows


def behind_a_client(width, height):
    """Like Claude's larger tier behind a client that shrinks pictures to 2000 px and tells the model so."""
    picture = Image.new("1", (width, height))
    picture.thumbnail((2000, 2000))
    note = 40 if picture.size != (width, height) else 0
    return patches_of_28(*picture.size, edge=2576, most=4784) + note


def tiles_of_512(width, height):
    """Like OpenAI's older models."""
    shrink = min(1, 2048 / max(width, height))
    width, height = width * shrink, height * shrink
    shrink = min(1, 768 / min(width, height))
    return 85 + 170 * math.ceil(int(width * shrink) / 512) * math.ceil(int(height * shrink) / 512)


def flat(_width, _height):
    return 230


def unheard_of(width, height):
    return width % 97 + height
