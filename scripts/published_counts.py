"""Print how many published figures the model reproduces, from the pages in docs/published/."""

import re
import sys
from collections import Counter
from pathlib import Path

PAGES = Path(__file__).parents[1] / "docs" / "published"
REPRODUCED, AFTER_FIT, POST_HOC = "reproduced blind", "reproduced after a stated fit", "post hoc"
MISSED, UNINFORMATIVE = "not reproduced", "uninformative"
_HEADER = re.compile(r"\d+ published figures: (.+)\.$", re.MULTILINE)


def count_classes() -> Counter[str]:
    """Return the number of figures of each class, from the first lines of all pages."""
    counts: Counter[str] = Counter()
    for page in sorted(PAGES.glob("*.md")):
        counted = _HEADER.findall(page.read_text(encoding="utf-8"))[0].partition(" (beside ")[0]
        for part in counted.split(", "):
            number, _, name = part.partition(" ")
            counts[name] += int(number)
    return counts


def count_user_figures() -> Counter[str]:
    """Return the number of figures of users supported by class, without those that were fitted."""
    lines = (line for page in PAGES.glob("*.md") for line in page.read_text("utf-8").splitlines())
    rows = (line.split("|") for line in lines)
    classes = (row[5].strip() for row in rows if row[0] == "" and row[1:2] and row[1].startswith(" users, "))
    return Counter(name for name in classes if name != "input" and not name.endswith("(not counted)"))


def describe_counts() -> str:
    """Return the counts in two sentences."""
    every, users = count_classes(), count_user_figures()
    found = users[REPRODUCED] + users[AFTER_FIT]
    return (
        f"Of the published figures that the model predicts, {every[REPRODUCED]} are reproduced blind, "
        f"{every[AFTER_FIT]} after a stated fit and {every[POST_HOC]} post hoc; {every[MISSED]} are not "
        f"reproduced, and for {every[UNINFORMATIVE]} the prediction is too wide to tell. "
        f"Of the {users.total()} on users supported, {found} {'is' if found == 1 else 'are'} reproduced, "
        f"{users[MISSED]} are not, {users[UNINFORMATIVE]} are uninformative."
    )


if __name__ == "__main__":
    sys.stdout.write(f"{describe_counts()}\nAll figures: docs/published-experiments.md\n")
