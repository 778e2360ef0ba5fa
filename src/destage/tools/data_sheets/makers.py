"""Which function makes each kind of part from its figures."""

from collections.abc import Callable, Mapping
from typing import Any

from destage.tools.data_sheets.controller_part import make_controller
from destage.tools.data_sheets.disk_part import make_disk
from destage.tools.data_sheets.made_part import MadePart
from destage.tools.data_sheets.ssd_part import make_ssd

MAKERS: Mapping[str, Callable[[Any], MadePart]] = {
    "disk": make_disk,
    "ssd": make_ssd,
    "controller": make_controller,
}
