"""How others evaluate a source, by name: prompt, order of options, extraction and judge, each fixed and recorded."""

from typing import Literal

from eyechart.errors import UsageError
from eyechart.registry import unknown_name
from eyechart.schema import Value

JudgeMode = Literal["yes_no", "letter"]
Judged = Literal["all", "unread", "not_right"]


class JudgeRule(Value, frozen=True):
    """What a judge model is asked.

    Args:
        mode: ``yes_no`` asks whether the answer is right, ``letter`` which option it means.
        judged: All answers, those in which the rules read nothing, or those that the rules do not find right.
    """

    mode: JudgeMode
    judged: Judged

    @property
    def scorer(self) -> str:
        """Id of the scores with the judge's verdicts in them."""
        return f"judge.{self.mode}@1"


class Protocol(Value, frozen=True):
    """One way to evaluate a source.

    Args:
        name: ``benchmark@who``.
        options: Options of the benchmark, such as the order of the choices.
        prompt: Prompt id.
        scorer: Scorer id of the rules; what they leave open is the judge's.
        judge: What a judge is asked, None where the rules are all.
        about: What it stands for, and what of the original could not be taken over.
    """

    name: str
    options: dict[str, str]
    prompt: str
    scorer: str
    judge: JudgeRule | None
    about: str

    @property
    def benchmark(self) -> str:
        """Name of the benchmark it is for."""
        return self.name.partition("@")[0]


PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "vstar@shuffled",
            {"order": "shuffled"},
            "letter_normalized@1",
            "option_letter.strict@1",
            None,
            "options shuffled by a recorded seed, V*'s own closing line, the letter read strictly; ours",
        ),
        Protocol(
            "vstar@vlmevalkit",
            {"order": "published"},
            "vlmevalkit_mcq@1",
            "vlmevalkit_letter.compat@1",
            JudgeRule("letter", "unread"),
            "VLMEvalKit's wording, the published letters, its rules, then a judge; never its random letters",
        ),
        Protocol(
            "hrbench@official",
            {"rows": "all"},
            "vlmevalkit_mcq@1",
            "option_letter.strict@1",
            JudgeRule("yes_no", "all"),
            "all four rotations, VLMEvalKit's wording, a judge for every answer; its own judging text is not public, "
            "so ours is asked",
        ),
        Protocol(
            "zoombench@official",
            {"questions": "all"},
            "zoombench_query@1",
            "zoombench_answer.compat@1",
            JudgeRule("yes_no", "not_right"),
            "the source's own queries, equality with the right answer, a judge for all else; its system prompt is not "
            "public and is not sent",
        ),
    )
}
"""Protocols by name."""


def find_protocol(name: str, benchmark: str | None = None) -> Protocol:
    """Return a protocol by name.

    Args:
        name: ``benchmark@who``.
        benchmark: The benchmark that is asked, which must be its own.

    Raises:
        UsageError: If there is none, or it is for another benchmark.

    Example:
        >>> find_protocol("hrbench@official").judge
        JudgeRule(mode='yes_no', judged='all')
    """
    if name not in PROTOCOLS:
        raise unknown_name("protocol", name, tuple(PROTOCOLS))
    protocol = PROTOCOLS[name]
    if benchmark is not None and benchmark != protocol.benchmark:
        own = [other for other in PROTOCOLS if other.startswith(f"{benchmark}@")]
        hint = f"for {benchmark}: {', '.join(own)}" if own else f"eyechart run {protocol.benchmark} --protocol {name}"
        raise UsageError(f"protocol {name} is not for the benchmark {benchmark}", hint=hint)
    return protocol


def settle(fixed: str, given: str | None, flag: str, protocol: str) -> str:
    """Return what a protocol fixes, refusing another value from the command line.

    Raises:
        UsageError: If another one was given.
    """
    if given is not None and given not in {fixed, fixed.partition("@")[0]}:
        raise UsageError(
            f"{flag} {given} is not that of {protocol}, which fixes {fixed}", hint=f"leave {flag} or --protocol out"
        )
    return fixed


def settled_options(protocol: Protocol, given: dict[str, object]) -> dict[str, object]:
    """Return the options of a benchmark with those that a protocol fixes.

    Raises:
        UsageError: If another value was given for one of them.
    """
    for name, value in protocol.options.items():
        chosen = given.get(name)
        settle(value, None if chosen is None else str(chosen), f"--option {name}=", protocol.name)
    return {**given, **protocol.options}
