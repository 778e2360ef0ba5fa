"""Studies with few and short runs: the call centre on a small array, seeks and calibrations on queues."""

import json
from collections.abc import Mapping, Sequence

_TEXT = """\
name: {name}
question: How fast is a small array?
scenario:
  workload: {{use: call_center}}
  controller: {{use: smart_array_5i_plus}}
  array: {{raid: "5", disks: 4, disk: {{use: u320_10k_36gb}}}}
  run: {{warm_up: none, window: {{requests: {requests}}}}}
axes:
{axes}
replicates: {replicates}
"""


def small_study(name: str, *axes: str, requests: int = 300, replicates: int = 2) -> str:
    """Return the YAML text of a study; each axis is a line of YAML, the window has a number of requests."""
    return _TEXT.format(
        name=name,
        axes="\n".join(f"  {axis}" for axis in axes),
        requests=requests,
        replicates=replicates,
    )


_SEEK = """\
name: {name}
scenario:
  workload:
    users: 10
    streams:
      - name: orders
        arrival: {{kind: closed, think_time: {{kind: exponential, mean: 1s}}, ios: 5, order: serial}}
        operations: {{read_fraction: 0.5, size: {{kind: constant, value: 8KiB}}}}
        address: {{kind: uniform}}
  controller: {{cache: {{capacity: 0}}}}
  array:
    raid: "0"
    stripe_unit: 64KiB
    disk: {{kind: server, servers: 1, service: {{kind: exponential, mean: 5ms}}, capacity: 10GB}}
  run: {{warm_up: {{requests: 100}}, window: {{requests: {requests}}}}}
axes: {{array.disks: {disks}}}
seek: {{maximize: workload.users, subject_to: ["response_p95 <= 60ms"], max: {most}}}
replicates: {replicates}
"""


def small_seek(
    name: str, disks: Sequence[int], most: int, *, requests: int = 500, replicates: int = 2
) -> str:
    """Return the YAML text of a study that seeks users, at most `most`, in several planning rounds."""
    return _SEEK.format(name=name, disks=list(disks), most=most, requests=requests, replicates=replicates)


_CALIBRATION = """\
name: {name}
scenario:
  workload:
    streams:
    - name: orders
      arrival: {{kind: poisson, rate: 100/s}}
      operations: {{read_fraction: 0.5, size: {{kind: constant, value: 8KiB}}}}
      address: {{kind: uniform}}
  controller: {{cache: {{capacity: 0B}}}}
  array:
    raid: "0"
    disks: 2
    stripe_unit: 64KiB
    disk: {{kind: server, servers: 1, service: {{kind: exponential, mean: 5ms}}, capacity: 10GB}}
  run: {{warm_up: {{requests: 100}}, window: {{requests: 1000}}}}
replicates: 2
calibrate: {calibrate}
"""
SERVICE, RATE = "array.disk.service.mean", "workload.streams.0.arrival.rate"


def small_calibration(
    name: str,
    unknowns: Mapping[str, object],
    figures: Mapping[str, Mapping[str, object]],
    waves: Mapping[str, int],
    **others: object,
) -> str:
    """Return the YAML text of a calibration of queues, of which at least the service time is unknown.

    Args:
        unknowns: The priors beside that of the service time.
        figures: The figures; `set` has their configuration.
        others: Further keys of the calibration.
    """
    priors = {SERVICE: {"log_uniform": ["1ms", "15ms"]}, **unknowns}
    calibrate = {"unknowns": priors, "figures": figures, "waves": waves, **others}
    # JSON in one line is YAML.
    return _CALIBRATION.format(name=name, calibrate=json.dumps(calibrate))
