"""Imports go one way, and what is slow to import is imported late."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fairmix

ROOT = Path(fairmix.__file__).parent

#: A folder (or a file that stands alone) imports from layers before its own or from itself, never
#: from others of its own layer.
LAYERS = [
    {"_version", "files"},
    {"tables"},
    {"families"},
    {"model"},
    {"sampler"},
    {"posterior"},
    {"metrics", "course", "callbacks"},
    {"mixture", "datasets"},
    {"estimator"},
    {"baselines"},
    {"caps", "comparison", "loading"},
    {"plots"},
    {"report"},
    {"cli"},
    {"__main__"},
]
#: A picture hangs off the thing it shows, so these import late from a layer below.
HANGERS = {("comparison", "plots")}


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
        if imported != own and (own, imported) not in HANGERS:
            assert layer_of(imported) < layer_of(own), f"{own} imports {imported}"


KERNELS = ROOT / "sampler" / "kernels"
#: What kernels import beside each other; llvmlite is the compiler beneath numba.
ALLOWED = {"fairmix", "functools", "inspect", "llvmlite", "math", "numba", "numpy", "typing"}


def test_kernels_import_no_other_libraries():
    for path in KERNELS.rglob("*.py"):
        assert set(imports_of(path)) <= {"sampler"}
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module]
            else:
                continue
            for name in names:
                first = name.split(".")[0]
                assert first in ALLOWED
                assert first != "fairmix" or name.startswith("fairmix.sampler.kernels")


def test_numba_and_matplotlib_are_imported_late():
    late = {"numba", "matplotlib", "xarray", "h5py", "h5netcdf", "jinja2"}
    code = f"import sys, fairmix, fairmix.report; print({late} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_rich_is_imported_inside_functions(path):
    """scikit-learn may import it by itself, so that one cannot look at what is there."""
    for node in ast.parse(path.read_text()).body:
        assert "rich" not in ast.unparse(node).split()[1:2]
