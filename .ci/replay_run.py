"""Write four pictures, their questions and stored answers into a folder, for a run without any model."""

import json
import sys
from pathlib import Path

from PIL import Image

folder = Path(sys.argv[1])
with (folder / "questions.jsonl").open("w") as questions, (folder / "answers.jsonl").open("w") as answers:
    for index in range(4):
        name = f"picture{index}.png"
        Image.new("RGB", (320 + index, 240), (index * 40, 90, 120)).save(folder / name)
        question = {
            "id": f"q{index}",
            "image": name,
            "question": "Which letter is shown?",
            "choices": ["x", "y", "z"],
            "answer": "A",
            "box": [10, 20, 60, 70],
        }
        questions.write(json.dumps(question) + "\n")
        for view in ("original", "crop_3x"):
            answers.write(json.dumps({"id": f"q{index}", "view": view, "response": "A" if index else "B"}) + "\n")
