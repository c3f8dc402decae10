"""A picture of PANDA's size, or of the least that is never decoded whole, and the peak memory of what reads it."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import eyechart

PANDA = (35_503, 26_627)
# Just above what may be decoded at once; decoded it would take 642 MB besides what any process takes.
SMALLEST = (16_896, 12_672)
MEGABYTES = {SMALLEST: 450, PANDA: 700}
"""The most memory that a process may take for a picture of that size."""
_BLOCK_PX, _SHIFT_PX = 512, 97
# Not ru_maxrss, which a child inherits from its parent.
_PEAK = """
import sys
from pathlib import Path
{body}
print("peak", Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


def picture(size):
    """A picture in which no two places look alike, made row by row when it is written."""
    import pyvips

    noise = pyvips.Image.gaussnoise(_BLOCK_PX, _BLOCK_PX, mean=128, sigma=40, seed=1).cast("uchar")
    tile = noise.bandjoin([noise.rot90(), noise.rot180()]).gaussblur(1.5).copy_memory()
    width, height = size
    n_blocks = height // _BLOCK_PX + 1
    long = width + n_blocks * _SHIFT_PX
    ramp = pyvips.Image.xyz(long, _BLOCK_PX).extract_band(0).linear(100 / long, -50)
    row = (tile.replicate(long // _BLOCK_PX + 1, 1).crop(0, 0, long, _BLOCK_PX) + ramp).cast("uchar").copy_memory()
    # Below each other lie rows of blocks, each further to the left by some pixels: copied, not computed.
    rows = [row.crop(number * _SHIFT_PX, 0, width, _BLOCK_PX) for number in range(n_blocks)]
    return pyvips.Image.arrayjoin(rows, across=1).crop(0, 0, width, height).copy(interpretation="srgb")


def giant_jpeg(factory, size):
    """The JPEG of a size that all tests of a session share, made by the first process that asks."""
    folder = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    path = folder / f"giant-{size[0]}.jpg"
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            picture(size).jpegsave(str(path.with_suffix(".making")), Q=75)
            path.with_suffix(".making").rename(path)
    return path


def peak_megabytes(body, *arguments, cwd):
    """Run something in a process of its own and return its peak memory."""
    script = _PEAK.format(body=body)
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "OPENAI_API_KEY": "none", "PYTHONPATH": str(Path(eyechart.__file__).parent.parent)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return int(done.stdout.split()[-1]) / 1024
