"""Whether what would be released is whole, and works where nothing else is installed.

Run: python -m tests.check_dist dist   (`make dist` builds first)
"""

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

import fairmix

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "fairmix"
#: What is no part of the package, wherever it is.
NEVER = {"__pycache__", ".DS_Store"}
#: Files of the sdist that tests and pages need, one of each folder.
NEEDED = ("README.md", "LICENSE", "docs/conf.py", "tests/tiny.py", "examples/toy.py", "Makefile")
#: What somebody does who has just installed it.
COMMANDS = (
    ("python", "-c", "import fairmix; print(fairmix.__file__)"),
    ("fairmix", "--version"),
    ("fairmix", "demo", "--out", "demo"),
)


def only(folder, pattern):
    """Give the one file of a kind."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"{folder} has {len(found)} files {pattern}, not one; run make dist.")
    return found[0]


def check_wheel(wheel):
    """Compare the files of the wheel with those of the source, one by one."""
    wanted = {
        path.relative_to(SOURCE.parent).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and not NEVER & set(path.parts)
    }
    names = zipfile.ZipFile(wheel).namelist()
    packaged = {name for name in names if not name.split("/")[0].endswith(".dist-info")}
    if packaged != wanted:
        raise SystemExit(
            f"{wheel.name}: not in the wheel: {sorted(wanted - packaged)}; "
            f"not in the source: {sorted(packaged - wanted)}"
        )
    print(f"{wheel.name}: {len(packaged)} files, those of src/fairmix")


def check_sdist(sdist):
    """See that the source distribution has what is needed to test and to document it."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    lacking = [name for name in NEEDED if name not in names]
    made = sorted(name for name in names if name.startswith(("docs/_build/", "docs/api/generated")))
    if lacking or made:
        raise SystemExit(f"{sdist.name}: lacks {lacking}; has what is made: {made[:3]}")
    print(f"{sdist.name}: {len(names)} files and folders")


def check_install(wheel, folder):
    """Install the wheel where nothing else is, outside the tree, and use it there."""
    venv.create(folder / "venv", with_pip=True)
    bin_folder = folder / "venv" / "bin"

    def run(program, *arguments):
        print("$", program, *arguments, flush=True)
        command = [bin_folder / program, *arguments]
        return subprocess.run(command, cwd=folder, check=True, text=True, stdout=subprocess.PIPE)

    extra = f"{wheel}[report]"
    run("python", "-m", "pip", "install", "--quiet", extra)
    for program, *arguments in COMMANDS:
        printed = run(program, *arguments).stdout
        print(printed)
        if arguments == ["--version"] and fairmix.__version__ not in printed:
            raise SystemExit(f"fairmix --version does not say {fairmix.__version__}")
        if "import fairmix" in arguments and not printed.startswith(str(folder)):
            raise SystemExit("the package was imported from elsewhere")


def main(folder):
    """Check the one wheel and the one sdist of a folder."""
    wheel, sdist = only(folder, "*.whl"), only(folder, "*.tar.gz")
    check_wheel(wheel)
    check_sdist(sdist)
    with tempfile.TemporaryDirectory() as outside:
        check_install(wheel.resolve(), Path(outside).resolve())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
