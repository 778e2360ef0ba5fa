"""`destage explain`: reasons for the results of a sweep."""

import typer

from destage.cli.commands.explain import axes, point, ranges

app = typer.Typer(
    help="Explain what bounds a point and which axes matter.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("point")(point.point)
app.command("axes")(axes.axes)
app.command("ranges")(ranges.ranges)
