"""Which kit wrote a file of answers, told by its content alone: neither its name nor its suffix decides."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from eyechart.errors import BenchmarkError, UsageError
from eyechart.registry import unknown_name
from eyechart.releases.heads import Container, Head, read_head

Reader = Literal["plain", "vlmevalkit", "lmms-eval"]
"""What reads a form for ``score --predictions``."""

Values = Mapping[str, object]

_ID_COLUMNS = ("id", "base_sample_id", "question_id")
_ANSWER_COLUMNS = ("response", "prediction", "output", "answer")
_RESPONSES = frozenset({"resps", "filtered_resps"})
_MOST_COLUMNS = 40
_QUESTION_COLUMNS = frozenset({"image", "image_path", "img", "choices", "options", "A"})
_PLAIN_ROWS = "write its rows as id, view and response (JSONL or CSV), which eyechart score --predictions reads"


class Form(NamedTuple):
    """One form of file.

    Args:
        name: As ``--form`` takes it.
        what: What such a file is, in words.
        is_it: Whether the beginning of a file, or one of its rows, has this form.
        reader: What reads it; None where nothing does yet.
        hint: What to do with a file that is not read.
    """

    name: str
    what: str
    is_it: "Callable[[Head], bool] | Callable[[Values], bool]"
    reader: Reader | None = None
    hint: str = _PLAIN_ROWS


class Recognised(NamedTuple):
    """A file's form, how it keeps its rows, and its columns."""

    form: Form
    container: Container
    columns: tuple[str, ...]


def _keys(*names: str) -> "Callable[[Head], bool]":
    """Return whether a JSON object has all these keys."""
    return lambda head: bool(head.shapes) and set(names) <= set(head.names)


def _members(*names: str, container: Container) -> "Callable[[Head], bool]":
    """Return whether an archive or folder holds one of these."""
    return lambda head: head.container == container and bool(set(names) & set(head.names))


def _columns(*names: str) -> "Callable[[Values], bool]":
    """Return whether a row has all these columns."""
    return lambda row: set(names) <= set(row)


def _is_promptfoo(head: Head) -> bool:
    return _keys("evalId", "results", "config")(head) and head.shapes.get(("results", "results"), "list") == "list"


def _is_explorer_folder(head: Head) -> bool:
    return head.container == "folder" and {"data.js", "model_responses"} <= set(head.names)


def _is_lm_eval(row: Values) -> bool:
    """Its arguments are an object (``gen_args_0``, …), or in older files a list of lists."""
    given = row.get("arguments")
    is_nested = isinstance(given, Mapping) or (isinstance(given, list) and bool(given) and isinstance(given[0], list))
    return "doc_id" in row and bool(_RESPONSES & set(row)) and is_nested


def _is_lmms_eval(row: Values) -> bool:
    given = row.get("arguments")
    is_texts = isinstance(given, list) and bool(given) and isinstance(given[0], str)
    has_mark = is_texts or bool({"input", "token_counts", "input_media"} & set(row))
    return "doc_id" in row and bool(_RESPONSES & set(row)) and has_mark and not _is_lm_eval(row)


def _is_zoomeye(row: Values) -> bool:
    return {"output", "options"} <= set(row) and bool({"test_type", "input_image"} & set(row))


def _is_plain(row: Values) -> bool:
    """An id, and an answer that is one value."""
    if not set(_ID_COLUMNS) & set(row):
        return False
    answers = [row[name] for name in _ANSWER_COLUMNS if name in row]
    return bool(answers) and isinstance(answers[0], str | int | float | None)


def _has_text(rows: Sequence[Values]) -> bool:
    """Return whether any row answers in words; where all responses are absent, all answers are missing."""
    answers = [next((row[name] for name in _ANSWER_COLUMNS if name in row), None) for row in rows]
    are_responses = all({"response", "prediction"} & set(row) for row in rows)
    return any(isinstance(answer, str) for answer in answers) or (are_responses and set(answers) == {None})


def _is_question(row: Values) -> bool:
    """Its answer stands beside a question and nothing else could be a response: it is the right one."""
    has_answer = bool({"response", "prediction", "output"} & set(row))
    return not has_answer and bool(_QUESTION_COLUMNS & set(row)) and bool({"answer", "question"} & set(row))


# Order of the specification's table (interop.md 1.1). Files that are one whole: the first that holds decides.
WHOLE_FORMS: tuple[Form, ...] = (
    Form(
        "inspect-eval",
        "an inspect_ai log",
        _members("header.json", "_journal/start.json", container="zip"),
        hint=f"export it: inspect log dump F > log.json, then {_PLAIN_ROWS}",
    ),
    Form("inspect-json", "an inspect_ai log in JSON", _keys("version", "status", "eval", "plan")),
    Form("promptfoo", "a promptfoo result", _is_promptfoo),
    Form("helm", "a HELM run", _keys("adapter_spec", "request_states")),
    Form("helm", "a folder of a HELM run", _members("scenario_state.json", container="folder")),
    Form("hrscene-explorer", "the data of HRScene's explorer", _is_explorer_folder),
    Form("hrscene-explorer", "the data of HRScene's explorer", lambda head: head.container == "js"),
    Form(
        "eyechart-answers",
        "questions with the answers of several models",
        _keys("questions", "responses"),
        hint="eyechart import hrscene-explorer FILE makes run folders of it",
    ),
    Form(
        "eyechart-run",
        "a run folder of eyechart",
        _members("run.json", container="folder"),
        hint="eyechart score RUN judges it",
    ),
    Form(
        "eee-aggregate",
        "an Every Eval Ever record, which holds scores and no answers",
        _keys("schema_version", "evaluation_results"),
        hint="give the file that its detailed_evaluation_results.file_path names (…_samples.jsonl)",
    ),
    Form(
        "lm-eval-scores",
        "results of lm-eval or lmms-eval, which hold scores and no answers",
        _keys("results", "configs"),
        hint="give the samples that --log_samples writes beside it (samples_TASK_DATE.jsonl, DATE_samples_TASK.jsonl)",
    ),
    Form(
        "evalscope-scores",
        "an evalscope report, which holds scores and no answers",
        _keys("schema_version", "dataset_name", "metrics"),
        hint="give the JSONL files in the folders predictions and reviews beside it",
    ),
)

# Forms of rows: every row of the beginning must have the same one.
ROW_FORMS: tuple[Form, ...] = (
    Form(
        "eee-instance",
        "Every Eval Ever samples",
        _columns("schema_version", "evaluation_id", "sample_id", "input", "evaluation"),
    ),
    Form("lm-eval", "lm-eval samples", _is_lm_eval),
    Form("lmms-eval", "lmms-eval samples", _is_lmms_eval, "lmms-eval"),
    Form("evalscope-predictions", "evalscope predictions", _columns("index", "model_output")),
    Form("evalscope-reviews", "evalscope reviews", _columns("index", "sample_score")),
    Form("deepeyes", "DeepEyes results", _columns("pred_ans", "pred_output")),
    Form("zoomeye", "ZoomEye answers", _is_zoomeye),
    Form("vlmevalkit", "a VLMEvalKit table", _columns("index", "prediction"), "vlmevalkit"),
    Form(
        "vlmevalkit-scores",
        "accuracies of VLMEvalKit, which hold scores and no answers",
        _columns("split", "Overall"),
        hint="give MODEL_DATASET.xlsx beside it",
    ),
)
# Only where nothing else fits.
_PLAIN = Form("plain", "rows of ids and responses", _is_plain, "plain")
_QUESTIONS = Form(
    "questions",
    "a file of questions, not of answers",
    _is_question,
    hint="give the file of responses; a response stands in a column response, prediction or output",
)

READ = "plain, vlmevalkit, lmms-eval"
"""Forms that ``score --predictions`` reads today."""

FORMS: dict[str, Form] = {form.name: form for form in (*WHOLE_FORMS, *ROW_FORMS, _PLAIN)}


def recognise(path: Path, form: str | None = None) -> Recognised:
    """Tell the form of a file of answers by its content.

    Args:
        path: The file, or the folder that a kit writes.
        form: Its form, where the content fits several; what it is then is not asked.

    Raises:
        BenchmarkError: If nothing known fits, or the file cannot be looked at.
        UsageError: If several forms fit and none is named, or there is no form of this name.
    """
    if form is not None and form not in FORMS:
        raise unknown_name("form", form, tuple(FORMS))
    head = read_head(path)
    if form is not None:
        return Recognised(FORMS[form], head.container, head.names)
    found = _fitting(head)
    columns = ", ".join(head.names[:_MOST_COLUMNS]) or "none"
    if len(found) > 1:
        names = " and ".join(one.name for one in found)
        raise UsageError(f"{path} fits {names} (columns: {columns})", hint=f"--form {found[0].name}")
    if not found and head.container == "json" and not head.rows:
        raise BenchmarkError(
            f"{path}: no known form by its keys ({columns}), and no row in it could be looked at",
            hint="is it empty, or are its rows longer than any answer? Leave pictures and logs out of them",
        )
    if not found:
        what = "files" if head.container == "folder" else "members" if head.container == "zip" else "columns"
        raise BenchmarkError(
            f"{path}: no known form ({what}: {columns})",
            hint=f"known are {', '.join(FORMS)}; or rename to id and response, with responses as text",
        )
    return Recognised(found[0], head.container, head.names)


def is_whole(folder: Path) -> bool:
    """Return whether a folder as a whole is one file of answers, and not a folder of such files."""
    head = read_head(folder)
    return any(form.is_it(head) for form in WHOLE_FORMS)  # type: ignore[arg-type]  # they take heads


def _fitting(head: Head) -> list[Form]:
    """Return the forms that the beginning of a file has."""
    whole = next((form for form in WHOLE_FORMS if form.is_it(head)), None)  # type: ignore[arg-type]  # they take heads
    by_columns = _by_columns(head)
    rows = (by_columns,) if by_columns is not None else head.rows
    if whole is not None:
        return [whole, *(form for form in _common(rows, ROW_FORMS))] if head.container == "json" else [whole]
    found = _common(rows, ROW_FORMS)
    if found or not rows:
        return found
    if all(_is_question(row) for row in rows):
        return [_QUESTIONS]
    return [_PLAIN] if all(map(_is_plain, rows)) and _has_text(rows) else []


def _common(rows: Sequence[Values], forms: Sequence[Form]) -> list[Form]:
    """Return the forms that all rows have; those of any row where the rows do not agree."""
    each = [[form for form in forms if form.is_it(row)] for row in rows]  # type: ignore[arg-type]  # they take rows
    if each and all(own == each[0] for own in each):
        return each[0]
    return [form for form in forms if any(form in own for own in each)] if all(each) else []


def _by_columns(head: Head) -> Values | None:
    """Return the columns of a JSON table that is kept by columns, each an object of its cells."""
    if head.container != "json" or not {"index", "prediction"} <= set(head.names):
        return None
    shapes = {head.shapes.get((name,)) for name in head.names}
    return dict.fromkeys(head.names) if shapes == {"object"} else None


def not_read(path: Path, found: Recognised) -> BenchmarkError:
    """Return the error that says what a file is, its columns, and what can be done with it."""
    form = found.form
    columns = ", ".join(found.columns[:_MOST_COLUMNS])
    is_other = form.reader is not None or form.name.startswith("eyechart-")
    holds_none = form is _QUESTIONS or form.name.endswith("-scores") or form.name == "eee-aggregate"
    why = "" if holds_none else "; it is not read here" if is_other else "; eyechart does not read it yet"
    return BenchmarkError(
        f"{path} is {form.what} ({form.name}, columns: {columns}){why}",
        hint=f"{_hint(path, form)}. Known forms are {', '.join(FORMS)}; read are {READ}",
    )


def _hint(path: Path, form: Form) -> str:
    """Return what to do, with the name of the file that holds the answers where it stands beside."""
    if form.name != "lm-eval-scores":
        return form.hint.replace(" F ", f" {path} ")
    beside = sorted(other.name for other in path.parent.glob("*samples_*.jsonl"))
    return f"give {beside[0]}, which stands beside it" if beside else form.hint
