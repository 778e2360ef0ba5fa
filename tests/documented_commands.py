"""The commands on the pages of documentation, and which test executes those that need more than a folder."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
    if re.search(r"^ *\$ ", page.read_text(encoding="utf-8"), re.MULTILINE)
)
BUCKET, RAY, FIO = "s3://bucket/prefix", "--ray-address", "fio --output-format"
_KUBERNETES = "tests/kubernetes_cluster/test_documented_commands.py"
ELSEWHERE = {
    BUCKET: "tests/objects/test_documented_commands.py",
    RAY: "tests/system/test_documented_commands.py",
    FIO: "tests/workloads/test_documented_commands.py",
    **dict.fromkeys(("destage cluster ", "kubectl ", "report STUDY --store"), _KUBERNETES),
    "make demo": "tests/system/test_demo.py",
    "make test": ".ci/run",
    "make image": "scripts/image_test.sh",
}
"""What commands contain that need more than a folder, and the file that executes them."""
NOT_EXECUTED = {
    "helm repo add": "downloads a chart",
    "helm install kuberay-operator": "downloads a chart and an image; `make cluster-test OPERATOR=` runs it",
    "ray up": "starts machines in a cloud",
    "ray down": "ends machines in a cloud",
    "blktrace": "needs a block device",
    "export AWS_ACCESS_KEY_ID": "has no values",
}
"""What commands contain that no test executes, and why."""


def read_commands(page: str) -> list[str]:
    """Return the commands of a page in its order, without comments."""
    found = []
    for indent, kind, text in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        if kind == "console":
            lines = text.replace("\\\n", " ").splitlines()
            commands = [line.removeprefix(f"{indent}$ ") for line in lines if line.startswith(f"{indent}$ ")]
            found += [re.sub(r"\s+# .*$", "", command).strip() for command in commands]
    return found


def find_commands(page: str, part: str) -> list[str]:
    """Return the commands of a page that contain a text."""
    return [command for command in read_commands(page) if part in command]
