"""What is made of slowpath itself; the package's own functions are the way in."""

from pathlib import Path

MODEL: int
__version__: str

class Error(Exception):
    """What slowpath could not do: what was being done, on what, what was found, what to do."""

def explained(capture: Path, capacity: str | None = None) -> str: ...
def fitted(capture: Path, flow: int | None = None, simulations: int = 360) -> tuple[str, str]: ...
def ran(
    experiment: str,
    out: Path,
    variants: list[str] = ...,
    repeats: int | None = None,
    seed: int = 1,
    quick: bool = False,
    set: list[tuple[str, str]] = ...,
    captures: bool = False,
) -> str: ...
def simulated(
    experiment: str,
    settings: list[str] = ...,
    variant: str | None = None,
    seed: int = 1,
    quick: bool = False,
    samples: bool = False,
) -> str: ...
def sweep_design(
    experiment: str,
    sweeps: list[str],
    sample: int | None = None,
    variants: list[str] = ...,
    repeats: int | None = None,
    within: float | None = None,
    most: int = 100,
    seed: int = 1,
    quick: bool = False,
    samples: bool = False,
) -> tuple[str, int]: ...
def sweep_missing(design: str, out: Path) -> list[int]: ...
def sweep_batch(design: str, units: list[int], out: Path) -> int: ...
def sweep_here(design: str, out: Path) -> None: ...
def sweep_merge(folders: list[Path], out: Path) -> None: ...
