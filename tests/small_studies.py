"""Studies of the call centre on a small array, with few and short runs."""

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
