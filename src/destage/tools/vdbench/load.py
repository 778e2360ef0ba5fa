"""Import of Vdbench parameter files as workloads: each run, and each value of its loops, is a test.

docs/workloads.md has a table of how each parameter is translated.
"""

import re

from destage.errors import ConfigError, Issue
from destage.tools.import_options import DEFAULTS, ImportOptions
from destage.tools.imported_workload import ImportedWorkload
from destage.tools.options import OptionReader
from destage.tools.vdbench.definitions import ParameterFile
from destage.tools.vdbench.runs import build_tests
from destage.tools.words import sort_by_place

_DEFINITION = re.compile(r"^\s*(sd|wd|rd|fsd|fwd)=\S+", re.MULTILINE | re.IGNORECASE)


def recognizes(text: str) -> bool:
    """Return whether a text looks like a parameter file."""
    kinds = {match[1].lower().removeprefix("f") for match in _DEFINITION.finditer(text)}
    return len(kinds) > 1


def read_tests(text: str, file: str, options: ImportOptions = DEFAULTS) -> list[ImportedWorkload]:
    """Read the tests of a parameter file.

    Raises:
        ConfigError: With every parameter that cannot be read, each with its place and what is allowed.
    """
    definitions = ParameterFile(OptionReader(options.ignore_unknown))
    issues = definitions.reader.issues
    definitions.read(text)
    tests = []
    if not any(issue.code == "vdbench.file-system" for issue in issues):
        tests = build_tests(definitions, file)
        if not definitions.runs and not issues:
            message = "no run; a run is rd=name,wd=..."
            issues.append(Issue("import.no-test", "", message))
    if issues:
        raise ConfigError(sort_by_place(issues), file)
    return tests
