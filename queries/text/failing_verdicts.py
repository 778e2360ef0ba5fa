"""What the replicates of the value below an answer show, in words."""


def describe_failing(verdict: str | None, binding: str | None) -> str:
    """Return why a value is not the answer, as in `miss response_p95 <= 30ms`.

    Args:
        verdict: What all its replicates show, as in `answers`; None for a miss.
        binding: The binding objective, or the status of its runs.
    """
    if verdict == "undecided":
        return f"are not shown to meet {binding}"
    if verdict == "not_stationary":
        return "reach no steady state"
    if verdict == "not_measured":
        return f"have no value for {binding}"
    if verdict == "rebuild_ended":
        return "end the rebuild before the window ends (--set run.window makes it shorter)"
    if binding == "array_failed":
        return "lose more disks than the RAID level tolerates"
    return f"are {binding}" if (binding or "").startswith("overloaded") else f"miss {binding}"
