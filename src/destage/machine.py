"""The machine's resources, as far as this process may use them."""

import errno
import os
import resource
from pathlib import Path

from destage.errors import MachineError

_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
ADDRESS_SPACE_BYTES = 5 << 29
"""What the threads and allocators of DuckDB, Arrow and the engine reserve; they abort where it is missing."""
LEAST_ADDRESS_SPACE_BYTES = 400 << 20
"""What Python needs to load the libraries of most commands."""


def read_memory_size() -> int:
    """Return the memory that this process may use: the machine's, or the limit of its container [bytes]."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in _CGROUP_LIMITS:
        try:
            text = Path(path).read_text().strip()
        except OSError:
            continue
        if text.isdigit() and int(text) > 0:
            sizes.append(int(text))
    return min(sizes)


def check_address_space(needed: int = ADDRESS_SPACE_BYTES) -> None:
    """Raise an error if the limit of the address space is too low, below which libraries abort the process.

    Raises:
        MachineError: It is.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < needed:
        message = (
            f"the address space is limited to {limit >> 20:,} MiB; at least {needed >> 20:,} MiB are needed: "
            "raise the limit (ulimit -v)"
        )
        data = {"errno": errno.ENOMEM, "limit_bytes": limit, "needed_bytes": needed}
        raise MachineError("system.out-of-memory", message, "ulimit -v", data)
