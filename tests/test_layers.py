"""Imports go one way, and what is slow to import is imported late."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fairmix

ROOT = Path(fairmix.__file__).parent

# A module imports only from layers before its own.
LAYERS = [
    {"_version", "values", "diagnostics", "distances", "partition", "medoids", "families"},
    {"matching"},
    {"cap"},
    {"kernels"},
    {"inputs", "model", "posterior", "compilation", "parameters", "point_estimate"},
    {"features", "family_choice", "likelihood", "schedule"},
    {"metrics", "chain"},
    {"preparation", "start", "warmup"},
    {"sampling"},
    {"estimator", "datasets", "plotting"},
    {"baselines"},
    {"comparison"},
]


def layer_of(module):
    for number, names in enumerate(LAYERS):
        if module in names:
            return number
    raise AssertionError(f"{module} has no layer: add it to LAYERS")


def imports_of(path):
    """Give the fairmix modules that a file imports, late imports included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fairmix"):
            parts = node.module.split(".")
            yield from [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("fairmix."))


FILES = [path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path):
    own = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for imported in imports_of(path):
        assert imported == own or layer_of(imported) <= layer_of(own), f"{own} imports {imported}"
        if own == "kernels":
            assert imported == "kernels"


def test_kernels_import_no_other_libraries():
    for path in (ROOT / "kernels").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module]
            else:
                continue
            for name in names:
                assert name.split(".")[0] in {
                    "functools",
                    "numpy",
                    "numba",
                    "math",
                    "typing",
                    "fairmix",
                }


def test_numba_and_matplotlib_are_imported_late():
    code = "import sys, fairmix; print({'numba', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
