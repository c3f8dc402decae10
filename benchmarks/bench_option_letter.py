"""CPU time of the option-letter scorer: linearity, throughput of both modes, and looping responses."""

import statistics
import time
from collections.abc import Callable
from functools import partial

from eyechart.scorers.option_letter.extraction import extract

CHOICES = ("red", "blue", "green", "white")
N_RESPONSES = 10_000
LENGTH = 2_000

TOKENS = (
    *("A", "B ", "A B ", "B, ", "not B ", "(A) ", "(", ")", "{", "}", '{"', '{"answer": "', "<", "<answer>", "<think>"),
    *(
        "</think>",
        "<A>",
        "<tool_call>",
        "\\boxed{",
        "\\text{",
        "\\",
        "$",
        "*",
        "_",
        "`",
        "```\n",
        "~~",
        '"',
        "'",
        "&lt;",
    ),
    *(
        "\n",
        " ",
        "\t\n",
        "- \n",
        "answer ",
        "Answer: ",
        "The answer is ",
        "the answer is not B. ",
        "answer is A or B ",
        "red ",
    ),
    *(
        "blue not ",
        "I would choose ",
        "B is correct ",
        "A. red ",
        "答案",
        "选B",
        "答案是",
        "是",
        "正解は",
        "정답은 ",
        "\u0301",
    ),
    *(
        "e\u0301",
        "\u200b",
        "\uff22",
        "ﷺ",
        "A: ",
        "answer, ",
        "answer (",
        "answer to ",
        "B is (",
        "B is not ",
        "B and ",
        ".B",
        "-B",
        "1. ",
    ),
    *(
        "option ",
        "respuesta es ",
        "cannot tell ",
        "sorry ",
        "no ",
        "[answer]",
        "<|",
        "<|a|>",
        "a) ",
        "so B ",
        "Gate B ",
        "🅱",
        "\ud800",
    ),
)


def cpu_seconds(call: Callable[[], object]) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin


def both_modes(text: str) -> None:
    extract(text, CHOICES, "strict")
    extract(text, CHOICES, "lenient")


def of_length(token: str, n_characters: int) -> str:
    return (token * (n_characters // len(token) + 1))[:n_characters]


def prose(n_characters: int) -> str:
    sentences = (
        "Looking closely at the lid, I can see a glossy surface that reflects the window. ",
        "Option A would need a darker shade, and option C does not fit because of the rim. ",
        "The panel, which is not in the shadow, looks blue rather than white.\n",
        "**Step 2**: compare the (small) handle with the other objects; it is `metal`. ",
    )
    text = "".join(sentences) * (n_characters // 250 + 1)
    return text[: n_characters - 20] + "\nThe answer is (B)."


def growth(token: str) -> float:
    """Return the median time of 20,000 characters over that of 2,000."""
    ratios = []
    for _ in range(5):
        short, long = of_length(token, 2_000), of_length(token, 20_000)
        base = statistics.median(cpu_seconds(partial(both_modes, f"{short} {i}")) for i in range(5))
        ratios.append(cpu_seconds(partial(both_modes, long)) / max(base, 1e-5))
    return statistics.median(ratios)


def main() -> None:
    text = prose(LENGTH)
    mixed = [
        f"{i:06d} {text[7:]}"
        if i % 4
        else f"{i:06d}" + of_length("图中面板是蓝色的, A选项错误。", LENGTH - 16) + "\n答案:B"
        for i in range(N_RESPONSES)
    ]
    distinct = [f"{i:06d} {text[7:]}" for i in range(N_RESPONSES)]  # equal texts would be read once
    english = cpu_seconds(lambda: [both_modes(response) for response in distinct])
    print(f"{N_RESPONSES} responses of {LENGTH} characters, both modes: {english:.2f} CPU s (limit 10)")
    chinese = cpu_seconds(lambda: [both_modes(response) for response in mixed])
    print(f"the same with a quarter in Chinese: {chinese:.2f} CPU s (limit 10)")
    print(f"prose, 20,000 over 2,000 characters: {growth(prose(1_000)):.1f} (limit 12)")
    ratios = {token: growth(token) for token in TOKENS}
    worst = max(ratios, key=lambda token: ratios[token])
    print(f"repeated tokens, worst growth: {ratios[worst]:.1f} for {worst!r} (limit 12)")
    loops = {token: cpu_seconds(lambda token=token: both_modes(of_length(token, 100_000))) for token in TOKENS}
    for token in sorted(loops, key=lambda token: -loops[token])[:5]:
        print(f"100,000 characters of {token!r}: {loops[token]:.2f} CPU s (limit 2)")


if __name__ == "__main__":
    main()
