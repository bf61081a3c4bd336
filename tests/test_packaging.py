"""What is in the wheel: all packages with their types and data, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ADAPTERS = ROOT / "integrations"

pytest.importorskip("hatchling", reason="pip install 'faithguard[dev]' brings what builds a wheel")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build the wheel once, offline."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=100,
    )
    (path,) = out.glob("*.whl")
    return zipfile.ZipFile(path)


def sources(root: Path, package: str) -> set[str]:
    """Return the files of a package that belong into the wheel, as they are named there."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", str(root / package)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    paths = [ROOT / line for line in listed.stdout.splitlines()]
    return {path.relative_to(root).as_posix() for path in paths if path.exists()}


def test_the_wheel_holds_every_file_of_all_packages(wheel: zipfile.ZipFile) -> None:
    """Code, `py.typed`, and the demo's data: whatever the tree has."""
    names = set(wheel.namelist())

    assert sources(ROOT, "faithguard") <= names
    for adapter in ADAPTERS.iterdir():
        if (adapter / "__init__.py").exists():
            assert sources(ADAPTERS, adapter.name) <= names


def test_each_package_is_typed(wheel: zipfile.ZipFile) -> None:
    """Type checkers look for the marker in each."""
    packages = (
        "faithguard",
        "faithguard_langchain",
        "faithguard_llama_index",
        "faithguard_openai",
    )

    assert {f"{package}/py.typed" for package in packages} <= set(wheel.namelist())


def test_the_wheel_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    """No tests, examples, caches, `integrations/` folder, or second top-level name."""
    names = wheel.namelist()
    tops = {name.split("/")[0] for name in names}
    adapters = {path.name for path in ADAPTERS.iterdir() if (path / "__init__.py").exists()}

    assert {top for top in tops if not top.endswith(".dist-info")} == {"faithguard"} | adapters
    assert not [n for n in names if re.search(r"(^|/)(tests?|examples|__pycache__)/|\.pyc$", n)]


def test_the_demo_takes_its_data_along(wheel: zipfile.ZipFile) -> None:
    """The leaflets are installed with the code that reads them."""
    corpus = {
        f"faithguard/demo_corpus/{file.name}" for file in (ROOT / "faithguard").glob("*/*.md")
    }

    assert corpus
    assert corpus <= set(wheel.namelist())


def metadata(wheel: zipfile.ZipFile, file: str) -> str:
    """Return a file of the metadata."""
    (name,) = (n for n in wheel.namelist() if n.endswith(f".dist-info/{file}"))
    return wheel.read(name).decode()


def test_the_metadata_says_what_the_project_says(wheel: zipfile.ZipFile) -> None:
    """Name, version, licence, Python; extras, and no framework without one."""
    from faithguard import __version__

    head = Parser().parsestr(metadata(wheel, "METADATA"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    plain = [r for r in head.get_all("Requires-Dist", []) if "extra ==" not in r]

    assert (head["Name"], head["Version"]) == ("faithguard", __version__)
    assert head["Requires-Python"] == ">=3.11"
    assert head["License-Expression"] == "Apache-2.0"
    assert set(head.get_all("Provides-Extra", [])) == set(project["optional-dependencies"])
    assert len(plain) == len(project["dependencies"])
    assert not [r for r in plain if re.match(r"langchain|llama|openai|torch", r)]
    assert any("LICENSE" in name for name in wheel.namelist())


def test_the_entry_points_can_be_loaded(wheel: zipfile.ZipFile) -> None:
    """The command and the demos point at functions that the wheel holds."""
    points = metadata(wheel, "entry_points.txt")
    names = set(wheel.namelist())

    assert "faithguard = faithguard.cli:main" in points
    for module in re.findall(r"= ([\w.]+)", points):
        path = module.replace(".", "/")
        assert {f"{path}.py", f"{path}/__init__.py"} & names, module


def test_the_wheel_works_alone(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """Unpacked, outside the tree: import, and check by words and by the model."""
    path = str(tmp_path)
    wheel.extractall(path)
    code = (
        f"import sys\nours = ('', {str(ROOT)!r}, {str(ADAPTERS)!r})\n"
        f"sys.path[:] = [{path!r}] + [p for p in sys.path if p not in ours]\n"
        "import faithguard\n"
        f"assert faithguard.__file__.startswith({path!r}), faithguard.__file__\n"
        "print(faithguard.check('The mill is red.', 'The red mill is old.').score)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert done.stdout.strip() == "1.0"
