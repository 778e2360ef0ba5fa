"""Tables, views and macros that are created when a statement first names them."""

import re
from collections.abc import Callable

_WORD = re.compile(r"\w+")


class DeferredRelations:
    """How to create relations and macros that no statement has named so far."""

    def __init__(self) -> None:
        self._deferred: dict[str, tuple[str, Callable[[], object]]] = {}

    def add(self, name: str, statement: str, create: Callable[[], object]) -> None:
        """Defer the call of a function that creates what has a name, from what a statement of it reads."""
        self._deferred[name.lower()] = (statement, create)

    def create_named(self, text: str) -> None:
        """Create what a text names and what that reads; a name that means something else costs time only."""
        for name in dict.fromkeys(_WORD.findall(text.lower())):
            if name not in self._deferred:
                continue
            statement, create = self._deferred.pop(name)
            try:
                self.create_named(statement)
                create()
            except BaseException:
                self._deferred[name] = (statement, create)
                raise
