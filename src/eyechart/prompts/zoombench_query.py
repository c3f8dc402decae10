"""The wording of ZoomBench's own queries, for comparison."""

from collections.abc import Sequence

from eyechart.prompts._lettered import lettered_lines
from eyechart.schema import Question

__all__ = ["ZoombenchQuery"]

# inclusionAI/Zooming-without-Zooming fdc0ba1a, README.
_REQUEST = "Select from the following choices."


class ZoombenchQuery:
    """ZoomBench's ``query`` column: the question, a request to choose, options as ``(A) …``, and nothing more."""

    name = "zoombench_query"
    version = 1

    def render(self, question: Question, choices: Sequence[str]) -> str:
        """Return the prompt text; a free-form question stands alone.

        Raises:
            ValueError: If there are more than 26 choices.
        """
        if not choices:
            return question.text
        return "\n".join([f"{question.text} {_REQUEST}", *lettered_lines(choices, "({}) ")])
