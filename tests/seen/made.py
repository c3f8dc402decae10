"""Pictures as a plan holds them, made from numbers."""

from eyechart.schema import Box, Composition, ImageRef, ModelIdentity, Picture, Recipe, Request, Sampling, Size
from eyechart.seen.shown import ShownPicture


def identity(spec, settings=None):
    provider, _, name = spec.partition("/")
    return ModelIdentity(provider, name, settings=settings or {})


def picture(source, *, cut=None, resized=None, target=None, n_bytes=None, media_type="image/jpeg"):
    """Return a cut of an original, resized or not; ``target`` is in the picture's own pixels."""
    source = Size(*source)
    kept = cut or Box(0, 0, *source)
    canvas = Size(int(kept.width), int(kept.height))
    geometry = Composition(canvas=canvas, kept=kept, resized=Size(*resized) if resized else None)
    image = ImageRef("a" * 64, source, media_type, n_bytes=n_bytes)
    return Picture(image, Recipe(geometry), "key", geometry.size, target)


def request(*pictures, view="original", question_id="q1", repeat=0):
    return Request(
        id="r" * 64,
        benchmark="made",
        question_id=question_id,
        view=view,
        condition=view,
        pictures=pictures,
        prompt="?",
        prompt_id="plain@1",
        prompt_sha256="",
        choices=("a", "b"),
        choice_order=(0, 1),
        model=ModelIdentity("openai", "gpt-4o"),
        sampling=Sampling(),
        repeat=repeat,
    )


def shown(view, one, question_id="q1"):
    return ShownPicture(question_id, view, one)
