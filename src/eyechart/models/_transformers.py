"""One image-text-to-text model of transformers with its processor: loaded once, asked in batches."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, cast

import msgspec

from eyechart.errors import BadRequestError, EyechartError, ModelError, OutOfMemoryError, RefusedInputError
from eyechart.kinds import Ask, ModelOptions, ObservedPicture, Reply
from eyechart.models._chat_settings import sent
from eyechart.models._letter_probabilities import letter_reply
from eyechart.schema import JsonObject, Usage
from eyechart.seen.local.processor import LocalProcessor

_MEMORY_WORDS = ("out of memory", "can't allocate memory", "cannot allocate memory")
_REASON_CHARACTERS = 300


class _Tensor(Protocol):
    """The part of a tensor that is used; torch itself is an extra without types here."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __getitem__(self, index: object) -> "_Tensor": ...
    def __float__(self) -> float: ...
    def __int__(self) -> int: ...
    def sum(self) -> "_Tensor": ...
    def tolist(self) -> list[object]: ...


class LocalSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of ``hf/…``; None leaves it to the model.

    Args:
        dtype: Number format of the weights; ``auto`` is that of the checkpoint.
        device: ``auto`` is a GPU where there is one; or ``cpu``, ``cuda:1``, ….
        batch_size: Questions answered together. Padding may change an answer's last digits, so it is part of the
            identity.
        processor: What the processor is called with besides text and pictures, such as ``{"size": {…}}``.
        min_pixels: Least pixels of a picture, for processors that know it (Qwen-VL); goes into ``processor``.
        max_pixels: Most pixels of a picture, likewise.
        system_prompt: Text of a system message before the question.
        enable_thinking: Switch of models that can answer with and without thoughts.
        top_k: Sample from the k most likely tokens.
        repetition_penalty: 1 is none.
        attention: ``eager``, ``sdpa``, ``flash_attention_2``, ….
        trust_remote_code: Run Python code from the model's repository; set by ``--trust-remote-code``.
    """

    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    device: str = "auto"
    batch_size: int = 1
    processor: JsonObject | None = None
    min_pixels: int | None = None
    max_pixels: int | None = None
    system_prompt: str | None = None
    enable_thinking: bool | None = None
    top_k: int | None = None
    repetition_penalty: float | None = None
    attention: str | None = None
    trust_remote_code: bool = False

    def folded(self) -> "LocalSettings":
        """Return the settings with the pixel limits among the processor's arguments, where they take effect."""
        limits = sent({"min_pixels": self.min_pixels, "max_pixels": self.max_pixels})
        arguments = {**(self.processor or {}), **limits}
        return msgspec.structs.replace(self, processor=arguments or None, min_pixels=None, max_pixels=None)


class _Loaded:
    """Weights and processor in memory. Everything of transformers is untyped here: its classes come by name."""

    def __init__(self, name: str, settings: LocalSettings, revision: str | None) -> None:
        import torch  # deferred: takes seconds, and is an extra
        import transformers

        common = {"revision": revision or "main", "trust_remote_code": settings.trust_remote_code}
        device = settings.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.processor = transformers.AutoProcessor.from_pretrained(name, **common)
        _check_arguments(self.processor, settings.processor or {})
        self.model = transformers.AutoModelForImageTextToText.from_pretrained(
            name, dtype=settings.dtype, **sent({"attn_implementation": settings.attention}), **common
        )
        self.model.to(device).eval()
        self.tokenizer = getattr(self.processor, "tokenizer", self.processor)
        self.tokenizer.padding_side = "left"
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.device = device


class LocalModel:
    """Answers batches of questions with one model. To be used by one thread at a time.

    Args:
        name: A folder, or ``Org/Name`` of the hub.
        settings: How it is loaded and asked.
        options: Revision, and sections of further arguments in ``extra_body``.
    """

    def __init__(self, name: str, settings: LocalSettings, options: ModelOptions) -> None:
        self._name, self._settings, self._options = name, settings, options
        self._loaded: _Loaded | None = None
        self._sight: LocalProcessor | None = None

    def sight(self) -> LocalProcessor:
        """Return the model's processor as the source of what is seen, loaded without the weights.

        Raises:
            BadRequestError: If it cannot be loaded.
        """
        if self._sight is None:
            processor = self._loaded.processor if self._loaded is not None else self._processor()
            self._sight = LocalProcessor(processor, self._processor_arguments())
        return self._sight

    def answer_batch(self, asks: Sequence[Ask]) -> list[Reply | Exception]:
        """Answer questions together; what fails together is tried apart, so that one failure concerns one question.

        Raises:
            BadRequestError: If the model cannot be loaded.
        """
        loaded = self._load()
        try:
            return self._answer(loaded, asks)
        except EyechartError as error:
            failure: Exception = error
        except Exception as error:  # noqa: BLE001 -- a processor or model of others may raise anything
            failure = _failure_of(error)
        if len(asks) == 1:
            return [failure]
        _free_memory()
        middle = (len(asks) + 1) // 2
        return [*self.answer_batch(asks[:middle]), *self.answer_batch(asks[middle:])]

    def commit(self) -> str | None:
        """Return the commit of the checkpoint on the hub, None where it is not known.

        Raises:
            BadRequestError: If there is no such checkpoint, or it needs code of its own that was not allowed.
        """
        import transformers  # deferred: takes seconds, and is an extra

        try:
            config = transformers.AutoConfig.from_pretrained(
                self._name,
                revision=self._options.revision or "main",
                trust_remote_code=self._settings.trust_remote_code,
            )
        except (OSError, ValueError, KeyError) as error:
            raise self._not_loaded(error) from error
        return cast("str | None", getattr(config, "_commit_hash", None))

    def _processor(self) -> object:
        import transformers  # deferred: takes seconds, and is an extra

        try:
            processor: object = transformers.AutoProcessor.from_pretrained(
                self._name,
                revision=self._options.revision or "main",
                trust_remote_code=self._settings.trust_remote_code,
            )
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise self._not_loaded(error) from error
        _check_arguments(processor, self._settings.processor or {})
        return processor

    def _processor_arguments(self) -> JsonObject:
        return {**(self._settings.processor or {}), **_section(self._options.extra_body, "processor_kwargs")}

    def release(self) -> None:
        """Forget the weights."""
        self._loaded = None
        _free_memory()

    def _load(self) -> _Loaded:
        if self._loaded is None:
            try:
                self._loaded = _Loaded(self._name, self._settings, self._options.revision)
            except EyechartError:
                raise
            except Exception as error:
                if _is_out_of_memory(error):
                    raise BadRequestError(
                        f"{self._name} does not fit into memory ({_reason(error)})",
                        hint="choose a smaller model, --set dtype=bfloat16, or a server: vllm/NAME --base-url URL",
                        parameter="model",
                    ) from error
                raise self._not_loaded(error) from error
        return self._loaded

    def _not_loaded(self, error: Exception) -> BadRequestError:
        reason = _reason(error)
        if "trust_remote_code" in str(error) or "custom code" in str(error):
            hint = "its repository brings code of its own: read it, then give --trust-remote-code and --model-revision"
        elif Path(self._name).is_dir():
            hint = "is it a folder of an image-text-to-text model with its processor?"
        else:
            hint = "is it the name of an image-text-to-text model, and is the hub reachable (HF_TOKEN, HF_HUB_OFFLINE)?"
        return BadRequestError(f"{self._name} cannot be loaded ({reason})", hint=hint, parameter="model")

    def _answer(self, loaded: _Loaded, asks: Sequence[Ask]) -> list[Reply | Exception]:
        import torch  # deferred, see above

        inputs = self._inputs(loaded, asks)
        with torch.inference_mode():
            if asks[0].sampling.score_mode == "logprob":
                logits = loaded.model(**inputs).logits[:, -1, :].float()
                chances = torch.log_softmax(logits, dim=-1)
                return [self._letter(loaded, ask, inputs, row, chances[row]) for row, ask in enumerate(asks)]
            seed = asks[0].sampling.seed
            if seed is not None:
                torch.manual_seed(seed)
            tokens = loaded.model.generate(**inputs, **self._generation(loaded, asks[0]))
        n_prompt = inputs["input_ids"].shape[1]
        return [self._reply(loaded, ask, inputs, row, tokens[row, n_prompt:]) for row, ask in enumerate(asks)]

    def _inputs(self, loaded: _Loaded, asks: Sequence[Ask]) -> Mapping[str, _Tensor]:
        """Return the model's inputs for a batch.

        Raises:
            RefusedInputError: If the processor does not take a picture.
        """
        import numpy as np  # late: opening a model must not import it
        from PIL import Image

        texts = [self._prompt(loaded, ask) for ask in asks]
        pictures = [[Image.fromarray(np.asarray(picture.pixels())) for picture in ask.pictures] for ask in asks]
        arguments = self._processor_arguments()
        if loaded.tokenizer.bos_token and all(text.startswith(loaded.tokenizer.bos_token) for text in texts):
            # The template has written it already; twice is another prompt than the model was trained on.
            arguments = {"add_special_tokens": False, **arguments}
        try:
            made = loaded.processor(
                text=texts, images=pictures if any(pictures) else None, padding=True, return_tensors="pt", **arguments
            )
        except ValueError as error:
            if _is_out_of_memory(error):
                raise
            raise RefusedInputError(f"the processor does not take this picture ({_reason(error)})") from error
        return cast("Mapping[str, _Tensor]", made.to(loaded.device, dtype=loaded.model.dtype))

    def _prompt(self, loaded: _Loaded, ask: Ask) -> str:
        content = [{"type": "image"}] * len(ask.pictures) + [{"type": "text", "text": ask.prompt}]
        messages: list[JsonObject] = [{"role": "user", "content": content}]
        if self._settings.system_prompt is not None:
            system = [{"type": "text", "text": self._settings.system_prompt}]
            messages.insert(0, {"role": "system", "content": system})
        own = sent({"enable_thinking": self._settings.enable_thinking})
        extra = _section(self._options.extra_body, "chat_template_kwargs")
        return cast(
            "str",
            loaded.processor.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, **{**own, **extra}
            ),
        )

    def _generation(self, loaded: _Loaded, ask: Ask) -> JsonObject:
        sampling = ask.sampling
        arguments: JsonObject = {
            **sent(
                {
                    "max_new_tokens": sampling.max_tokens,
                    "repetition_penalty": self._settings.repetition_penalty,
                    "pad_token_id": loaded.tokenizer.pad_token_id,
                }
            )
        }
        if sampling.temperature == 0:
            arguments |= {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        else:
            chosen = {"temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": self._settings.top_k}
            arguments |= {**({} if sampling.temperature is None else {"do_sample": True}), **sent(chosen)}
        return {**arguments, **_section(self._options.extra_body, "generation_kwargs")}

    def _reply(self, loaded: _Loaded, ask: Ask, inputs: Mapping[str, _Tensor], row: int, tokens: _Tensor) -> Reply:
        written = cast("list[int]", tokens.tolist())
        ends = _end_tokens(loaded)
        stop = next((place for place, token in enumerate(written) if token in ends), None)
        is_cut = stop is None and len(written) >= (ask.sampling.max_tokens or len(written) + 1)
        answer = written if stop is None else written[:stop]
        text = str(loaded.tokenizer.decode(answer, skip_special_tokens=True)).strip()
        return Reply(
            text=text,
            finish="length" if is_cut else "stop",
            says_nothing=not text,
            usage=self._usage(loaded, inputs, row, len(answer) + (stop is not None)),
            seen=self._observed(loaded, ask, inputs, row),
        )

    def _letter(self, loaded: _Loaded, ask: Ask, inputs: Mapping[str, _Tensor], row: int, chances: _Tensor) -> Reply:
        by_letter: dict[str, float] = {}
        for index in range(len(ask.choices)):
            letter = chr(ord("A") + index)
            tokens = {ids[0] for text in (letter, f" {letter}") if (ids := _encoded(loaded, text))}
            values = [float(chances[token]) for token in tokens]
            by_letter[letter] = _log_sum(values)
        reply = letter_reply(by_letter, ask.choices, is_complete=True)
        return Reply(
            text=reply.text,
            finish="stop",
            usage=self._usage(loaded, inputs, row, 1),
            seen=self._observed(loaded, ask, inputs, row),
            extra=reply.extra,
        )

    def _observed(
        self, loaded: _Loaded, ask: Ask, inputs: Mapping[str, _Tensor], row: int
    ) -> tuple[ObservedPicture, ...]:
        """Return what the processor made of the pictures; only their tokens where those say otherwise."""
        if not ask.pictures:
            return ()
        n_tokens = _image_tokens(loaded, inputs, row)
        told: tuple[ObservedPicture, ...] = ()
        if not self._settings.trust_remote_code:
            told = self.sight().observe([picture.size for picture in ask.pictures])
        if n_tokens is None or sum(picture.visual_tokens or 0 for picture in told) == n_tokens:
            return told
        if len(ask.pictures) != 1:
            return ()
        return (ObservedPicture(seen_size=None, evidence="executed", visual_tokens=n_tokens),)

    def _usage(self, loaded: _Loaded, inputs: Mapping[str, _Tensor], row: int, n_output: int) -> Usage:
        return Usage(
            input_tokens=int(inputs["attention_mask"][row].sum()),
            output_tokens=n_output,
            image_tokens=_image_tokens(loaded, inputs, row),
        )


def _image_tokens(loaded: _Loaded, inputs: Mapping[str, _Tensor], row: int) -> int | None:
    # The model's own word first: some processors call the marker in the prompt their image token (Llama 4, Ovis 2).
    token = getattr(loaded.model.config, "image_token_id", None)
    if token is None:
        token = getattr(loaded.processor, "image_token_id", None)
    if token is None or "cross_attention_mask" in inputs:
        return None
    return inputs["input_ids"][row].tolist().count(token)


def _end_tokens(loaded: _Loaded) -> frozenset[int]:
    named = loaded.model.generation_config.eos_token_id
    ends = named if isinstance(named, list) else [named]
    return frozenset(token for token in (*ends, loaded.tokenizer.eos_token_id) if token is not None)


def _encoded(loaded: _Loaded, text: str) -> list[int]:
    return cast("list[int]", loaded.tokenizer.encode(text, add_special_tokens=False))


def _section(extra_body: JsonObject, name: str) -> JsonObject:
    section = extra_body.get(name)
    return section if isinstance(section, dict) else {}


def _failure_of(error: Exception) -> ModelError:
    if _is_out_of_memory(error):
        return OutOfMemoryError(
            f"out of memory ({_reason(error)}); a smaller --set max_pixels or batch_size may fit, as another run",
            hint="give --set max_pixels=…, --set batch_size=1 or --set dtype=bfloat16: each is a run of its own",
        )
    return ModelError(f"the model failed on this question ({type(error).__name__}: {_reason(error)})")


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError):
        return True
    return any(words in str(error).lower() for words in _MEMORY_WORDS)


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _REASON_CHARACTERS else f"{text[:_REASON_CHARACTERS]}…"


def _free_memory() -> None:
    import gc
    import sys

    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def _log_sum(values: Sequence[float]) -> float:
    from math import exp, log

    largest = max(values)
    return largest + log(sum(exp(value - largest) for value in values))


def _check_arguments(processor: object, arguments: Mapping[str, object]) -> None:
    """Refuse an argument that the picture's processor would silently ignore.

    Raises:
        BadRequestError: If there is one.
    """
    known = getattr(getattr(getattr(processor, "image_processor", None), "valid_kwargs", None), "__annotations__", None)
    ignored = sorted(set(arguments) - set(known)) if known else []
    if ignored:
        raise BadRequestError(
            f"{type(processor).__name__} ignores {ignored[0]}",
            hint=f"it takes {', '.join(sorted(known or ()))}",
            parameter=ignored[0],
        )
