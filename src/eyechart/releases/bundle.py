"""Several modules of this package as one Python file that needs nothing but the standard library."""

import ast
from importlib.util import find_spec
from pathlib import Path

_PACKAGE = "eyechart"
_HEADING_WIDTH = 119


def bundle_modules(entry: str, notice: str) -> str:
    """Return one file that does what a module does, with every module of ours that it imports in front.

    Comments stay; examples, which import from this package, are left out.

    Args:
        entry: Full name of the module, such as ``eyechart.releases.standalone.evaluate``.
        notice: Sentences for the top of the file, after the module's own docstring.

    Raises:
        ValueError: If two modules give the same name to different things, or one imports what is not bundled.
    """
    modules = _in_order(entry)
    _check_names(modules)
    own = modules[-1]
    head = f'"""{own.docstring}\n\n{notice}\n"""\n\n{_merged_imports(modules)}'
    parts = [head]
    for module in modules:
        heading = f"# --- {module.name.removeprefix(f'{_PACKAGE}.')} ".ljust(_HEADING_WIDTH, "-")
        body = module.body.strip("\n")
        parts.append(f"{heading}\n\n{body}")
    return "\n\n\n".join(parts) + "\n"


class _Module:
    """One module as read: its docstring, its imports, and the rest of its text."""

    def __init__(self, name: str) -> None:
        self.name = name
        source = _path_of(name).read_text(encoding="utf-8")
        self.tree = ast.parse(source)
        self.docstring = ast.get_docstring(self.tree) or ""
        self.foreign: list[ast.Import | ast.ImportFrom] = []
        self.needed: list[str] = []
        self._as_namespace: set[str] = set()
        lines: list[str | None] = list(source.splitlines())
        for node in self.tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._take_import(node)
                _blank(lines, node)
        _blank(lines, self.tree.body[0])
        for inner in ast.walk(self.tree):
            if isinstance(inner, ast.FunctionDef | ast.ClassDef):
                _drop_examples(lines, inner)
        self._drop_prefixes(lines)
        self.body = "\n".join(line for line in lines if line is not None)

    @property
    def names(self) -> set[str]:
        """Names defined at the top level."""
        found: set[str] = set()
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Assign):
                found.update(target.id for target in node.targets if isinstance(target, ast.Name))
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
        return found

    def _take_import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import) or not (node.module or "").startswith(_PACKAGE):
            self.foreign.append(node)
            return
        for alias in node.names:
            if alias.asname is not None:
                raise ValueError(f"{self.name}: import of {alias.name} as {alias.asname} cannot be bundled")
            inner = f"{node.module}.{alias.name}"
            if find_spec(str(node.module)) is not None and _is_module(inner):
                self.needed.append(inner)
                self._as_namespace.add(alias.name)
            else:
                self.needed.append(str(node.module))

    def _drop_prefixes(self, lines: list[str | None]) -> None:
        """Write ``cues.NOUNS`` as ``NOUNS`` where ``cues`` is a module that is bundled, from the right to the left."""
        places = [
            (node.value.lineno - 1, node.value.col_offset, node.value.id)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in self._as_namespace
        ]
        for row, column, name in sorted(places, reverse=True):
            line = lines[row]
            if line is not None:
                raw = line.encode()
                lines[row] = (raw[:column] + raw[column + len(name) + 1 :]).decode()


def _in_order(entry: str) -> list[_Module]:
    """Return a module and all it needs, each after what it needs."""
    found: dict[str, _Module] = {}

    def visit(name: str) -> None:
        if name not in found:
            module = _Module(name)
            for needed in module.needed:
                visit(needed)
            found[name] = module

    visit(entry)
    return list(found.values())


def _merged_imports(modules: list[_Module]) -> str:
    """Return the imports of the standard library, each name once."""
    plain: set[str] = set()
    named: dict[str, set[str]] = {}
    for module in modules:
        for node in module.foreign:
            if isinstance(node, ast.Import):
                plain.update(f"import {alias.name}" for alias in node.names)
            else:
                named.setdefault(str(node.module), set()).update(alias.name for alias in node.names)
    froms = [f"from {name} import {', '.join(sorted(names))}" for name, names in sorted(named.items())]
    return "\n".join([*sorted(plain), *froms])


def _check_names(modules: list[_Module]) -> None:
    owner: dict[str, str] = {}
    for module in modules:
        for name in module.names:
            if name in owner:
                raise ValueError(f"{name} is defined in {owner[name]} and in {module.name}")
            owner[name] = module.name


def _path_of(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ValueError(f"there is no module {name}")
    return Path(spec.origin)


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _blank(lines: list[str | None], node: ast.stmt) -> None:
    for number in range(node.lineno - 1, node.end_lineno or node.lineno):
        lines[number] = None


def _drop_examples(lines: list[str | None], node: ast.FunctionDef | ast.ClassDef) -> None:
    """Remove the example section of a docstring; the closing quotes stand on a line of their own after it."""
    first = node.body[0]
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return
    start, end = first.lineno - 1, (first.end_lineno or first.lineno) - 1
    begin = next((row for row in range(start, end) if (lines[row] or "").strip() == "Example:"), None)
    if begin is not None:
        for row in range(begin - 1, end):
            lines[row] = None
