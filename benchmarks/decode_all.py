"""Decode every picture under a folder and do nothing else, in as many processes as there are cores.

Run by bench_build.py as ``decode_all.py FOLDER pyvips|pillow``: the floor of any check that looks at every pixel.
"""

import multiprocessing
import os
import sys
from functools import partial
from pathlib import Path


def decode_one(library: str, path: Path) -> int:
    if library == "pyvips":
        import pyvips

        return len(pyvips.Image.new_from_file(str(path), access="sequential").write_to_memory())
    from PIL import Image

    with Image.open(path) as image:
        image.load()
        return image.width * image.height * 3


def main() -> None:
    folder, library = Path(sys.argv[1]), sys.argv[2]
    os.environ["VIPS_CONCURRENCY"] = "1"
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix in {".png", ".jpg"}]
    n_processes = len(os.sched_getaffinity(0))
    with multiprocessing.get_context("forkserver").Pool(n_processes) as pool:
        print(len(paths), sum(pool.imap_unordered(partial(decode_one, library), paths, chunksize=4)))


if __name__ == "__main__":
    main()
