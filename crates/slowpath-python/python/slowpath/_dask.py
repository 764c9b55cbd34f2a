"""Sweeps on the workers of a Dask cluster.

A task is a batch of about a second: numbers of the design's units go out, a number of runs comes back. The
results never pass the scheduler: workers write them into the sweep's folder, which all of them see, as parts
that are whole or not there. So a worker or the driver may be killed at any moment; the folder says what is
still to do, and the same call goes on.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from . import _slowpath

if TYPE_CHECKING:
    from distributed import Client

#: Seconds of a processor that a batch should take: the scheduler needs about a millisecond for a task.
BATCH = 1.0
#: How often a batch is given out again whose workers died.
AGAIN = 5
#: How often workers that cannot be reached are asked again what they have, and the seconds between.
TRIES = 10
BETWEEN_TRIES_S = 0.5


def compute(cluster: str | Client, design: str, out: Path, *, progress: bool = False) -> None:
    """Computes on the cluster every unit of the design of which the folder lacks runs."""
    from distributed import Client

    if isinstance(cluster, Client):
        return _compute(cluster, design, out, progress)
    with Client(cluster) as client:
        return _compute(client, design, out, progress)


def _compute(client: Client, design: str, out: Path, progress: bool) -> None:
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    missing = _slowpath.sweep_missing(design, out)
    _same_everywhere(client, out)
    total, done = len(missing), 0
    waiting = [[unit] for unit in missing[: 2 * _threads(client)]]
    rest = missing[len(waiting) :]
    per_unit: float | None = None
    running: dict[str, tuple[list[int], int]] = {}
    pool = as_completed()

    def give(units: list[int], times: int = 0) -> None:
        future = client.submit(batch, str(out), units, pure=False, retries=AGAIN)
        running[future.key] = (units, times)
        pool.add(future)

    def fill() -> None:
        nonlocal rest
        threads = max(1, _threads(client))
        while len(running) < 2 * threads and (waiting or rest):
            if waiting:
                give(waiting.pop(0))
                continue
            # The first batches are one unit each, to learn how long a unit takes; the last are small, so that all
            # workers end together.
            size = 1 if per_unit is None else max(1, int(BATCH / max(per_unit, 1e-6)))
            size = min(size, max(1, len(rest) // (2 * threads)))
            units, rest = rest[:size], rest[size:]
            give(units)

    fill()
    try:
        for future in pool:
            units, times = running.pop(future.key)
            # A batch whose worker died once it was done is computed again, and its future is open again by now: asking for its
            # error waits for that, where its status would be neither finished nor failed.
            error = future.exception()
            if error is None:
                seconds = future.result()
                measured = seconds / len(units)
                per_unit = measured if per_unit is None else 0.8 * per_unit + 0.2 * measured
                done += len(units)
            elif isinstance(error, KilledWorker) and times < AGAIN:
                # The scheduler gives a batch up after `allowed-failures` workers died of it, or near it.
                give(units, times + 1)
            else:
                raise error if isinstance(error, BaseException) else _slowpath.Error(str(error))
            if progress:
                print(f"\r{done} of {total} points", end="", file=sys.stderr, flush=True)
            fill()
    finally:
        if progress and total:
            print(file=sys.stderr)
        for future in list(pool.futures):
            future.cancel()


def batch(out: str, units: list[int]) -> float:
    """Computes units on a worker; seconds that it took, without those in which others had the processor."""
    begun, worked = time.monotonic(), time.process_time()
    design = (Path(out) / "design.json").read_text(encoding="utf-8")
    _slowpath.sweep_batch(design, units, Path(out))
    return min(time.monotonic() - begun, time.process_time() - worked)


def _threads(client: Client) -> int:
    return sum(client.nthreads().values())


def _seen(out: str) -> tuple[str, int, bool]:
    return _slowpath.__version__, _slowpath.MODEL, (Path(out) / "design.json").is_file()


def _same_everywhere(client: Client, out: Path) -> None:
    """Refuses workers of another version, and workers that do not see the folder."""
    if not client.nthreads():
        raise _slowpath.Error("sweeping on a cluster: it has no worker; start some (`dask worker ADDRESS`)")
    found = client.run(_seen, str(out), on_error="return")
    # A worker may end at any time, and another be started in its place.
    for _ in range(TRIES):
        if not any(isinstance(answer, OSError) for answer in found.values()):
            break
        time.sleep(BETWEEN_TRIES_S)
        found = client.run(_seen, str(out), on_error="return")
    here = (_slowpath.__version__, _slowpath.MODEL)
    for worker, answer in found.items():
        if isinstance(answer, OSError) and worker not in client.nthreads():
            continue
        if isinstance(answer, Exception):
            raise _slowpath.Error(
                f"sweeping on a cluster: a worker cannot use slowpath ({answer}); install the same version everywhere"
            ) from answer
        version, model, sees = answer
        if (version, model) != here:
            raise _slowpath.Error(
                f"sweeping on a cluster: worker {worker} has slowpath {version} with model {model}, here it is "
                f"{here[0]} with {here[1]}; install the same version everywhere"
            )
        if not sees:
            raise _slowpath.Error(
                f"sweeping on a cluster: worker {worker} does not see {out}; give a folder that all workers share"
            )


def main() -> int:
    """``python -m slowpath._dask ADDRESS FOLDER``: computes what the folder's design lacks (for the command)."""
    address, folder = sys.argv[1:]
    out = Path(folder).absolute()
    try:
        compute(address, (out / "design.json").read_text(encoding="utf-8"), out, progress=sys.stderr.isatty())
    except (OSError, _slowpath.Error) as error:
        print(f"slowpath: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
