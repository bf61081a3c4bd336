"""What is public: listed, documented, few, and light."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import faithguard

from .parsing import parsed

ROOT = Path(__file__).parent.parent
PUBLIC = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "faithguard").rglob("*.py")
    if not any(part.startswith("_") and part != "__init__.py" for part in path.parts)
)


def tree(module: ModuleType) -> ast.Module:
    """Return the syntax of a module."""
    return parsed(Path(str(module.__file__)))


def assigned(node: ast.stmt) -> list[str]:
    """Return the names that a statement at the top of a module defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def marked(module: ModuleType) -> set[str]:
    """Return the names with a docstring under them: data that has one is meant to be read."""
    body = tree(module).body
    return {
        name
        for node, after in pairwise(body)
        for name in assigned(node)
        if isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    }


def local(node: ast.stmt) -> bool:
    """Say whether a definition is a helper by convention: `log`, type variables."""
    return isinstance(node, ast.Assign) and (
        isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) in ("TypeVar", "ParamSpec", "logging.getLogger")
    )


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_module_lists_what_it_defines(name: str) -> None:
    """`__all__` holds each class and function without an underscore, and nothing that is not."""
    module = importlib.import_module(name)
    listed: list[str] = module.__all__

    assert len(listed) == len(set(listed))
    assert [entry for entry in listed if not hasattr(module, entry)] == []
    defined = {
        entry
        for node in tree(module).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and not any(
            any(word in ast.unparse(d) for word in ("command", "callback", "hookimpl"))
            for d in node.decorator_list
        )
        for entry in assigned(node)
        if not entry.startswith("_")
    }
    assert defined - set(listed) == set()


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_a_docstring(name: str) -> None:
    """Modules, classes, their methods, functions; and data, under it."""
    module = importlib.import_module(name)
    assert module.__doc__
    for entry in module.__all__:
        found: Any = getattr(module, entry)
        if inspect.isclass(found) or inspect.isfunction(found):
            assert found.__doc__, f"{name}.{entry}"
        if inspect.isclass(found) and found.__module__.startswith("faithguard"):
            for method, value in vars(found).items():
                target = value.fget if isinstance(value, property) else value
                target = getattr(target, "__func__", target)
                if inspect.isfunction(target) and not method.startswith("_"):
                    assert target.__doc__, f"{name}.{entry}.{method}"


@pytest.mark.parametrize("name", PUBLIC)
def test_a_flow_module_says_what_goes_in_and_comes_out(name: str) -> None:
    """The first line of a module is a sentence or a picture of its flow."""
    first = (importlib.import_module(name).__doc__ or "").strip().splitlines()[0]

    assert first.endswith((".", ":")) or "->" in first


def test_the_top_is_small() -> None:
    """At most 30 names, each from where it lives, errors and nouns among them."""
    assert len(faithguard.__all__) <= 30
    assert {"check", "acheck", "Policy", "Scorer", "Report", "UnfaithfulAnswerError"} <= set(
        faithguard.__all__
    )
    assert all(hasattr(faithguard, name) for name in faithguard.__all__)


def test_the_version_is_one() -> None:
    """The package's and the distribution's."""
    from importlib.metadata import version

    assert version("faithguard") == faithguard.__version__


HEAVY = (
    "langchain",
    "langchain_core",
    "langgraph",
    "llama_index",
    "openai",
    "torch",
    "numpy",
    "typer",
    "rich",
    "onnxruntime",
    "httpx",
    "faithguard_langchain",
    "faithguard_llama_index",
    "faithguard_openai",
)


def loaded_by(code: str) -> list[str]:
    """Return which heavy packages a fresh process has loaded after some code."""
    program = f"{code}\nimport sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return ast.literal_eval(out.stdout.splitlines()[-1])  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "code",
    [
        "import faithguard",
        "import faithguard; faithguard.check(*['It rains in May.'] * 2).decide().reason",
        "import faithguard; repr(faithguard.check(*['It rains in May.'] * 2).to_json())",
        "import faithguard.watch, faithguard.sinks, faithguard.capture, faithguard.policy",
        "import faithguard.testing",
    ],
    ids=["import", "check", "json", "watch", "testing"],
)
def test_import_is_light(code: str) -> None:
    """Importing loads no framework, model or terminal, nor does checking what rules can decide."""
    assert loaded_by(code) == []


def test_the_light_test_sees_what_is_heavy() -> None:
    """It would notice."""
    assert loaded_by("import rich, typer") == ["typer", "rich"]
