"""The path that ``eyechart build`` takes for one picture, and the lazy one that a run takes for one view.

Run by bench_views.py as ``views_product.py MODE PLAN OUT RESAMPLER``; prints one JSON line.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

if "--core-only" in sys.argv:
    sys.modules["isal"] = None  # type: ignore[assignment]  # as if the extra [fast] were not installed

import numpy as np
from views_naive import peak_mb

from eyechart.images.cache import DecodedCache
from eyechart.images.compose import compose
from eyechart.images.decode import decode
from eyechart.images.deflate import deflate_name, new_compressor
from eyechart.images.encode import encode_composition
from eyechart.images.png import png_pieces
from eyechart.images.render import RenderSettings, render_views_of_picture
from eyechart.images.resample import resample
from eyechart.images.workers import PictureJob, render_batches, start_worker
from eyechart.schema import Box, Composition, DecodePolicy, Size

N_REPEATS = 5


def read_plan(path: str) -> tuple[Path, list[tuple[str, Composition]]]:
    plan = json.loads(Path(path).read_text())
    views = [
        (
            name,
            Composition(
                Size(*geometry["canvas"]),
                Box(*geometry["kept"]),
                tuple(geometry["offset"]),
                Size(*geometry["resized"]) if geometry["resized"] else None,
            ),
        )
        for name, geometry in plan["views"].items()
    ]
    return Path(plan["path"]), views


def cpu_of(work: Callable[[], object], n_repeats: int = N_REPEATS) -> float:
    """Least CPU seconds of some repeats: for parts too short to be measured once."""
    times = []
    for _ in range(n_repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def idle_core_seconds() -> float:
    """Seconds that all cores together have been idle since the system started."""
    return float(Path("/proc/uptime").read_text().split()[1])


def measure_build(path: Path, views: list[tuple[str, Composition]], out_dir: Path, settings: RenderSettings) -> dict:
    """The second picture of a worker: a release has hundreds, so the first one's start-up does not count."""
    first = cpu_of(lambda: render_views_of_picture(path, views, out_dir, settings), 1)
    wall = time.perf_counter()
    cpu = cpu_of(lambda: render_views_of_picture(path, views, out_dir, settings), 1)
    return {
        "cpu": cpu,
        "first": first,
        "wall": time.perf_counter() - wall,
        "mb": peak_mb(),
        "bytes": sum(entry.stat().st_size for entry in os.scandir(out_dir)),
        "deflate": deflate_name(),
    }


def measure_lazy(path: Path, views: list[tuple[str, Composition]], resampler: str) -> dict:
    """One view at a time, as multiples of the decode timed beside it: from the file, and from the decoded original."""
    cache = DecodedCache(max_bytes=1 << 30)
    decoded = cache.get("original", DecodePolicy(), lambda: decode(path))
    parts = {}
    for name, geometry in views:
        works = {
            "decode": lambda: decode(path),
            "cold": lambda g=geometry: compose(decode(path), g, resampler),
            "cold_png": lambda g=geometry: encode_composition(decode(path), g, resampler),
            "warm": lambda g=geometry: compose(decoded, g, resampler),
            "warm_png": lambda g=geometry: encode_composition(decoded, g, resampler),
        }
        rounds = [{key: cpu_of(work, 1) for key, work in works.items()} for _ in range(N_REPEATS)]
        least = {key: min(figures[key] for figures in rounds) for key in works}
        parts[name] = {key: least[key] / least["decode"] for key in works}
    return parts


def measure_floor(path: Path, views: list[tuple[str, Composition]], out_dir: Path, resampler: str) -> dict:
    """The sum of the components on each distinct view: one decode, resizes, deflate of filtered rows, one write."""
    decoded = decode(path)
    floor = cpu_of(lambda: decode(path))
    for geometry in {geometry: None for _, geometry in views}:
        if geometry.resized is None:
            kept = compose(
                decoded, Composition(Size(int(geometry.kept.width), int(geometry.kept.height)), geometry.kept)
            )
        else:
            floor += cpu_of(lambda g=geometry: resample(decoded.image, g.resized, resampler), 2)
            kept = compose(decoded, geometry, resampler)
        rows = np.diff(kept.astype(np.int16), axis=1, prepend=np.int16(0)).astype(np.uint8)
        floor += cpu_of(lambda rows=rows: new_compressor().compress(rows.reshape(-1).data), 2)
        content = b"".join(png_pieces(Size(kept.shape[1], kept.shape[0]), (0, 0), kept))
        floor += cpu_of(lambda content=content: (out_dir / "floor.bin").write_bytes(content), 2)
    return {"cpu": floor}


def measure_scaling(path: Path, views: list[tuple[str, Composition]], out_dir: Path, settings: RenderSettings) -> dict:
    """Wall seconds for 50 copies of a picture with one process and with two, whose start is included."""
    n_pictures, walls = 50, {}
    idle = idle_core_seconds()
    for n_processes in (1, 2):
        jobs = [
            PictureJob(path, tuple((f"{n_processes}/{index}/{name}", geometry) for name, geometry in views))
            for index in range(n_pictures)
        ]
        start = time.perf_counter()
        outcomes = list(render_batches(jobs, out_dir, settings, n_processes=n_processes))
        walls[n_processes] = time.perf_counter() - start
        if n_processes == 1:  # what was idle beside one process is what a second one can have
            free_cores = (idle_core_seconds() - idle) / walls[1]
        assert all(outcome.picture for outcome in outcomes)
    return {"one": walls[1], "two": walls[2], "n": n_pictures, "free_cores": free_cores}


def main() -> None:
    mode, plan, out_dir, resampler = sys.argv[1:5]
    path, views = read_plan(plan)
    settings = RenderSettings(resampler=resampler, hash_pixels="--hash" in sys.argv)
    start_worker()
    figures = {
        "build": lambda: measure_build(path, views, Path(out_dir), settings),
        "lazy": lambda: measure_lazy(path, views, resampler),
        "floor": lambda: measure_floor(path, views, Path(out_dir), resampler),
        "scaling": lambda: measure_scaling(path, views, Path(out_dir), settings),
    }[mode]()
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
