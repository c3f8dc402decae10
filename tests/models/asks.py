"""Pictures and questions as models receive them."""

import hashlib
import io
from dataclasses import dataclass

from PIL import Image

from eyechart.kinds import Ask, AskedIdentity
from eyechart.schema import Sampling, Size

KEY = "sk-planted-0123456789abcdef"


@dataclass(frozen=True)
class OneColour:
    """A picture of one colour as a model receives it."""

    size: Size
    media_type: str
    payload: bytes

    @property
    def pixel_sha256(self) -> str:
        return hashlib.sha256(self.payload).hexdigest()

    def pixels(self):
        import numpy as np

        return np.asarray(Image.open(io.BytesIO(self.payload)).convert("RGB"))

    def encoded(self) -> bytes:
        return self.payload


def picture(colour=(255, 0, 0), width=40, height=30, kind="PNG") -> OneColour:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(buffer, kind)
    return OneColour(Size(width, height), f"image/{kind.lower()}", buffer.getvalue())


def ask(*pictures, prompt="Which colour?\nA. red\nB. green", sampling=None, identity=None, n_options=2) -> Ask:
    choices = ("red", "green", "blue", "white", "black")[:n_options]
    return Ask(prompt=prompt, pictures=pictures, choices=choices, sampling=sampling or Sampling(), identity=identity)


def asked(question_id="q1", view="original", condition=None, repeat=0, request_id=None) -> AskedIdentity:
    name = request_id or f"{question_id}/{condition or view}/{repeat}"
    return AskedIdentity(name, question_id, view, condition or view, repeat)
