"""What ``verify`` reports: findings with level, code, path and id, and which of them merely follow from others."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from eyechart.schema import Value

Level = Literal["error", "warning", "known"]
Check = Literal["structure", "row", "image", "pixels"]

CODES: dict[str, tuple[Level, str]] = {
    "answer_beyond_choices": ("error", "the answer is not a letter of the choices"),
    "answer_mismatch": ("error", "answer_text is not the text of the choice that answer names"),
    "bad_box": ("error", "a box is not four numbers with area"),
    "bad_choices": ("error", "choices are not 2–26 texts"),
    "box_crosses_border": ("known", "the source box leaves the image; its clipped copy is right"),
    "box_outside": ("error", "a box lies outside the image or view it belongs to"),
    "box_view_differs": ("error", "bbox_view is not the target carried into the view"),
    "canvas_differs": ("error", "the view's size does not follow from its crop box or its original"),
    "card_differs": ("warning", "the configs of README.md are not the views of the release"),
    "clipped_box_differs": ("error", "bbox_clipped is not bbox_original cut at the border"),
    "crop_box_differs": ("error", "neither pixels nor bbox_view fit crop_box_original"),
    "duplicate_choices": ("warning", "two choices are equal up to case"),
    "duplicate_file": ("error", "two rows of a view show the same file"),
    "duplicate_id": ("error", "two rows of a view have the same id"),
    "duplicate_question": ("warning", "two ids ask the same about the same picture"),
    "extra_file": ("error", "no row shows this file"),
    "features_differ": ("error", "metadata/features.json does not declare the columns of a release"),
    "field_differs": ("error", "a question is not the same in all views and in dataset.json"),
    "id_differs": ("error", "id does not belong to base_sample_id"),
    "identity_broken": ("error", "two views that are equal by definition differ in pixels"),
    "keys_differ": ("error", "rows have other keys than the columns of a release"),
    "malformed_row": ("error", "a row is not a JSON object with an id"),
    "manifest_differs": ("error", "the manifest's width or height is not that of the file"),
    "manifest_orphan": ("error", "the manifest names a file that no row shows"),
    "missing_dataset": ("warning", "there is no dataset.json"),
    "missing_field": ("error", "a row lacks a field that it needs"),
    "missing_id": ("error", "a view lacks a question"),
    "missing_image": ("error", "a row shows a file that is not there"),
    "missing_manifest": ("warning", "there is no image manifest, so no hash can be compared"),
    "missing_metadata": ("error", "a declared config has no rows"),
    "not_an_image": ("error", "a file is not a picture"),
    "not_aligned": ("warning", "the views of this release cannot be joined in one table: build it again"),
    "not_fetched": ("known", "images or rows of this view were not fetched"),
    "not_in_manifest": ("error", "the manifest does not name this image"),
    "not_loadable": ("error", "the datasets library cannot open what the card promises"),
    "not_white": ("error", "pixels outside the kept region are not white"),
    "pixels_differ": ("error", "the view's pixels are not those of its original"),
    "refused_image": ("error", "the decode policy refuses this picture"),
    "scale_differs": ("error", "the scale field is not that of the view id, or the size is not the scaled one"),
    "too_large": ("warning", "the picture is too large for its pixels to be compared with"),
    "truncated_image": ("error", "a picture cannot be decoded to its end"),
    "type_differs": ("error", "values have another type than their column in a release"),
    "undeclared_view": ("warning", "a folder under data/ is not a declared config"),
    "unfinished_build": ("error", "the build that writes this folder has not finished"),
    "unknown_erratum": ("warning", "the errata name an id that the release does not have"),
    "unknown_id": ("error", "a view has a question that the release does not have"),
    "unread_view": ("warning", "neither its id nor its rows tell what the view is: decoded, but not compared"),
    "unreadable_json": ("error", "a metadata file is not JSON of the expected form"),
    "unsafe_path": ("error", "file_name leaves the release or is not a file path"),
    "wrong_bytes": ("error", "the manifest's byte size is not that of the file"),
    "wrong_count": ("error", "the validation summary counts other rows than there are"),
    "wrong_format": ("error", "the content is of another format than the file name says"),
    "wrong_group": ("error", "image_group_id is not the hash of the original"),
    "wrong_hash": ("error", "the file's SHA-256 is not the recorded one"),
    "wrong_image_path": ("error", "dataset.json names another file than the original view does"),
    "wrong_size": ("error", "width and height of the row are not those of the file"),
    "wrong_view_family": ("error", "view_family is another one than its view id or the other rows of the view say"),
    "wrong_view_id": ("error", "view_id is not the name of the folder"),
}
"""Every code with its usual level and its meaning. What the release itself declares is ``known`` instead."""

_GEOMETRY = frozenset({"canvas_differs", "scale_differs", "box_view_differs", "box_outside"})
_PIXELS = frozenset({"pixels_differ", "not_white", "identity_broken"})
# Whatever else is wrong with a row is its fault; how the wrong value is written is none beside it.
_SPELLING = frozenset({"keys_differ", "type_differs"})
# If the first is found for one image, the others only follow from it.
_IMPLIES = {
    "wrong_size": _GEOMETRY,
    "unknown_id": frozenset({"duplicate_file"}),
    "crop_box_differs": frozenset({"box_view_differs"}) | _PIXELS,
    **dict.fromkeys(("canvas_differs", "missing_image", "not_an_image", "truncated_image"), _PIXELS),
    **dict.fromkeys(("refused_image", "wrong_hash"), _PIXELS),
}
# The same for one question and all its views: a target that is wrong is not a measure of what they show.
_QUESTION_IMPLIES = dict.fromkeys(("bad_box", "box_outside", "clipped_box_differs"), _PIXELS)
# And for one view: what is not part of the release is in no manifest.
_VIEW_IMPLIES = {"undeclared_view": frozenset({"not_in_manifest", "wrong_view_id", "wrong_view_family"})}


class Finding(Value, frozen=True):
    """One thing to know about a release.

    Args:
        level: ``error`` stops a run, ``warning`` does not, ``known`` is what the release declares itself.
        code: A key of ``CODES``.
        path: File inside the release.
        message: What is wrong, with the values.
        id: The question concerned, None if the finding is about the file.
        view: The view concerned, None if it is about the question or the release.
        line: Line in the file, counted from 1.
    """

    level: Level
    code: str
    path: str
    message: str
    id: str | None = None
    view: str | None = None
    line: int | None = None


class VerifyReport(Value, frozen=True):
    """The result of ``verify``: counts and findings, errors first, in a fixed order."""

    n_questions: int
    n_views: int
    n_images: int
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that stop a run."""
        return tuple(finding for finding in self.findings if finding.level == "error")

    @property
    def counts(self) -> dict[str, int]:
        """Number of findings by code."""
        return dict(Counter(finding.code for finding in self.findings))


def found(
    code: str,
    path: str,
    message: str = "",
    *,
    id: str | None = None,
    view: str | None = None,
    line: int | None = None,
    is_declared: bool = False,
    level: Level | None = None,
) -> Finding:
    """Return a finding at the usual level of its code, at another, or ``known`` if the release declares it."""
    usual, meaning = CODES[code]
    text = f"{meaning}: {message}" if message else meaning
    return Finding("known" if is_declared else level or usual, code, path, text, id, view, line)


def root_causes(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings without those that only follow from another one, sorted."""
    findings = tuple(findings)
    codes: dict[tuple[str | None, str | None], set[str]] = {}
    for finding in findings:
        codes.setdefault((finding.view, finding.id), set()).add(finding.code)

    def is_implied(finding: Finding) -> bool:
        view, question_id = finding.view, finding.id
        if view is None or question_id is None:
            return False
        if finding.code in _SPELLING:
            others = codes[view, question_id] | codes.get((None, question_id), set())
            return not others <= _SPELLING
        return any(
            finding.code in implies.get(code, ())
            for place, implies in (
                ((view, question_id), _IMPLIES),
                ((None, question_id), _QUESTION_IMPLIES),
                ((view, None), _VIEW_IMPLIES),
            )
            for code in codes.get(place, ())
        )

    levels = ("error", "warning", "known")
    kept = (finding for finding in findings if not is_implied(finding))
    return tuple(sorted(kept, key=lambda each: (levels.index(each.level), each.path, each.line or 0, each.code)))
