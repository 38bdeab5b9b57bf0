"""The page of errors quotes messages that the code still has."""

import ast
import re
from pathlib import Path

import fairmix

ROOT = Path(__file__).parents[2]


def texts_of(tree):
    """Give the texts of a module, with ... for what is filled in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (
                part.value if isinstance(part, ast.Constant) else "..." for part in node.values
            )
            yield "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def quotes_of(text):
    """Give the quoted messages of a page, each on one line."""
    for block in re.findall(r"(?:^> .*\n)+", text, re.MULTILINE):
        yield " ".join(line.removeprefix("> ") for line in block.splitlines())


def test_every_message_is_in_the_source():
    files = Path(fairmix.__file__).parent.rglob("*.py")
    texts = [text for file in files for text in texts_of(ast.parse(file.read_text()))]
    quotes = list(quotes_of((ROOT / "docs" / "faq.md").read_text()))
    assert len(quotes) > 20
    assert [quote for quote in quotes if not any(quote in text for text in texts)] == []
