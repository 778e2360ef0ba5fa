"""Run typical work of sweeps with the engine of a wheel that was built with counters: `train.py WHEEL`.

Only the standard library is used, since the environment of a build has nothing else. Scenarios are in
canonical form, so that no catalogue and no units are needed (`generate.py` writes them).
"""

import importlib.machinery
import importlib.util
import json
import struct
import sys
import tempfile
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

SCENARIOS = Path(__file__).with_name("scenarios.jsonl")
RECORDED = "recorded"
"""The trace that scenarios replay: the requests of the first scenario."""


def load_engine(wheel: Path, folder: Path) -> ModuleType:
    """Return the extension module of a wheel, without its package."""
    with zipfile.ZipFile(wheel) as archive:
        modules = (name for name in archive.namelist() if Path(name).name.startswith("_engine."))
        (name,) = (name for name in modules if not name.endswith(".pyi"))
        path = archive.extract(name, folder)
    loader = importlib.machinery.ExtensionFileLoader("_engine", path)
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec("_engine", loader, origin=path))
    loader.exec_module(module)
    return module


def train(engine: Any) -> None:
    """Run all scenarios, replacement policies and miss ratio curves."""
    scenarios = SCENARIOS.read_text(encoding="utf-8").splitlines()
    trace = engine.record_requests(scenarios[0], {})
    _, _, ended = engine.simulate_batch(scenarios, {RECORDED: trace})
    if ended is not None:
        raise ended
    # Few keys have most of the accesses, and one in four is new.
    keys = [index if index % 4 == 0 else index * index % 30_011 for index in range(200_000)]
    for policy in json.loads(engine.schema())["$defs"]["Policy"]["oneOf"]:
        for capacity in (1_000, 20_000):
            engine.count_hits(policy["const"], capacity, struct.pack(f"<{len(keys)}Q", *keys))
    for rate in (None, 0.1):
        engine.miss_ratio_curves(trace, "lru", 8, rate=rate)


def main() -> None:
    """Train the engine of the wheel given."""
    with tempfile.TemporaryDirectory() as folder:
        train(load_engine(Path(sys.argv[1]), Path(folder)))


if __name__ == "__main__":
    main()
