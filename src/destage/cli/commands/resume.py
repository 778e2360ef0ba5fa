"""`destage resume`."""

from destage.cli.hard_stop import HardStop
from destage.cli.options import Executor, Json, Quiet, RayAddress, ReportFile, Store, SweepName, Workers
from destage.cli.progress import ProgressDisplay
from destage.cli.session import choose_executor, conclude


def resume(
    sweep: SweepName,
    store: Store = None,
    executor: Executor = "auto",
    workers: Workers = None,
    ray_address: RayAddress = None,
    report: ReportFile = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Execute a sweep's remaining runs and write its report.

    Prints its answers, as `destage run` does.
    """
    from destage import sweeps
    from destage.store import find_sweep

    executor = choose_executor(ray_address, executor)
    path = find_sweep(sweep, store)
    with HardStop(path.name), ProgressDisplay(path.name, is_quiet=quiet) as display:
        outcome = sweeps.resume(path, executor=executor, workers=workers, progress=display)
    conclude(outcome, report, as_json=as_json)
