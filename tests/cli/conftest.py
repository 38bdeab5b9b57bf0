import pytest

from fairmix.cli import main
from tests.cli.shell import customers


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a new folder with a table, and stand in it."""
    monkeypatch.chdir(tmp_path)
    customers().to_csv("customers.csv", index=False)
    return tmp_path


@pytest.fixture
def call(capsys):
    """Give a way to call the command line in this process: exit code, output and errors."""

    def call_it(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(each) for each in arguments])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return call_it
