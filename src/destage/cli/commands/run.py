"""`destage run`."""

from destage.cli.options import Executor, Json, Quiet, RayAddress, ReportFile, Spec, Store, Workers
from destage.cli.session import choose_executor, run_study


def run(
    spec: Spec,
    store: Store = None,
    executor: Executor = "auto",
    workers: Workers = None,
    ray_address: RayAddress = None,
    report: ReportFile = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run a study, print its answers and write its report.

    Runs that are already in the store are not executed again, and the report of a sweep that has not changed
    is kept.
    """
    from destage import sweeps

    executor = choose_executor(ray_address, executor)
    run_study(sweeps.load_study(spec), store, executor, workers, report, quiet=quiet, as_json=as_json)
