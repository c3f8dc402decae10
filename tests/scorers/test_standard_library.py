"""The letter reader needs the standard library only, so that a release can carry it as one file."""

import ast
import sys
from pathlib import Path

from eyechart.scorers import option_letter


def test_reader_imports_nothing_but_the_standard_library():
    folder = Path(option_letter.__file__).parent
    for path in folder.glob("*.py"):
        if path.name == "__init__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                is_own = name.startswith("eyechart.scorers.option_letter")
                assert is_own or name.partition(".")[0] in sys.stdlib_module_names, f"{path.name} imports {name}"
