"""What the tests of the package share: a small experiment."""

from pathlib import Path

import pytest

SMALL = """
title = "a small transfer"
[network]
both = [{ rate = "20 Mbit/s", queue = "100 packets" }, { delay = "5 ms" }, { loss = "0 %" }]
[workload]
kind = "ftp-get"
size = "1 MiB"
repeats = 2
deadline = "60 s"
[hosts.server]
system = "linux"
congestion_control = "cubic"
[hosts.client]
system = "linux"
congestion_control = "cubic"
[[variants]]
name = "auto"
[[variants]]
name = "narrow"
hosts.client = { window = "16384 B" }
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path
