"""The package's functions, against each other and against the tables."""

import _thread
import gzip
import threading
import time
from pathlib import Path

import pytest

import slowpath


def test_a_window_of_16_kib_limits(small: Path) -> None:
    narrow = slowpath.simulate(small, variant="narrow")
    assert narrow["run"]["limit"] == "receiver-window"
    assert narrow["run"]["bytes"] == 1 << 20
    entries = narrow["ledger"]["entries"]
    assert abs(sum(entry["time_s"] for entry in entries) - narrow["ledger"]["duration_s"]) < 0.02
    # One window each round trip of a little more than 10 ms.
    assert 1.2e6 < narrow["run"]["goodput_byte_per_s"] < 16384 / 0.010
    half = slowpath.simulate(small, {"delay": "10 ms"}, variant="narrow")
    assert 0.45 < half["run"]["goodput_byte_per_s"] / narrow["run"]["goodput_byte_per_s"] < 0.6


def test_run_and_explain_and_fit_agree(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    results = slowpath.run(small, variants=["narrow"], repeats=1, captures=True, out=out)
    assert results["schema"] == "slowpath/run/1"
    run = results["variants"][0]["runs"][0]
    assert run["verdict"]["limit"] == "receiver-window"
    capture = next((out / "captures").glob("*server*"))
    explained = slowpath.explain(capture)
    assert explained["connections"][0]["verdict"]["limit"] == "receiver-window"
    fitted = slowpath.fit(capture, simulations=60)
    assert "[network]" in fitted["experiment"]
    # Without a folder nothing stays.
    again = slowpath.run(small, variants=["narrow"], repeats=1)
    assert again["variants"][0]["runs"][0]["bytes"] == run["bytes"]


def test_a_sweep_is_the_same_as_its_points(small: Path, tmp_path: Path) -> None:
    swept = slowpath.sweep(
        small,
        {"delay": ["2 ms", "20 ms"], "loss": "0 %,1 %"},
        variants=["narrow"],
        repeats=2,
        out=tmp_path / "swept",
    )
    assert [point["values"] for point in swept.points] == [
        ["2 ms", "0 %"], ["2 ms", "1 %"], ["20 ms", "0 %"], ["20 ms", "1 %"],
    ]  # fmt: skip
    one = slowpath.simulate(small, {"delay": "20 ms", "loss": "1 %"}, variant="narrow")
    assert swept.points[3]["runs"][0] == one["run"]
    frame = swept.polars()
    assert frame.shape[0] == 8 and frame["delay [s]"].unique().sort().to_list() == [0.002, 0.02]
    joined = swept.polars("ledgers").join(frame, on="run")
    lasted = joined.group_by("run").agg(slowest=joined["time_s"].max())
    assert lasted.shape[0] == 8
    assert swept.pandas()["goodput_byte_per_s"].min() > 0
    with pytest.raises(FileNotFoundError, match="there are: ledgers, runs|there are: flows"):
        swept.path("samples")


def test_errors_say_what_to_do(small: Path, tmp_path: Path) -> None:
    with pytest.raises(slowpath.Error, match="slowpath list"):
        slowpath.simulate("no-such-experiment")
    with pytest.raises(slowpath.Error, match="did you mean `loss`"):
        slowpath.sweep(small, {"los": "1 %"}, out=tmp_path / "x")
    broken = tmp_path / "broken.pcap"
    broken.write_bytes(gzip.compress(b"no capture"))
    with pytest.raises(slowpath.Error, match="broken.pcap"):
        slowpath.explain(broken)
    with pytest.raises(slowpath.Error, match="holds no design.json"):
        slowpath.merge([tmp_path])
    with pytest.raises(ValueError, match="no folder"):
        slowpath.merge([])


def test_ctrl_c_ends_a_sweep_that_goes_on_later(small: Path, tmp_path: Path) -> None:
    settings = {"delay": "1 ms..400 ms step 1 ms", "loss": "0.01 %,0.1 %,1 %"}
    out = tmp_path / "long"

    def press() -> None:
        parts = out / "parts"
        while not parts.is_dir() or not any(parts.iterdir()):
            time.sleep(0.02)
        _thread.interrupt_main()

    threading.Thread(target=press, daemon=True).start()
    try:
        slowpath.sweep(small, settings, repeats=1, out=out)
    except KeyboardInterrupt:
        assert not (out / "sweep.csv").exists()
    else:
        pytest.skip("the sweep was faster than Ctrl-C")
    # Then fewer points of the same: what lies there is taken.
    again = slowpath.sweep(small, {**settings, "delay": "1 ms..20 ms step 1 ms"}, repeats=1, out=out)
    assert len(again.points) == 20 * 3 * 2


def test_the_interpreter_is_free_meanwhile(small: Path, tmp_path: Path) -> None:
    ticks = 0
    stop = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.wait(0.005):
            ticks += 1

    ticker = threading.Thread(target=tick)
    ticker.start()
    begun = time.monotonic()
    slowpath.sweep(small, {"delay": "1 ms..60 ms step 1 ms", "loss": "0 %,1 %"}, out=tmp_path / "s")
    lasted = time.monotonic() - begun
    stop.set()
    ticker.join()
    # Held, the interpreter would let it tick once or twice; a slow machine still lets a tenth through.
    assert ticks > lasted / 0.005 / 10, f"{ticks} ticks in {lasted:.1f} s"
