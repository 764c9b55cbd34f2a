"""slowpath: finds out why a bulk transfer over a network path is slow, and proves it.

Answers are plain data: dictionaries and lists, in the documents that the command prints
(``slowpath explain --format json`` and so on). Sweeps leave tables in a folder, which
:class:`Sweep` reads as polars or pandas frames.

Settings are written as on the command line, with units: ``"50 Mbit/s"``, ``"20 ms"``,
``"0.1 %"``. Errors are :class:`Error`, with a sentence that says what to do.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _slowpath
from ._slowpath import MODEL, Error, __version__
from ._sweep import Sweep

if TYPE_CHECKING:
    from distributed import Client

__all__ = [
    "MODEL",
    "Error",
    "Sweep",
    "__version__",
    "explain",
    "fit",
    "merge",
    "run",
    "simulate",
    "sweep",
]

#: Values of settings: one as it is written with its unit, several, or a range such as
#: ``"10 Mbit/s..100 Mbit/s step 10 Mbit/s"``.
Settings = Mapping[str, str | int | float | Iterable[str | int | float]]


def explain(capture: str | os.PathLike[str], *, capacity: str | None = None) -> dict[str, Any]:
    """What a capture says, and where the time of each transfer went (``slowpath/explain/1``).

    ``capacity`` is the line's rate where it is known, such as ``"100 Mbit/s"``.
    """
    return json.loads(_slowpath.explained(Path(capture), capacity))


def fit(
    capture: str | os.PathLike[str], *, flow: int | None = None, simulations: int = 360
) -> dict[str, Any]:
    """The path behind a capture, found by simulation (``slowpath/fit/1``).

    ``experiment`` holds the text of an experiment file of that path. ``flow`` is the number of
    the connection; without it the one that moved the most data.
    """
    document, experiment = _slowpath.fitted(Path(capture), flow, simulations)
    return {**json.loads(document), "experiment": experiment}


def run(
    experiment: str | os.PathLike[str],
    *,
    variants: Sequence[str] = (),
    repeats: int | None = None,
    seed: int = 1,
    quick: bool = False,
    set: Mapping[str, str] | None = None,
    captures: bool = False,
    out: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Runs an experiment in simulated time (``slowpath/run/1``).

    ``experiment`` is a built-in's name or a file. With ``out`` the results stay there, as
    ``slowpath run`` leaves them, and what lies there is not run again.
    """
    with _folder(out) as folder:
        laid_over = [(key, str(value)) for key, value in (set or {}).items()]
        answer = _slowpath.ran(
            os.fspath(experiment), folder, list(variants), repeats, seed, quick, laid_over, captures
        )
    return json.loads(answer)


def simulate(
    experiment: str | os.PathLike[str],
    settings: Mapping[str, str | int | float] | None = None,
    *,
    variant: str | None = None,
    seed: int = 1,
    quick: bool = False,
    samples: bool = False,
) -> dict[str, Any]:
    """One simulated run with settings laid over an experiment.

    Of the variants the first, or the one named. The answer has ``run`` (goodput, duration, limit),
    ``ledger`` (where the time went), ``flows``, and with ``samples`` ``series`` over time.
    """
    laid_over = [f"{key}={value}" for key, value in (settings or {}).items()]
    if not laid_over:
        laid_over = ["bottleneck=100 %"]
    answer = _slowpath.simulated(os.fspath(experiment), laid_over, variant, seed, quick, samples)
    return json.loads(answer)


def sweep(
    experiment: str | os.PathLike[str],
    settings: Settings,
    *,
    out: str | os.PathLike[str],
    sample: int | None = None,
    variants: Sequence[str] = (),
    repeats: int | None = None,
    within: float | None = None,
    most: int = 100,
    seed: int = 1,
    quick: bool = False,
    samples: bool = False,
    cluster: str | Client | None = None,
    progress: bool = False,
) -> Sweep:
    """Computes an experiment over ranges of settings into the folder ``out``.

    Every combination, or with ``sample`` a Latin hypercube's sample of so many points. ``within``
    repeats each point until its 95 % interval is within that share of the mean, ``most`` times at
    most. What lies in the folder is not computed again.

    Without ``cluster`` on all processors of this machine; with it (an address, or a client of
    ``distributed``) on the workers of a Dask cluster, which must see the folder ``out``.
    """
    words = [f"{key}={_range(value)}" for key, value in settings.items()]
    design, _ = _slowpath.sweep_design(
        os.fspath(experiment), words, sample, list(variants), repeats, within, most, seed, quick, samples
    )
    folder = Path(out).absolute()
    if cluster is None:
        _slowpath.sweep_here(design, folder)
    else:
        from . import _dask

        _dask.compute(cluster, design, folder, progress=progress)
        _slowpath.sweep_merge([folder], folder)
    return Sweep(folder)


def merge(
    folders: Iterable[str | os.PathLike[str]], out: str | os.PathLike[str] | None = None
) -> Sweep:
    """Puts the parts of one sweep together, computed in several folders or in one."""
    paths = [Path(folder) for folder in folders]
    if not paths:
        raise ValueError("putting a sweep together: no folder was given")
    whole = Path(out) if out is not None else paths[0]
    _slowpath.sweep_merge(paths, whole)
    return Sweep(whole)


def _range(value: str | int | float | Iterable[str | int | float]) -> str:
    if isinstance(value, (str, int, float)):
        return str(value)
    return ",".join(str(one) for one in value)


class _folder:
    """A folder that stays where it was named, and goes where it was not."""

    def __init__(self, named: str | os.PathLike[str] | None) -> None:
        self._named = named
        self._made: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Path:
        if self._named is not None:
            return Path(self._named)
        self._made = tempfile.TemporaryDirectory(prefix="slowpath-")
        return Path(self._made.name)

    def __exit__(self, *_: object) -> None:
        if self._made is not None:
            self._made.cleanup()
