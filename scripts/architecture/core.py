"""The Rust core: its modules on their floors, and the path of one cached write through it."""

import importlib.util
import re
from dataclasses import dataclass
from types import ModuleType

from architecture.drawing import Step
from architecture.imports import ROOT, Floors

SIMULATION = ROOT / "engine" / "core" / "src" / "simulation"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the simulation, and the step or event that leads to it; None for the step before."""

    file: str
    function: str
    caller: str | None = None


WRITE_PATHS = {
    "Until it is acknowledged": (
        Call("request_path.rs", "on_source"),
        Call("request_path.rs", "issue"),
        Call("hosts.rs", "issue"),
        Call("front_end.rs", "start", "issue"),
        Call("front_end.rs", "admit"),
        Call("request_path.rs", "on_firmware"),
        Call("front_end.rs", "cross_link"),
        Call("request_path.rs", "on_link"),
        Call("writes.rs", "write"),
        Call("writes.rs", "write_into_cache"),
        Call("write_back.rs", "fill"),
        Call("request_path.rs", "complete", "write_into_cache"),
    ),
    "Later: its destage": (
        Call("write_back/destage_run.rs", "destage_if_due"),
        Call("write_back/destage_run.rs", "destage_run"),
        Call("write_back/destage_run.rs", "destage_stripe"),
        Call("array_set/io.rs", "write_stripe"),
        Call("array_set/io.rs", "issue_planned_write"),
        Call("array_set/back_end.rs", "submit"),
        Call("array_set/back_end.rs", "send"),
        Call("disk_io.rs", "on_device", "Event::Device"),
        Call("disk_io.rs", "end_io"),
        Call("disk_io.rs", "go_on"),
        Call("disk_io.rs", "end_operation"),
        Call("destage.rs", "destage_done"),
    ),
}
"""The calls that serve a write which finds room in the write cache."""


def read_layers() -> Floors:
    """Return the modules of the core on the floors that its test lists, with their imports."""
    test = _load_test()
    arrows: dict[str, set[str]] = {module: set() for layer in test.LAYERS for module in layer}
    for importer, target in test.imports(SIMULATION.parent):
        if importer[0] != target[0] and target[0] in arrows:
            arrows[importer[0]].add(target[0])
    return Floors("destage-core", test.LAYERS, arrows)


def follow(path: tuple[Call, ...]) -> list[tuple[Step, str]]:
    """Return the documented steps of a path, each with the first sentence of its documentation.

    Raises:
        LookupError: A function is not in its file, or the one before does not lead to it.
    """
    steps: list[tuple[Step, str]] = []
    bodies: dict[str, str] = {}
    previous = ""
    for call in path:
        body, documentation = find_function((SIMULATION / call.file).read_text("utf-8"), call.function)
        caller = call.caller or previous
        if caller and not _leads_to(bodies.get(caller, caller + "("), call.function):
            raise LookupError(f"{call.file}: {caller} does not lead to {call.function}")
        bodies[call.function] = bodies.get(call.function, "") + body
        place = call.file.removesuffix(".rs").rpartition("/")[2]
        previous = call.function
        if documentation:
            steps.append((Step(place, call.file, f"{call.function}()"), documentation))
    return steps


def _leads_to(body: str, function: str) -> bool:
    """Whether a body calls a function, or schedules the event that does."""
    events = (SIMULATION / "mod.rs").read_text("utf-8")
    handlers = dict(re.findall(r"(Event::\w+)[^=\n]*=> self\.(\w+)\(", events))
    scheduled = any(handler == function and f"{event}(" in body for event, handler in handlers.items())
    return scheduled or re.search(rf"\b{function}\(", body) is not None


def find_function(text: str, name: str) -> tuple[str, str]:
    """Return the body of a Rust function, and the first sentence of its documentation.

    Raises:
        LookupError: The text has no such function.
    """
    lines = text.splitlines()
    starts = (
        at for at, line in enumerate(lines) if re.match(rf" *(pub(\(super\))? )?(const )?fn {name}\b", line)
    )
    start = next(starts, None)
    if start is None:
        raise LookupError(f"no function {name}")
    indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())]
    end = lines.index(f"{indent}}}", start)
    above = start
    while lines[above - 1].lstrip().startswith(("///", "#[")):
        above -= 1
    notes = [line.strip().removeprefix("///").strip() for line in lines[above:start] if "///" in line]
    return "\n".join(lines[start + 1 : end]), re.split(r"(?<=[.;]) ", " ".join(notes))[0].rstrip(".;")


def _load_test() -> ModuleType:
    file = ROOT / "tests" / "contract" / "test_core_layers.py"
    spec = importlib.util.spec_from_file_location("test_core_layers", file)
    if spec is None or spec.loader is None:
        raise LookupError(file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
