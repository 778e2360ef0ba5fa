"""`destage calibrate`."""

from destage.cli.options import Executor, Json, Quiet, RayAddress, ReportFile, Spec, Store, Workers
from destage.cli.session import choose_executor, run_study
from destage.errors import UsageError


def calibrate(
    spec: Spec,
    store: Store = None,
    executor: Executor = "auto",
    workers: Workers = None,
    ray_address: RayAddress = None,
    report: ReportFile = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Fit what is unknown to measured figures, and predict others with odds.

    The study has the key `calibrate`: unknowns with priors, and figures with their values. Runs that are
    already in the store are not executed again, so that a stopped calibration goes on.
    """
    from destage import sweeps

    executor = choose_executor(ray_address, executor)
    study = sweeps.load_study(spec)
    if study.calibration is None:
        message = "has no calibrate; run it with `destage run`"
        raise UsageError("usage.not-a-calibration", message, spec)
    run_study(study, store, executor, workers, report, quiet=quiet, as_json=as_json)
