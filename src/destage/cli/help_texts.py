"""Help texts with placeholders for values instead of the types of the implementation."""

from typing import Any

_MOST = 2**31
"""Larger maximums come from the integer type and are not shown."""


def use_plain_words(command: Any) -> None:
    """Replace types by placeholders in the help of a command and of its subcommands.

    `--workers <int range>  [x>=1]` becomes `--workers N  [at least 1]`. The methods that are replaced are
    Typer's own; one that a later version no longer calls leaves its text as it is.
    """
    for parameter in getattr(command, "params", ()):
        bounds = _describe_bounds(parameter)
        vars(parameter)["_get_number_range_help_str"] = lambda bounds=bounds: bounds
        choices = _list_choices(parameter)
        if parameter.param_type_name == "argument":
            name = parameter.display_name_raw
            shown = name if parameter.required else f"[{name}]"
            vars(parameter)["_usage_display_name"] = lambda shown=shown: shown
            vars(parameter)["display_type_rich"] = lambda choices=choices, **_: choices
        elif parameter.metavar is None and not getattr(parameter, "is_flag", False):
            parameter.metavar = choices or _name_value(parameter)
    for inner in getattr(command, "commands", {}).values():
        use_plain_words(inner)


def _list_choices(parameter: Any) -> str:
    described = parameter.type_descriptor
    return "|".join(map(str, described.choices or ())) if described.is_choice else ""


def _name_value(parameter: Any) -> str:
    """Return what a value is called: `N` for a number, else the last word of the option."""
    described = parameter.type_descriptor
    if described.is_ranged or described.annotation in {int, float}:
        return "N"
    longest: str = max(parameter.opts, key=len)
    return longest.rpartition("-")[2].upper()


def _describe_bounds(parameter: Any) -> str | None:
    least, most = getattr(parameter, "min", None), getattr(parameter, "max", None)
    most = None if most is not None and most >= _MOST else most
    if most is not None:
        return f"at most {most}" if least is None else f"{least} to {most}"
    return f"at least {least}" if least else None
