"""An OCR model, not a VLM: RapidOCR reads the text in the pixels, and an option is chosen if it was read."""

import asyncio
import hashlib
import importlib.metadata
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from eyechart.errors import MissingDependencyError, RefusedInputError, UsageError
from eyechart.kinds import Ask, Model, ModelOptions, ObservedPicture, Reply, SentPicture
from eyechart.models._option_reading import MATCHING_VERSION, option_read
from eyechart.registry import unknown_name
from eyechart.schema import JsonObject, ModelIdentity, Size, content_sha256
from eyechart.settings import read_settings

if TYPE_CHECKING:
    from rapidocr import RapidOCR

__all__ = ["OcrKind"]

LABEL = "OCR model, not a VLM"
CANNOT_TELL = "cannot tell"
"""The answer where no option was read. Scorers know this exact text."""

# Weights inside the rapidocr 3.10 wheel (Apache-2.0): PP-OCRv6 small detection and recognition, and the angle model.
WEIGHTS = {
    "Det": "PP-OCRv6_det_small.onnx",
    "Rec": "PP-OCRv6_rec_small.onnx",
    "Cls": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
}
_BLOCK_PX = 32  # RapidOCR rounds the sides of what it resizes to this, because its networks halve five times
_SMALLEST_SIDE_PX = 30
_WAITING_PER_WORKER = 4


class OcrSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of ``ocr/rapidocr``; all but ``workers`` are part of the model's identity.

    Args:
        max_side_px: A picture with a longer side is shrunk to this, with bilinear sampling and no antialiasing.
        min_side_px: A picture with a shorter side is enlarged to this.
        detector_min_side_px: The detector, not the reader of lines, sees a picture enlarged to this shorter side.
            RapidOCR's own default is 736; small crops are then enlarged tenfold, and were read worse and slower.
        line_score: Lines read with less confidence are dropped, in [0, 1].
        workers: Pictures read at the same time, one thread each; None for one per CPU.
    """

    max_side_px: int = 2000
    min_side_px: int = 30
    detector_min_side_px: int = 256
    line_score: float = 0.5
    workers: int | None = None


class OcrKind:
    """OCR engines that answer multiple-choice questions about text; ``rapidocr`` is the only one."""

    settings = OcrSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model; its weights are hashed now and loaded with the first picture.

        Raises:
            UsageError: If the name or a setting is wrong.
            MissingDependencyError: If rapidocr, onnxruntime or the weights are not installed.
        """
        if name != "rapidocr":
            raise unknown_name("OCR model", name, ("rapidocr",))
        settings = read_settings(OcrSettings, options.settings, "ocr/rapidocr")
        _check_settings(settings)
        if options.extra_body or options.base_url:
            raise UsageError("ocr/rapidocr runs on this machine", hint="leave out --base-url and --extra-body")
        return OcrModel(settings, options.revision)


class PictureText(NamedTuple):
    """What was read in one picture: its lines in reading order, and the size they were read at."""

    lines: tuple[str, ...]
    seen_size: Size


class OcrModel:
    """RapidOCR as an answerer. Each distinct picture is read once and serves all its questions.

    It sees no names, boxes or views: only pixels and the options. Whatever is not about text in the picture is
    answered with ``cannot tell``.
    """

    reads: Literal["pixels", "identity"] = "pixels"
    max_concurrency: int | None

    def __init__(self, settings: OcrSettings, revision: str | None = None) -> None:
        self._settings = settings
        self._weights = weight_files()
        hashed: JsonObject = {name: value for name, value in _settings_dict(settings).items() if name != "workers"}
        self.identity = ModelIdentity(
            provider="ocr",
            name="rapidocr",
            revision=revision,
            fingerprint=_fingerprint(self._weights),
            settings={**hashed, "matching": MATCHING_VERSION},
        )
        workers = settings.workers or _usable_cpus()
        # Questions about one picture wait for the same pass, so more may wait than are read.
        self.max_concurrency = _WAITING_PER_WORKER * workers
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="rapidocr")
        self._texts: dict[str, Future[PictureText]] = {}
        self._engine: RapidOCR | None = None
        self._engine_lock = threading.Lock()

    async def answer(self, ask: Ask) -> Reply:
        """Answer with the letter of the option that was read, or ``cannot tell``.

        Raises:
            RefusedInputError: If a picture is too thin to be resized.
        """
        texts = [await self._text_of(picture) for picture in ask.pictures]
        lines = [line for text in texts for line in text.lines]
        index = option_read(lines, ask.choices)
        return Reply(
            text=CANNOT_TELL if index is None else chr(ord("A") + index),
            finish="stop",
            provider_fingerprint=f"rapidocr {importlib.metadata.version('rapidocr')}",
            seen=tuple(self._observed(text.seen_size) for text in texts),
            extra={"lines_read": lines, "label": LABEL},
        )

    def predict_seen(self, sent: Size) -> ObservedPicture | None:
        """Return the size lines will be read at, None if the picture will be refused."""
        seen = read_size(sent, self._settings)
        return None if seen is None else self._observed(seen)

    async def close(self) -> None:
        """Drop waiting pictures and let running ones end."""
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)

    async def _text_of(self, picture: SentPicture) -> PictureText:
        known = self._texts.get(picture.pixel_sha256)
        if known is None:
            known = self._texts[picture.pixel_sha256] = self._pool.submit(self._read, picture)
        # Shielded: if one question is cancelled, the others still wait for this picture.
        return await asyncio.shield(asyncio.wrap_future(known))

    def _read(self, picture: SentPicture) -> PictureText:
        import numpy as np

        if read_size(picture.size, self._settings) is None:
            raise RefusedInputError(
                f"RapidOCR cannot resize a picture of {picture.size.width}×{picture.size.height} pixels",
                hint="it is too thin; use a larger crop",
            )
        pixels = picture.pixels()
        rgb = np.frombuffer(pixels.tobytes(), np.uint8).reshape(pixels.shape)
        engine = self._loaded_engine()
        # The three steps of RapidOCR.__call__, to learn the size it really reads at.
        resized, operations = engine.preprocess_img(np.ascontiguousarray(rgb[..., ::-1]))
        _, _, read, _ = engine.run_ocr_steps(resized, operations)
        # Where nothing was detected, there are no texts but one made-up score.
        scored = () if read.txts is None else zip(read.txts, read.scores, strict=True)
        lines = tuple(text for text, score in scored if text.strip() and score >= self._settings.line_score)
        return PictureText(lines, Size(int(resized.shape[1]), int(resized.shape[0])))

    def _loaded_engine(self) -> "RapidOCR":
        with self._engine_lock:
            if self._engine is None:
                self._engine = _load_engine(self._settings, self._weights)
            return self._engine

    def _observed(self, seen_size: Size) -> ObservedPicture:
        configuration = content_sha256([self.identity.settings, self.identity.fingerprint])
        return ObservedPicture(
            seen_size=seen_size,
            evidence="executed",
            rule_id="rapidocr-bounds@1",
            configuration_sha256=configuration,
        )


def read_size(sent: Size, settings: OcrSettings) -> Size | None:
    """Return the size at which RapidOCR reads lines in a picture, None if it cannot resize it.

    Its bounds are applied one after the other: the longer side at most ``max_side_px``, then the shorter at least
    ``min_side_px``. A picture that is resized gets sides that are multiples of 32, so its aspect ratio may change.

    Example:
        >>> read_size(Size(2828, 1414), OcrSettings()), read_size(Size(640, 480), OcrSettings())
        (Size(width=1984, height=992), Size(width=640, height=480))
        >>> read_size(Size(4000, 10), OcrSettings()) is None
        True
    """
    size = sent
    if max(size) > settings.max_side_px:
        size = _in_blocks(size, settings.max_side_px / max(size))
    if 0 < min(size) < settings.min_side_px:
        size = _in_blocks(size, settings.min_side_px / min(size))
    return size if min(size) > 0 else None


def weight_files() -> dict[str, Path]:
    """Return where the bundled weights lie, without importing rapidocr.

    Raises:
        MissingDependencyError: If rapidocr, onnxruntime or a weights file is not installed.
    """
    for library in ("rapidocr", "onnxruntime"):
        if find_spec(library) is None:
            raise MissingDependencyError(library, "ocr")
    spec = find_spec("rapidocr")
    folder = Path(spec.origin).parent / "models" if spec is not None and spec.origin is not None else Path()
    files = {part: folder / name for part, name in WEIGHTS.items()}
    for file in files.values():
        if not file.is_file():
            raise MissingDependencyError(f"the weights {file.name} of rapidocr 3.10", "ocr")
    return files


def _load_engine(settings: OcrSettings, weights: dict[str, Path]) -> "RapidOCR":
    from rapidocr import RapidOCR

    engine = "EngineConfig.onnxruntime"
    parameters: dict[str, object] = {
        "Global.log_level": "critical",
        "Global.max_side_len": settings.max_side_px,
        "Global.min_side_len": settings.min_side_px,
        "Det.limit_side_len": settings.detector_min_side_px,
        # One thread a picture: two pictures side by side are faster than one on two threads.
        f"{engine}.intra_op_num_threads": 1,
        f"{engine}.inter_op_num_threads": 1,
        # Without the arena every pass maps its memory anew, and two passes wait for each other in the kernel.
        f"{engine}.enable_cpu_mem_arena": True,
        # Named, so that nothing is ever downloaded.
        **{f"{part}.model_path": str(file) for part, file in weights.items()},
    }
    return RapidOCR(params=parameters)


def _in_blocks(size: Size, scale: float) -> Size:
    """Scale both sides, drop fractions, and round to blocks, halves to even, exactly as RapidOCR does."""
    width, height = (round(int(side * scale) / _BLOCK_PX) * _BLOCK_PX for side in size)
    return Size(width, height)


def _check_settings(settings: OcrSettings) -> None:
    sides = (settings.max_side_px, settings.min_side_px, settings.detector_min_side_px)
    if min(sides) < _SMALLEST_SIDE_PX or settings.min_side_px > settings.max_side_px:
        raise UsageError(
            f"max_side_px, min_side_px, detector_min_side_px = {', '.join(map(str, sides))}",
            hint=f"give at least {_SMALLEST_SIDE_PX} px each, and no smallest side over the largest",
        )
    if not 0 <= settings.line_score <= 1:
        raise UsageError(f"line_score {settings.line_score}", hint="give a confidence in 0–1")
    if settings.workers is not None and settings.workers < 1:
        raise UsageError(f"workers {settings.workers}", hint="give at least 1")


def _settings_dict(settings: OcrSettings) -> JsonObject:
    fields: JsonObject = msgspec.to_builtins(settings)
    return fields


def _fingerprint(weights: dict[str, Path]) -> str:
    digest = hashlib.sha256()
    for part in sorted(weights):
        digest.update(weights[part].read_bytes())
    return digest.hexdigest()


def _usable_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
