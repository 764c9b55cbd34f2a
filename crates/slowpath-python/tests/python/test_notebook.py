"""The guide's notebook, run as a reader would."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[4] / "docs/guide/examples/response-surface.ipynb"


def test_the_notebook_runs_and_draws(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    drawn = next(tmp_path.glob("slowpath-*/surface.png"))
    assert drawn.stat().st_size > 20_000
    frames = [out for cell in notebook.cells for out in cell.get("outputs", []) if "text/html" in out.get("data", {})]
    assert any("goodput" in out["data"]["text/html"] for out in frames)
