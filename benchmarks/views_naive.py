"""What a user writes: open the file again for every view, LANCZOS, save as PNG with Pillow's defaults.

Run by bench_views.py as ``views_naive.py PLAN OUT``; prints one JSON line.
"""

import json
import os
import sys
import time
from pathlib import Path

from PIL import Image, features
from PIL import __version__ as pillow_version


def peak_mb() -> float:
    """Peak resident memory. Not ru_maxrss, which a child inherits from its parent."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def write_views(plan: dict, out_dir: Path) -> None:
    for name, geometry in plan["views"].items():
        image = Image.open(plan["path"]).convert("RGB")
        if geometry["resized"]:
            view = image.resize(geometry["resized"], Image.Resampling.LANCZOS)
        else:
            view = Image.new("RGB", geometry["canvas"], "white")
            view.paste(image.crop(geometry["kept"]), geometry["offset"])
        view.save(out_dir / name)


def main() -> None:
    plan, out_dir = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    cpu, wall = time.process_time(), time.perf_counter()
    write_views(plan, out_dir)
    figures = {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "mb": peak_mb(),
        "bytes": sum(entry.stat().st_size for entry in os.scandir(out_dir)),
        "zlib": features.version("zlib"),
        "pillow": pillow_version,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
