"""The Python blocks of the book, page by page, in order; a `text` block below one is what it prints."""

import contextlib
import io
import re
import warnings
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if BLOCK.search(page.read_text())]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, names = page.read_text(), {}
    for block in BLOCK.finditer(text):
        code, expected = block.groups()
        # Lines of a traceback are those of the page.
        before = "\n" * (text.count("\n", 0, block.start()) + 1)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(before + code, str(page), "exec"), names)
        assert printed.getvalue() == (expected or ""), f"{page}, line {before.count(chr(10))}"


def test_pages_are_found():
    assert PAGES, f"no Python block in {DOCS}"
