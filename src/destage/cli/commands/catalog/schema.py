"""`destage catalog schema`."""

from typing import Annotated, Literal

import typer

from destage.cli.terminal.output import print_json


def schema(
    document: Annotated[
        Literal["study", "scenario"],
        typer.Argument(metavar="DOCUMENT", help="Document that the schema describes."),
    ] = "study",
) -> None:
    """Print the JSON Schema of a study or a configuration."""
    if document == "study":
        from destage.sweeps.study.reader import study_schema

        print_json(study_schema())
    else:
        from destage import engine

        print_json(engine.authoring_schema())
