"""Which folder a run goes to: the unfinished one of the same plan, the one asked for, or a new one."""

import re
import secrets
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from eyechart.errors import EyechartError
from eyechart.runs.files import text_of_name
from eyechart.runs.later_plans import RUN_FILE
from eyechart.runs.plan import Plan, orders_of
from eyechart.runs.store import ESTIMATES_FILE, RunStore, create_store, grow_store, open_store
from eyechart.schema import JsonObject, ResponseState, Run, Seen, TokenPrice

RUNS_FOLDER = Path("runs")


class Destination(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run is kept.

    Args:
        out: The folder itself; None finds or makes one under ``runs``.
        runs: Folder of run folders.
        is_new: Never resume an unfinished run.
    """

    out: Path | None = None
    runs: Path = RUNS_FOLDER
    is_new: bool = False


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """When, by which versions, by which command and at which cost a run was started, and how it is to be scored."""

    now: datetime
    versions: dict[str, str] = {}
    command: tuple[str, ...] = ()
    price: TokenPrice | None = None
    estimated_dollars: float | None = None
    scorer: str | None = None
    allowed_faults: tuple[str, ...] = ()
    protocol: str | None = None
    plan_sha256: str | None = None


def find_or_create(
    plan: Plan,
    where: Destination,
    origin: Origin,
    seen: Iterable[Seen] = (),
    *,
    may_grow: bool = False,
    again: tuple[ResponseState, ...] = (),
) -> tuple[RunStore, bool]:
    """Return the store of a plan, and whether it was there before.

    With ``where.out`` it is that folder. Otherwise it is the newest unfinished run of this plan, whatever its date,
    or a new folder ``<date>-<benchmark>-<model>-<random>``.

    Args:
        plan: The plan.
        where: Where to look and to write.
        origin: Recorded in a new ``run.json``.
        seen: What the model is expected to see; only read for a new plan.
        may_grow: Whether questions of ``where.out`` may have been changed, added or removed since it was planned: what
            is the same is kept.
        again: States that are asked again, so that a run that holds some is not finished.

    Raises:
        StoreError: If ``where.out`` holds another run or other files, or a folder cannot be written.
    """
    if where.out is not None:
        if (where.out / RUN_FILE).is_file():
            if may_grow:
                return grow_store(where.out, run_record(plan, text_of_name(where.out.name), origin), plan, seen), True
            return open_store(where.out, plan), True
        return create_store(where.out, run_record(plan, text_of_name(where.out.name), origin), plan, seen), False
    unfinished = None if where.is_new else newest_unfinished(where.runs, plan, again)
    if unfinished is not None:
        return unfinished, True
    folder = where.runs / folder_name(plan, origin.now)
    return create_store(folder, run_record(plan, folder.name, origin), plan, seen), False


def newest_unfinished(runs: Path, plan: Plan, again: tuple[ResponseState, ...] = ()) -> RunStore | None:
    """Return the newest run of this plan that lacks answers or estimates, or holds what is asked again, if any."""
    return next((store for store in _newest_first(runs, plan) if not _is_finished(store, plan, again)), None)


def tell_finished(runs: Path, plan: Plan) -> str | None:
    """Return what to say of a finished run of this plan beside a new one, None where there is none."""
    done = next((store for store in _newest_first(runs, plan) if _is_finished(store, plan, ())), None)
    if done is None:
        return None
    return (
        f"all of this was asked before: {done.folder} is finished, and with --out {done.folder} nothing is asked again"
    )


def _newest_first(runs: Path, plan: Plan) -> list[RunStore]:
    matching = ((store.run.created_at, store.folder.name, store) for store in _stores(runs, plan))
    return [store for _, _, store in sorted(matching, key=lambda entry: entry[:2], reverse=True)]


def folder_name(plan: Plan, now: datetime) -> str:
    """Return a name for a new run folder, with a random end so that two starts never share it."""
    parts = (f"{now:%Y-%m-%d}", _plain(plan.benchmark.name), _plain(plan.model.spec), secrets.token_hex(3))
    return "-".join(parts)


def run_record(plan: Plan, run_id: str, origin: Origin) -> Run:
    """Return the settings of a run as they are stored."""
    options = plan.options
    policy: JsonObject = msgspec.to_builtins(options.geometry_policy)
    return Run(
        id=run_id,
        plan_id=plan.plan_id,
        created_at=origin.now.isoformat(timespec="seconds"),
        benchmark=plan.benchmark,
        views=plan.views,
        view_preset=options.view_preset,
        model=plan.model,
        sampling=plan.sampling,
        prompt_id=plan.prompt_id,
        decode=options.decode,
        resampler=options.resampler,
        transport=options.transport,
        geometry_policy=policy,
        seeds={"limit": options.seed},
        versions=origin.versions,
        limit=options.limit,
        n_questions=len(plan.questions),
        n_repeats=options.repeats,
        n_rotations=max((len(orders_of(question, options.rotations)) for question in plan.questions), default=1),
        command=origin.command,
        price=origin.price,
        estimated_dollars=origin.estimated_dollars,
        matching=plan.matching,
        scorer=origin.scorer,
        allowed_faults=origin.allowed_faults,
        protocol=origin.protocol,
        plan_sha256=origin.plan_sha256,
    )


def _stores(runs: Path, plan: Plan) -> Iterator[RunStore]:
    """Yield the runs of a plan; folders of newer versions or with damaged settings are left alone."""
    for file in runs.glob(f"*/{RUN_FILE}"):
        try:
            store = RunStore(file.parent)
            if store.is_of(plan):
                yield store
        except EyechartError:
            continue


def _is_finished(store: RunStore, plan: Plan, again: tuple[ResponseState, ...]) -> bool:
    if not (store.folder / ESTIMATES_FILE).is_file():
        return False
    index = store.index()
    if any(row.state in again for row in index.rows.values()):
        return False
    return all(index.is_settled(request.id) for request in plan.requests)


def _plain(name: str) -> str:
    """Return a name without characters that a file system or shell may mind."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:60] or "unnamed"
