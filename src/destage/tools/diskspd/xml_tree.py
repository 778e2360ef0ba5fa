"""Elements of an XML document with their lines and columns."""

from dataclasses import dataclass, field
from xml.parsers import expat

from destage.errors import ConfigError, Issue
from destage.tools.words import Word

_DEEPEST = 32


@dataclass
class Element:
    """An element; its text without the white space around it."""

    tag: str
    attributes: dict[str, str]
    line: int
    column: int
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    @property
    def word(self) -> Word:
        """Its text, at the place of the element."""
        return Word(self.value, self.line, self.column)

    @property
    def value(self) -> str:
        """Its text."""
        return self.text.strip()

    def issue(self, code: str, message: str) -> Issue:
        """Return an issue at the element."""
        return self.word.issue(code, self.tag, message)

    def __str__(self) -> str:
        """Return its tag."""
        return f"<{self.tag}>"

    def find_all(self, tag: str) -> list["Element"]:
        """Return all elements below it with a tag."""
        below = [found for child in self.children for found in child.find_all(tag)]
        return [child for child in self.children if child.tag == tag] + below


def parse_xml(text: str, file: str) -> Element:
    """Parse a document.

    Raises:
        ConfigError: It is not well-formed, or has a document type.
    """
    root = Element("", {}, 1, 1)
    stack = [root]
    parser = expat.ParserCreate()

    def stop(message: str) -> None:
        line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        raise ConfigError([Issue("import.bad-syntax", "", message, line=line, column=column)], file)

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > _DEEPEST:
            stop("elements are nested too deeply")
        element = Element(tag, attributes, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)
        stack[-1].children.append(element)
        stack.append(element)

    def end(_tag: str) -> None:
        stack.pop()

    def data(text: str) -> None:
        stack[-1].text += text

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = data
    parser.StartDoctypeDeclHandler = lambda *_: stop("document types are not allowed")
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        message = f"invalid XML: {expat.errors.messages[error.code]}"
        issue = Issue("import.bad-syntax", "", message, line=error.lineno, column=error.offset + 1)
        raise ConfigError([issue], file) from None
    return root
