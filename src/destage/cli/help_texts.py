"""Help texts with placeholders for values instead of the types of the implementation."""

from typing import Any

_MOST = 2**31
"""Larger maximums come from the integer type and are not shown."""
_NUMBERS = ("int", "float")


def use_plain_words(command: Any) -> None:
    """Replace types by placeholders in the help of a command and of its subcommands.

    `--workers INTEGER RANGE  [x>=1]` becomes `--workers N  [at least 1]`. The methods that are replaced are
    Typer's own; one that a later version no longer calls leaves its text as it is.
    """
    for parameter in getattr(command, "params", ()):
        bounds = _describe_bounds(parameter.type)
        vars(parameter.type)["_describe_range"] = lambda bounds=bounds: bounds
        if parameter.param_type_name == "argument":
            name = parameter.human_readable_name
            usage = name if parameter.required else f"[{name}]"
            vars(parameter)["make_metavar"] = lambda ctx, usage=False, name=name, inside=usage: (  # noqa: ARG005
                inside if usage else name
            )
        elif parameter.metavar is None and not getattr(parameter, "is_flag", False):
            choices = getattr(parameter.type, "choices", None) or ()
            parameter.metavar = "|".join(map(str, choices)) or _name_value(parameter)
    for inner in getattr(command, "commands", {}).values():
        use_plain_words(inner)


def _name_value(parameter: Any) -> str:
    """Return what a value is called: `N` for a number, else the last word of the option."""
    if parameter.type.name.startswith(_NUMBERS):
        return "N"
    longest: str = max(parameter.opts, key=len)
    return longest.rpartition("-")[2].upper()


def _describe_bounds(kind: Any) -> str:
    least, most = getattr(kind, "min", None), getattr(kind, "max", None)
    most = None if most is not None and most >= _MOST else most
    if most is not None:
        return f"at most {most}" if least is None else f"{least} to {most}"
    return f"at least {least}" if least else ""
