"""The arrows between modules point one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from .parsing import parsed

ROOT = Path(__file__).parent.parent
CORE = ROOT / "faithguard"
ADAPTERS = ROOT / "integrations"

LAYERS: dict[str, int] = {
    "_version": 0,
    "_fork": 0,
    "_lazy": 0,
    "_loopback": 0,
    "_provenance": 0,
    "_reasoning": 0,
    "_writing": 1,
    "_protocols": 0,
    "_polar": 0,
    "_alike": 0,
    "_denied": 0,
    "_html_tables": 0,
    "_verbs": 0,
    "_sources": 1,
    "errors": 0,
    "contents": 1,
    "types": 0,
    "config": 1,
    "_offload": 1,
    "sampling": 1,
    "_background": 1,
    "chat": 1,
    "prompts": 1,
    "capture": 2,
    "policy": 2,
    "claims": 2,
    "verifiers": 2,
    "stats": 2,
    "store": 3,
    "sinks": 4,
    "exchanges": 3,
    "_render": 4,
    "_recorded": 4,
    "_cache": 3,
    "_together": 3,
    "_plan": 4,
    "scorer": 5,
    "repair": 5,
    "replay": 6,
    "files": 6,
    "evaluators": 6,
    "watch": 6,
    "_rates": 6,
    "_judges": 6,
    "_check": 6,
    "guard": 7,
    "testing": 8,
    "streaming": 8,
    "functions": 9,
    "demo": 8,
    "": 10,
    "train": 11,
    "cli": 12,
    "ui": 11,
    "pytest_plugin": 12,
    "__main__": 13,
}
"""What a part may be imported by: only what stands higher, or is of the same part."""

SAME_HEIGHT = {("types", "errors")}
"""Who may import a neighbour of its own height."""

LATE = {("types", "policy"), ("types", "_render"), ("errors", "types")}
"""Imports that do not point down, allowed only inside a function or for a type checker: a report
decides and shows itself by code that lies above it, and an error carries a report."""

FRAMEWORKS = ("langchain", "langgraph", "llama_index", "openai", "faithguard_")
"""What the core never imports, by the start of a name."""

MODULES = sorted(CORE.rglob("*.py"))


def name_of(path: Path, base: Path) -> str:
    """Return the dotted name of a module."""
    parts = path.relative_to(base).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """Return the part of the package that a module belongs to."""
    return module.split(".")[1] if "." in module else ""


def typed_only(node: ast.AST) -> bool:
    """Say whether a node is a block that runs for a type checker only."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield what a module imports, and whether late: in a function or for a type checker."""

    def walk(node: ast.AST, late: bool) -> Iterator[tuple[str, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from ((alias.name, late) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path}:{child.lineno}: imports are absolute"
                module = child.module or ""
                yield module, late
                # `from faithguard import policy` imports a module of its own
                for alias in child.names:
                    inner = CORE.parent / module.replace(".", "/") / alias.name
                    if inner.with_suffix(".py").exists() or (inner / "__init__.py").exists():
                        yield f"{module}.{alias.name}", late
            else:
                function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
                yield from walk(child, late or function or typed_only(child))

    yield from walk(parsed(path), False)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: name_of(path, ROOT))
def test_a_module_imports_only_what_lies_below(path: Path) -> None:
    """Types and errors at the bottom, then policy and its neighbours, scorer, guard, cli."""
    mine = part_of(name_of(path, ROOT))
    assert mine in LAYERS, f"give {mine!r} a place in LAYERS"
    for module, late in imports(path):
        if module != "faithguard" and not module.startswith("faithguard."):
            continue
        theirs = part_of(module)
        assert theirs in LAYERS, f"give {theirs!r} a place in LAYERS"
        if mine == theirs or LAYERS[theirs] < LAYERS[mine]:
            continue
        if (mine, theirs) in SAME_HEIGHT or (late and (mine, theirs) in LATE):
            continue
        pytest.fail(f"{mine or 'faithguard'} imports {module}, which does not lie below it")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: name_of(path, ROOT))
def test_the_core_imports_no_framework_and_no_adapter(path: Path) -> None:
    """Not even late: adapters know us, and we know none of them."""
    found = [module for module, _ in imports(path) if module.startswith(FRAMEWORKS)]

    assert found == []


@pytest.mark.parametrize(
    "path", sorted(ADAPTERS.rglob("*.py")), ids=lambda path: name_of(path, ADAPTERS)
)
def test_adapters_import_only_what_is_public(path: Path) -> None:
    """No `faithguard._x` and no `faithguard.x._y`: an adapter is what a user could write."""
    private = [
        module
        for module, _ in imports(path)
        if module.split(".")[0] == "faithguard"
        and any(part.startswith("_") for part in module.split(".")[1:])
    ]

    assert private == []


@pytest.mark.parametrize(
    "path", sorted(ADAPTERS.rglob("*.py")), ids=lambda path: name_of(path, ADAPTERS)
)
def test_adapters_take_no_private_names(path: Path) -> None:
    """`from faithguard.x import _y` is private as well."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "faithguard":
            assert not [alias.name for alias in node.names if alias.name.startswith("_")]


def test_the_second_source_root_is_no_package() -> None:
    """`integrations/` would squat a name that users have folders for."""
    assert not (ADAPTERS / "__init__.py").exists()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: name_of(path, ROOT))
def test_a_late_upward_import_is_still_needed(path: Path) -> None:
    """The list of exceptions holds nothing that is gone."""
    mine = part_of(name_of(path, ROOT))
    used = {(mine, part_of(m)) for m, _ in imports(path) if m.startswith("faithguard")}

    assert {pair for pair in LATE if pair[0] == mine} <= used
