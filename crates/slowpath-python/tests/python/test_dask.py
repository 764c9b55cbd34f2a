"""Sweeps on a cluster of several processes, some of which die."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

import slowpath
from slowpath import _dask, _slowpath

SETTINGS = {"delay": "1 ms..40 ms step 1 ms", "loss": "0 %,0.1 %,1 %"}

DRIVER = """
import sys, slowpath
if __name__ == "__main__":
    address, small, out = sys.argv[1:]
    slowpath.sweep(small, {"delay": "1 ms..40 ms step 1 ms", "loss": "0 %,0.1 %,1 %"}, out=out, cluster=address)
"""


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.fixture
def cluster():
    with LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None) as made:
        yield made


def test_killed_workers_and_a_killed_driver_lose_nothing(cluster, small: Path, tmp_path: Path) -> None:
    here = slowpath.sweep(small, SETTINGS, out=tmp_path / "here")
    out = tmp_path / "there"
    parts = out / "parts"
    # The driver is killed once the first results lie there ...
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, cluster.scheduler_address, str(small), str(out)])
    while driver.poll() is None and not (parts.is_dir() and any(parts.iterdir())):
        time.sleep(0.02)
    driver.kill()
    driver.wait()
    assert not (out / "sweep.csv").exists() or driver.returncode == 0
    # ... and two of the workers while the second call computes the rest.
    with Client(cluster) as client:
        victims = list(client.run(os.getpid).values())[:2]
        before = len(list(parts.iterdir()))
        killer = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import os, signal, sys, time\n"
                "folder, before, *victims = sys.argv[1:]\n"
                "while len(os.listdir(folder)) <= int(before): time.sleep(0.02)\n"
                "for victim in victims: os.kill(int(victim), signal.SIGKILL)",
                str(parts), str(before), *map(str, victims),
            ]  # fmt: skip
        )
        there = slowpath.sweep(small, SETTINGS, out=out, cluster=client)
        killer.kill()
        killer.wait()
    assert bytes_of(there.folder) == bytes_of(here.folder)
    runs = there.polars()
    assert runs.shape[0] == runs["run"].n_unique() == 40 * 3 * 2 * 2


def test_a_mistake_is_told_before_anything_is_given_out(cluster, small: Path, tmp_path: Path) -> None:
    with Client(cluster) as client, pytest.raises(slowpath.Error, match="did you mean"):
        slowpath.sweep(small, {"los": "1 %"}, out=tmp_path / "x", cluster=client)


class Leaving:
    """A cluster one of whose workers ends as it is asked, and stays as long in the list as that takes."""

    def __init__(self, stays: bool) -> None:
        self.asked = 0
        self.stays = stays

    def nthreads(self) -> dict[str, int]:
        return {"one": 1, "two": 1} if self.stays or self.asked < 2 else {"one": 1}

    def run(self, _seen, _out: str, *, on_error: str) -> dict[str, object]:
        assert on_error == "return"
        self.asked += 1
        answer = (slowpath.__version__, _slowpath.MODEL, True)
        gone = OSError("the stream is closed")
        return {"one": answer, "two": gone} if self.stays or self.asked < 2 else {"one": answer}


def test_a_worker_that_ends_as_it_is_asked_is_no_mistake(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_dask, "BETWEEN_TRIES_S", 0.0)
    leaving = Leaving(stays=False)
    _dask._same_everywhere(leaving, tmp_path)
    assert leaving.asked == 2
    with pytest.raises(slowpath.Error, match="the stream is closed"):
        _dask._same_everywhere(Leaving(stays=True), tmp_path)


def test_other_versions_are_refused(cluster, small: Path, tmp_path: Path) -> None:
    def older() -> None:
        from slowpath import _slowpath

        _slowpath.MODEL = 0

    with Client(cluster) as client:
        client.run(older, workers=list(client.nthreads())[:1])
        with pytest.raises(slowpath.Error, match="install the same version everywhere"):
            slowpath.sweep(small, {"loss": "1 %"}, out=tmp_path / "y", cluster=client)
