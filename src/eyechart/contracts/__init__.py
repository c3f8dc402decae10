"""What every extension must keep, as checks that run on a member: for our own rooms, wheels of others and plug-ins.

Each check raises ``ContractError`` with what was expected and what was found.
"""

from eyechart.contracts.benchmark import check_benchmark
from eyechart.contracts.checks import ContractError
from eyechart.contracts.model import check_model
from eyechart.contracts.output import check_figure, check_report
from eyechart.contracts.prompt import check_prompt
from eyechart.contracts.scorer import check_scorer
from eyechart.contracts.summary import made_summary
from eyechart.contracts.view import check_view

__all__ = [
    "ContractError",
    "check_benchmark",
    "check_figure",
    "check_model",
    "check_prompt",
    "check_report",
    "check_scorer",
    "check_view",
    "made_summary",
]
