"""Commands in scripts: loops, variables, continuation lines, quotes and redirections of three shells."""

import re

import pytest

from destage.tools.scripts import find_variable, read_commands

TOOL = re.compile(r"tool(?:\.exe)?", re.IGNORECASE)


def commands(text: str) -> list[str]:
    """Return the arguments of each command."""
    return [" ".join(word.text for word in command.words) for command in read_commands(text, TOOL)]


def test_cmd_loops_are_unrolled() -> None:
    text = """@echo off
set TIME=60
rem tool -b1K ignored
for %%b in (4K 8K) do (
  for %%o in (1,2) do C:\\bin\\tool.exe -b%%b -o%%o -d%TIME% ^
     "D:\\my file" > out.txt
)
for /L %%n in (2,2,6) do tool -t%%n x & echo done
"""
    assert commands(text) == [
        *(f"-b{size} -o{depth} -d60 D:\\my file" for size in ("4K", "8K") for depth in (1, 2)),
        *(f"-t{threads} x" for threads in (2, 4, 6)),
    ]


def test_powershell_loops_are_unrolled() -> None:
    text = """$sizes = @("4K", "8K")
$path = "E:\\x.dat"
foreach ($size in $sizes)
{
    foreach ($depth in 1..2) { & ".\\tool.exe" "-b$($size)" -o${depth} `
        $path | Out-File "r.txt" }
}
Invoke-Command -ScriptBlock {C:\\tool.exe -c1G x.bin} -AsJob
"""
    assert commands(text) == [
        *(f"-b{size} -o{depth} E:\\x.dat" for size in ("4K", "8K") for depth in (1, 2)),
        "-c1G x.bin",
    ]


def test_posix_loops_are_unrolled() -> None:
    text = """#!/bin/sh
OPTIONS="--a=1 --b=2"   # both
for t in 1 2; do tool $OPTIONS --t=$t run > log; done
for i in {1..2}
do
    CMD="tool --i=$i"
    time $CMD run 2>&1 | tee log
done
for n in $(seq 1 2 5); do sudo tool --n=${n} run; done
echo "tool --x"
"""
    assert commands(text) == [
        "--a=1 --b=2 --t=1 run",
        "--a=1 --b=2 --t=2 run",
        "--i=1 run",
        "--i=2 run",
        "--n=1 run",
        "--n=3 run",
        "--n=5 run",
    ]


def test_words_have_line_and_column() -> None:
    (command,) = read_commands("cd x\n  tool -a \\\n   -b 'c d'\n", TOOL)
    places = [(word.text, word.line, word.column) for word in command.words]
    assert places == [("-a", 2, 8), ("-b", 3, 4), ("c d", 3, 7)]


@pytest.mark.parametrize("word", ["-b%SIZE%", "-b%%s", "-b$size", "-b${size}", "-b$(($x * 2))", "-b${a[$i]}"])
def test_undefined_variables_are_found(word: str) -> None:
    assert find_variable(word)


@pytest.mark.parametrize("word", ["-b8K", "D:\\x.dat", "#1", "-rdpct90/10:0/10", "--rate=50%"])
def test_other_words_have_no_variable(word: str) -> None:
    assert find_variable(word) is None


@pytest.mark.parametrize(
    "text",
    ["for x in 1 2; do tool -a", "} } ) done", 'tool "-a', "foreach ($x in ", "for %%b in (", "|&;`^\\"],
)
def test_incomplete_scripts_are_read(text: str) -> None:
    read_commands(text, TOOL)
