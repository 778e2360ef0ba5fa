"""`destage schema`."""

from typing import Annotated, Literal

import typer

from destage.cli.output import print_json


def schema(
    of: Annotated[
        Literal["study", "scenario"],
        typer.Argument(help="Schema to print: of a study, or of one configuration."),
    ] = "study",
) -> None:
    """Print the JSON Schema of a study or a configuration, for editors."""
    if of == "study":
        from destage.sweeps import study_schema

        print_json(study_schema())
    else:
        from destage import engine

        print_json(engine.authoring_schema())
