"""A vLLM engine in this process: ``vllm_engine/Org/Name``, where vLLM is installed. Not run here: it needs a GPU."""

import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, cast

import msgspec

from eyechart.errors import BadRequestError, EyechartError, ModelError, OutOfMemoryError, RefusedInputError, UsageError
from eyechart.kinds import Ask, Model, ModelOptions, Reply
from eyechart.models._batching import Batches
from eyechart.models._chat_settings import N_TOP_TOKENS, data_uri, read_sent_settings, recorded_settings, sent
from eyechart.models._endings import ended
from eyechart.models._letter_probabilities import with_likeliest_letter
from eyechart.schema import JsonObject, ModelIdentity, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["VllmEngineKind"]

_REASON_CHARACTERS = 300
_MEMORY_WORDS = ("out of memory", "no available memory")


class VllmEngineSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of ``vllm_engine/…``; None leaves it to vLLM.

    Args:
        batch_size: Questions handed to the engine at once; it schedules them itself.
        tensor_parallel_size: GPUs that share the weights.
        max_model_len: Longest prompt with answer, in tokens.
        gpu_memory_utilization: Share of the GPU's memory, in (0, 1].
        dtype: Number format of the weights.
        min_pixels: Least pixels of a picture on the model's grid, for processors that know it (Qwen-VL).
        max_pixels: Most pixels of a picture, likewise.
        system_prompt: Text of a system message before the question.
        enable_thinking: Switch of models that can answer with and without thoughts.
        top_k: Sample from the k most likely tokens.
        presence_penalty: In [-2, 2].
        repetition_penalty: 1 is none.
        trust_remote_code: Run Python code from the model's repository; set by ``--trust-remote-code``.
    """

    batch_size: int = 64
    tensor_parallel_size: int = 1
    max_model_len: int | None = None
    gpu_memory_utilization: float | None = None
    dtype: str = "auto"
    min_pixels: int | None = None
    max_pixels: int | None = None
    system_prompt: str | None = None
    enable_thinking: bool | None = None
    top_k: int | None = None
    presence_penalty: float | None = None
    repetition_penalty: float | None = None
    trust_remote_code: bool = False


class VllmEngineKind:
    """Models that vLLM runs in this process; for a running server see ``vllm/…``."""

    settings = VllmEngineSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model, without loading it.

        Raises:
            UsageError: If a setting is wrong, an address is given, or vLLM is not installed.
        """
        if importlib.util.find_spec("vllm") is None:
            raise UsageError("vLLM is not installed", hint="python -m pip install vllm, on a machine with a GPU")
        if options.base_url is not None:
            raise UsageError("vllm_engine/… runs here and has no address", hint=f"for a server: vllm/{name}")
        settings = read_sent_settings(VllmEngineSettings, options, f"vllm_engine/{name}")
        if settings.batch_size < 1:
            raise UsageError(f"batch_size {settings.batch_size} asks nothing", hint="write a number from 1")
        return VllmEngineModel(name, settings, options)


class _Logprob(Protocol):
    logprob: float
    decoded_token: str | None


class _Completion(Protocol):
    text: str
    token_ids: Sequence[int]
    finish_reason: str | None
    logprobs: "Sequence[Mapping[int, _Logprob]] | None"


class _Output(Protocol):
    prompt_token_ids: Sequence[int] | None
    outputs: Sequence[_Completion]


class _Engine(Protocol):
    def chat(self, messages: object, sampling_params: object, **arguments: object) -> Sequence[_Output]: ...


class VllmEngineModel:
    """A model of vLLM, loaded at the first question and handed many questions at once."""

    reads: Literal["pixels", "identity"] = "pixels"

    def __init__(self, name: str, settings: VllmEngineSettings, options: ModelOptions) -> None:
        self.identity = ModelIdentity(
            provider="vllm_engine",
            name=name,
            revision=options.revision,
            settings=recorded_settings(settings, options.extra_body),
        )
        self.max_concurrency: int | None = 2 * settings.batch_size
        self._name, self._settings, self._options = name, settings, options
        self._engine: _Engine | None = None
        self._batches = Batches(self._answer_batch, settings.batch_size)

    @property
    def reads_letters(self) -> bool:
        """Whether it tells the probabilities of an answer's first token."""
        return True

    async def answer(self, ask: Ask) -> Reply:
        """Answer one request.

        Raises:
            RefusedInputError: If vLLM takes no picture like this.
            OutOfMemoryError: If the picture does not fit.
            BadRequestError: If the model cannot be loaded.
        """
        return await self._batches.answer(ask)

    async def close(self) -> None:
        """Release the engine."""
        await self._batches.close()
        self._engine = None

    def _answer_batch(self, asks: Sequence[Ask]) -> list[Reply | Exception]:
        """Answer questions together; what fails together is tried apart, so that one failure concerns one question."""
        engine = self._load()
        try:
            return self._chat(engine, asks)
        except EyechartError as error:
            failure: Exception = error
        except Exception as error:  # noqa: BLE001 -- an engine of others may raise anything
            failure = _failure_of(error)
        if len(asks) == 1:
            return [failure]
        middle = (len(asks) + 1) // 2
        return [*self._answer_batch(asks[:middle]), *self._answer_batch(asks[middle:])]

    def _load(self) -> _Engine:
        if self._engine is None:
            import vllm  # deferred: takes many seconds, and is not a dependency

            settings = self._settings
            arguments = sent(
                {
                    "revision": self._options.revision,
                    "max_model_len": settings.max_model_len,
                    "gpu_memory_utilization": settings.gpu_memory_utilization,
                    "mm_processor_kwargs": sent({"min_pixels": settings.min_pixels, "max_pixels": settings.max_pixels})
                    or None,
                }
            )
            try:
                self._engine = cast(
                    "_Engine",
                    vllm.LLM(
                        model=self._name,
                        dtype=settings.dtype,
                        tensor_parallel_size=settings.tensor_parallel_size,
                        trust_remote_code=settings.trust_remote_code,
                        **arguments,
                    ),
                )
            except Exception as error:
                raise BadRequestError(
                    f"vLLM cannot load {self._name} ({_reason(error)})",
                    hint="does vLLM know the model, and does it fit? vllm/NAME asks a running server",
                    parameter="model",
                ) from error
        return self._engine

    def _chat(self, engine: _Engine, asks: Sequence[Ask]) -> list[Reply | Exception]:
        import vllm  # deferred, see above

        template = sent({"enable_thinking": self._settings.enable_thinking})
        outputs = engine.chat(
            [self._messages(ask) for ask in asks],
            vllm.SamplingParams(**self._sampling(asks[0])),
            use_tqdm=False,
            **sent({"chat_template_kwargs": template or None}),
        )
        return [_reply_or_error(output, ask) for output, ask in zip(outputs, asks, strict=True)]

    def _messages(self, ask: Ask) -> list[JsonObject]:
        content: list[JsonObject] = [
            {"type": "image_url", "image_url": {"url": data_uri(picture)}} for picture in ask.pictures
        ]
        content.append({"type": "text", "text": ask.prompt})
        messages: list[JsonObject] = [{"role": "user", "content": content}]
        if self._settings.system_prompt is not None:
            messages.insert(0, {"role": "system", "content": self._settings.system_prompt})
        return messages

    def _sampling(self, ask: Ask) -> JsonObject:
        sampling, settings = ask.sampling, self._settings
        arguments = sent(
            {
                "temperature": sampling.temperature,
                "top_p": sampling.top_p,
                "seed": sampling.seed,
                "max_tokens": sampling.max_tokens,
                "top_k": settings.top_k,
                "presence_penalty": settings.presence_penalty,
                "repetition_penalty": settings.repetition_penalty,
            }
        )
        if sampling.score_mode == "logprob":
            arguments |= {"logprobs": N_TOP_TOKENS, "max_tokens": 1}
        return {**arguments, **self._options.extra_body}


def _reply_or_error(output: _Output, ask: Ask) -> Reply | ModelError:
    """Return the reply, or why this question alone has none."""
    try:
        return _reply(output, ask)
    except ModelError as error:
        return error


def _reply(output: _Output, ask: Ask) -> Reply:
    if not output.outputs:
        raise ModelError("vLLM returned no completion")
    completion = output.outputs[0]
    reply = Reply(
        text=completion.text,
        usage=Usage(
            input_tokens=None if output.prompt_token_ids is None else len(output.prompt_token_ids),
            output_tokens=len(completion.token_ids),
        ),
    )
    reply = ended("chat", completion.finish_reason, reply, {"text": completion.text})  # as vLLM's server tells it
    if ask.sampling.score_mode == "text":
        return reply
    first = completion.logprobs[0] if completion.logprobs else None
    top = None if first is None else [(one.decoded_token or "", one.logprob) for one in first.values()]
    return with_likeliest_letter(reply, top, ask)


def _failure_of(error: Exception) -> ModelError:
    reason = _reason(error)
    if any(words in reason.lower() for words in _MEMORY_WORDS):
        return OutOfMemoryError(f"out of memory ({reason}); a smaller --set max_pixels may fit, as another run")
    if isinstance(error, ValueError):
        return RefusedInputError(f"vLLM does not take this picture ({reason})")
    return ModelError(f"vLLM failed on this question ({type(error).__name__}: {reason})")


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _REASON_CHARACTERS else f"{text[:_REASON_CHARACTERS]}…"
