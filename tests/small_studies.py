"""Studies with few and short runs: the call centre on a small array, and seeks on queues."""

from collections.abc import Sequence

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
