"""README.md and `make demo` state how many published figures are reproduced as the pages have them."""

import re

from script_modules import ROOT, load_script

published_counts = load_script("scripts/published_counts.py")


def test_counts_are_those_of_the_rows() -> None:
    """The first lines of the pages agree with their tables."""
    rows = [
        line.split(" | ")
        for page in published_counts.PAGES.glob("*.md")
        for line in page.read_text().splitlines()
        if line.startswith("| ") and not line.startswith("| figure |")
    ]
    classes = [row[4] for row in rows]
    counts = published_counts.count_classes()
    assert counts["not reproduced"] == classes.count("not reproduced") > 0
    assert counts["reproduced blind"] == classes.count("reproduced blind") > 0
    assert counts.total() == sum(
        name not in {"input", "arithmetic of the paper"} and not name.endswith("(not counted)")
        for name in classes
    )


def test_the_readme_states_the_counts() -> None:
    """Its sentence follows the pages, which a run of all studies rewrites."""
    text = " ".join((ROOT / "README.md").read_text().split())
    assert published_counts.describe_counts() in text


def test_the_readme_states_the_users_of_its_picture() -> None:
    """The users with 64 MiB are those drawn beside."""
    picture = (ROOT / "docs/images/users-against-cache.svg").read_text()
    drawn = re.findall(r"exponent ([\d.]+), cache capacity 64 MiB[^:]*: users supported ([\d.]+)", picture)
    text = " ".join((ROOT / "README.md").read_text().split())
    users = {exponent: f"{float(number):.0f}" for exponent, number in drawn}
    assert f"computes {users['0']} (uniform) and {users['0.9']} (Zipf 0.9)" in text
