"""What the shell completes: studies, sweeps, presets, catalogue entries, named queries, columns, parameters.

A completion that fails completes nothing: an error would appear in the middle of the command line.
"""

import importlib.util
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import typer

_DOCUMENTS = (".yaml", ".yml")
_LAST_WORD, _STATEMENT = re.compile(r"\w*\Z"), re.compile(r"\s")
Completer = Callable[[typer.Context, str], list[str]]


def quietly(complete: Callable[[typer.Context, str], Iterable[str]]) -> Completer:
    """Return a completion that keeps what begins with the word, and completes nothing if it fails."""

    def completed(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            return [name for name in complete(ctx, incomplete) if name.startswith(incomplete)]
        except Exception:  # noqa: BLE001 - as the module says
            return []

    return completed


@quietly
def complete_studies(_: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete bundled studies and YAML files."""
    return [*_list_bundled_studies(), *_list_files(incomplete, _DOCUMENTS)]


@quietly
def complete_targets(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete bundled studies, YAML files and sweeps."""
    return [*complete_studies(ctx, incomplete), *complete_sweeps(ctx, incomplete)]


@quietly
def complete_configurations(_: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete YAML and JSON files."""
    return _list_files(incomplete, (*_DOCUMENTS, ".json"))


@quietly
def complete_workloads(_: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete bundled workloads, and files that hold one."""
    from destage.engine import catalog
    from destage.tools.registry import list_suffixes

    files = _list_files(incomplete, (*_DOCUMENTS, ".json", *list_suffixes()))
    return [*[entry.name for entry in catalog.entries("workloads")], *files]


@quietly
def complete_importable_files(_: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete files of other tools."""
    from destage.tools.registry import list_suffixes

    return _list_files(incomplete, list_suffixes())


@quietly
def complete_sweeps(ctx: typer.Context, _: str) -> Iterable[str]:
    """Complete the sweeps in the store: by the study's name where it has one sweep."""
    from destage.store import list_sweeps

    names = [path.name for path in list_sweeps(ctx.params.get("store"))]
    studies = [name.rpartition("-")[0] for name in names]
    return [*(study for study in dict.fromkeys(studies) if studies.count(study) == 1), *names]


@quietly
def complete_measured_sets(ctx: typer.Context, _: str) -> Iterable[str]:
    """Complete the measured sets in the store."""
    from destage.measured.sets import list_sets
    from destage.store import default_store

    return list_sets(ctx.params.get("store") or default_store())


@quietly
def complete_questions(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete a named query, or the last word of an SQL statement: relations and columns of the sweep."""
    if not _STATEMENT.search(incomplete):
        from destage.queries.named.named_queries import list_queries

        return sorted({query.name for query in list_queries()})
    return _complete_sql(ctx, incomplete)


@quietly
def complete_conditions(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete the last word of an SQL condition over the points of the sweep."""
    return _complete_sql(ctx, incomplete)


def _complete_sql(ctx: typer.Context, incomplete: str) -> list[str]:
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from destage.cli.parameters.sql_completion import SqlCompleter
    from destage.queries import open_session
    from destage.store import find_sweep

    # Of an option that has no value yet, the arguments before it are not assigned.
    sweep = ctx.params["sweep"] or ctx.args[0]
    with open_session(find_sweep(sweep, ctx.params.get("store"))) as session:
        completions = SqlCompleter(session.public).get_completions(Document(incomplete), CompleteEvent())
        words = [completion.text for completion in completions]
    before = _LAST_WORD.sub("", incomplete)
    return [before + word for word in words]


@quietly
def complete_parameters(_: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete the next segment of a dotted path: `controller.cache.` to its keys."""
    from destage.sweeps.space.parameters import list_keys

    parent, dot = incomplete.rpartition(".")[:2]
    return [f"{parent}{dot}{key}" for key in list_keys(parent)]


@quietly
def complete_trace_formats(_: typer.Context, __: str) -> Iterable[str]:
    """Complete the formats of traces."""
    from destage.engine import traces

    return traces.formats()


@quietly
def complete_policies(_: typer.Context, incomplete: str) -> Iterable[str]:
    """Complete the last of the replacement policies of a list."""
    from destage.engine.miss_ratio_curves import list_policies

    before, separator = incomplete.rpartition(",")[:2]
    return [f"{before}{separator}{name}" for name in list_policies()]


def _list_bundled_studies() -> list[str]:
    """Return the names of the bundled studies without importing what reads them."""
    spec = importlib.util.find_spec("destage.sweeps")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    return sorted(file.stem for folder in folders for file in Path(folder, "studies").glob("*.yaml"))


def _list_files(incomplete: str, suffixes: Iterable[str]) -> list[str]:
    """Return the files with these suffixes, and the folders, that a path may become."""
    folder, slash, name = incomplete.rpartition("/")
    paths: list[str] = []
    for path in sorted(Path(folder or ("/" if slash else ".")).iterdir()):
        is_hidden = path.name.startswith(".") and not name.startswith(".")
        if path.is_dir() and not is_hidden:
            paths.append(f"{folder}{slash}{path.name}/")
        elif path.suffix in suffixes and not is_hidden:
            paths.append(f"{folder}{slash}{path.name}")
    return paths
