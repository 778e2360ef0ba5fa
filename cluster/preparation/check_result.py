"""The result of one check of `destage cluster doctor`."""

from dataclasses import dataclass

from destage.errors import Issue


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check.

    Attributes:
        subject: What was checked: `API server`, `KubeRay`, `storage`, ...
        code: The error's code; empty if the check passed.
        fix: What to do; empty if the check passed.
    """

    subject: str
    message: str
    code: str = ""
    fix: str = ""

    @property
    def has_passed(self) -> bool:
        """Whether there is nothing to do."""
        return not self.code

    @property
    def issue(self) -> Issue:
        """The error of a failed check."""
        return Issue(self.code, self.subject, f"{self.message}; {self.fix}")
