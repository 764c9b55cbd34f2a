"""A sweep's folder, read as frames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars


class Sweep:
    """A sweep that was computed: its folder, with the tables ``runs``, ``ledgers``, ``flows`` and ``samples``."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def __repr__(self) -> str:
        return f"Sweep({str(self.folder)!r})"

    @property
    def document(self) -> dict[str, Any]:
        """Everything but ledgers, flows and samples (``slowpath/sweep/1``)."""
        return json.loads((self.folder / "sweep.json").read_text(encoding="utf-8"))

    @property
    def points(self) -> list[dict[str, Any]]:
        """One entry for each combination of values and variant, with the goodput's interval and the limit."""
        return self.document["points"]

    def path(self, table: str = "runs") -> Path:
        """The Parquet file of a table; the other tables go with ``runs`` by the column ``run``."""
        path = self.folder / f"{table}.parquet"
        if not path.is_file():
            there = ", ".join(sorted(file.stem for file in self.folder.glob("*.parquet"))) or "none"
            raise FileNotFoundError(f"{self.folder} has no table {table!r}; there are: {there}")
        return path

    def polars(self, table: str = "runs") -> polars.DataFrame:
        """A table as a frame of polars (``pip install slowpath[polars]``)."""
        import polars

        return polars.read_parquet(self.path(table))

    def pandas(self, table: str = "runs") -> pandas.DataFrame:
        """A table as a frame of pandas (``pip install slowpath[pandas]``)."""
        import pandas

        return pandas.read_parquet(self.path(table))
