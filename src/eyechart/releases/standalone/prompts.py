"""Prompts of this collection: each choice once after the stem, or after the source's own text (legacy)."""

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from eyechart.prompts._lettered import with_choices

FORMS = {"normalized": "letter_normalized@1", "legacy": "letter_legacy@1"}


def normalized(sample: Mapping[str, object]) -> str:
    """Return the prompt of one row of ``dataset.json`` or ``metadata.jsonl``: its stem, then each choice once."""
    return with_choices(_text(sample, "question"), _choices(sample))


def legacy(sample: Mapping[str, object]) -> str:
    """Return the legacy prompt: the source's own text, which may list the choices already, then the choices."""
    return with_choices(_text(sample, "question_raw") or _text(sample, "question"), _choices(sample))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one prompt per question as JSON lines: id, prompt and its SHA-256."""
    parser = argparse.ArgumentParser(description="Print the prompt of every question as JSON lines.")
    parser.add_argument("form", choices=tuple(FORMS), nargs="?", default="normalized")
    parser.add_argument("--release", type=Path, default=Path(__file__).parent.parent, help="folder of the collection")
    options = parser.parse_args(arguments)
    samples = json.loads((options.release / "dataset.json").read_text(encoding="utf-8"))
    for sample in samples:
        prompt = legacy(sample) if options.form == "legacy" else normalized(sample)
        digest = hashlib.sha256(prompt.encode()).hexdigest()
        line = {"id": sample["id"], "prompt_id": FORMS[options.form], "prompt_sha256": digest, "prompt": prompt}
        sys.stdout.write(json.dumps(line) + "\n")
    return 0


def _text(sample: Mapping[str, object], field: str) -> str:
    value = sample.get(field)
    return value if isinstance(value, str) else ""


def _choices(sample: Mapping[str, object]) -> list[str]:
    value = sample.get("choices")
    return [str(choice) for choice in value] if isinstance(value, list) else []


if __name__ == "__main__":
    sys.exit(main())
