"""The other commands, and the command line as a whole."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

import fairmix
from fairmix.cli import experiments
from fairmix.cli.app import app
from tests.cli.shell import TINY, customers, shell

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Give the folder of a run."""
    folder = tmp_path_factory.mktemp("run")
    table = customers(80)
    table["code"] = np.arange(80) % 3
    table.to_csv(folder / "t.csv", index=False)
    named = ("--sensitive", "sex", "--family", "code=categorical", "--out", "run", *TINY)
    assert shell("fit", "t.csv", *named, cwd=folder)[0] == 0
    return folder / "run"


@pytest.mark.parametrize("method", ["auto", "batch", "prices"])
def test_new_rows_get_labels(folder, call, run, method):
    new = customers(50, seed=1).assign(code=[0, 1] * 25)
    new.drop(columns=["joined", "country"])[::-1].to_csv("new.csv", index=False)
    code, out, _ = call("predict", run, "new.csv", "--out", "p/l.csv", "--method", method, "--json")
    assert code == 0
    labels = pd.read_csv("p/l.csv")
    assert labels["customer_id"].tolist() == new["customer_id"].tolist()[::-1]
    model = fairmix.load(run / "model.nc")
    frame = pd.read_csv("new.csv")
    wanted = model.predict(
        frame.drop(columns="sex"), sensitive_features=frame["sex"], method=method
    )
    assert labels["cluster"].tolist() == wanted.tolist()
    assert labels["probability"].between(0, 1).all()
    assert json.loads(out)["n_rows"] == 50
    code, _, err = call("predict", run, "new.csv", "--out", "p/l.csv")
    assert code == 2
    assert "is there already" in err


def test_labels_of_new_rows_on_standard_output(folder, run):
    customers(5).drop(columns=["customer_id", "sex"]).assign(code=1).to_csv("new.csv", index=False)
    code, out, err = shell("predict", run, "new.csv", cwd=folder)
    assert code == 0
    assert [line.split(",")[0] for line in out.splitlines()] == ["row", "1", "2", "3", "4", "5"]
    _, plain, _ = shell("predict", run, "new.csv", "--json", cwd=folder)
    labels = json.loads(plain)["labels"]
    lines = [f"{each['row']},{each['cluster']}," for each in labels]
    assert all(map(str.startswith, out.splitlines()[1:], lines))
    assert all(0 <= each["probability"] <= 1 for each in labels)
    assert err == (
        "warning: new.csv has no column 'sex', so rows are labelled by the model alone and nothing "
        "is made fair.\n"
    )


def test_numbers_that_name_rows_stay_whole(folder, call, run):
    numbers = pd.array([7, None, 9], dtype="Int64")
    customers(3).assign(code=1, number=numbers).to_csv("new.csv", index=False)
    _, out, _ = call("predict", run, "new.csv", "--id", "number")
    assert [line.split(",")[0] for line in out.splitlines()] == ["number", "7", "", "9"]
    _, out, _ = call("predict", run, "new.csv", "--id", "number", "--json")
    assert [each["number"] for each in json.loads(out)["labels"]] == [7, None, 9]


def test_new_rows_are_read_as_those_that_were_fitted(folder, call, run):
    table = customers(20).assign(code=1, plan="plus")
    table["age"] = table["age"].astype(object)
    table.loc[3, "age"] = "old"
    table.to_csv("new.csv", index=False)
    code, _, err = call("predict", run, "new.csv")
    assert code == 2
    assert "column 'age' holds numbers, but 'old' in row 4; mend that, or pass --na" in err
    code, out, _ = call("predict", run, "new.csv", "--na", "old", "--id", "plan", "-q")
    assert code == 0
    assert out.splitlines()[1].startswith("plus,")


@pytest.mark.parametrize("more", [(), ("--min-group-size", "25")])
def test_groups_of_new_rows_are_those_that_were_fitted(folder, call, more):
    table = customers(90).assign(
        age=lambda t: t["age"].fillna(40), sex=[0, 1, 2] * 20 + [0, 1] * 15
    )
    table["region"] = ["1", "x"] * 45
    for sensitive in ("sex", "sex,region"):
        table.to_csv("t.csv", index=False)
        out = f"run-{len(sensitive)}"
        code = call("fit", "t.csv", "--sensitive", sensitive, *more, *TINY, "--out", out, "-q")[0]
        assert code == 0
        table[table["region"] == "1"].to_csv("new.csv", index=False)
        code, text, err = call("predict", out, "new.csv")
        assert code == 0, err
        assert len(text.splitlines()) == 46
        code, text, _ = call("predict", out, "t.csv")
        labels = [line.split(",")[1] for line in text.splitlines()[1:]]
        assert labels == fairmix.load(f"{out}/model.nc").labels_.astype(str).tolist()


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({"age": "agee"}, (), "'age' is missing; do you mean 'agee'? The run needs every column"),
        ({}, ("--method", "match"), "--method is one of auto, batch, prices, got 'match'"),
        ({}, ("--id", "custmer_id"), "do you mean 'customer_id'?\n"),
    ],
)
def test_new_rows_that_are_refused(folder, call, run, change, arguments, message):
    customers(20).assign(code=1).rename(columns=change).to_csv("new.csv", index=False)
    code, out, err = call("predict", run, "new.csv", *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_a_folder_that_is_no_run(folder, call):
    for command in (("predict", ".", "customers.csv"), ("resume", "."), ("report", ".")):
        code, _, err = call(*command)
        assert code == 2
        assert "fairmix fit makes" in err


def test_reports_are_made_anew(folder, call, run):
    code, out, _ = call("report", run)
    assert code == 0
    assert out == f"open {run / 'report.html'}\n"
    code, _, err = call("report", run, "--out", folder / "none" / "r.html", "-q")
    assert (code, len(err.splitlines())) == (1, 1)


def test_methods_are_compared(folder, call):
    few = ("--methods", "FBC", "--methods", "k-means", "--warmup", "5", "--draws", "5", "--k", "2")
    named = ("--sensitive", "sex", "--drop", "age,plan", "--out", "all.csv", "--seeds", "2")
    how = ("--family", "gaussian", "--seed", "1", "--jobs", "1", "--max-minutes", "5")
    code, out, _ = call("compare", "customers.csv", *few, *named, *how, "--json", "--quiet")
    assert code == 0
    found = json.loads(out)
    assert {row["method"] for row in found} == {"FBC", "k-means"}
    assert {row["runs"] for row in found} == {2}
    assert set(pd.read_csv("all.csv")["seed"]) == {1, 2}
    code, _, err = call("compare", "customers.csv", "--sensitive", "sex", "-q")
    assert code == 2
    assert "there are missing cells (age 9); fill them" in err
    assert "all.csv is there already" in call("compare", "customers.csv", *named)[2]


def test_a_comparison_is_a_table_to_read(folder, call):
    named = ("--sensitive", "sex", "--drop", "age", "--k", "2", "--warmup", "5", "--draws", "5")
    few = ("--methods", "K-Means", "--methods", "fair k-means", "--jobs", "1")
    code, out, err = call("compare", "customers.csv", *named, *few, "--max-minutes", "3")
    assert code == 0, err
    lines = out.splitlines()
    figures = ["clusters", "cost", "gap", "balance", "seconds"]
    assert lines[0].split() == ["method", "setting", *figures]
    assert [line.split("  ")[0] for line in lines[1:]] == ["k-means", "Fair k-means"]
    assert "with 1 job, at most 3 min:" in err
    code, out, _ = call("compare", "customers.csv", *named, *few, "--seeds", "2", "--quiet")
    assert out.splitlines()[0].split() == ["method", "setting", *figures, "runs"]
    code, _, err = call("compare", "customers.csv", *named, "--methods", "kmeens", "--quiet")
    assert (code, err) == (
        2,
        "error: --methods: 'kmeens' is no method; do you mean 'k-means'?\n",
    )


def test_the_demo_is_a_run(folder, call, monkeypatch):
    monkeypatch.setattr("fairmix.cli.demonstration.N_SWEEPS", 10)
    code, out, err = call("demo", "--out", "shown")
    assert code == 0
    assert (folder / "shown" / "adult.csv").read_text().startswith("age,education-num,")
    assert (folder / "shown" / "run" / "report.html").is_file()
    assert "open shown/run/report.html" in out
    assert "fairmix fit shown/adult.csv --sensitive sex" in err
    assert call("demo", "--out", "shown")[0] == 2


def test_samplers_are_compiled_beforehand(call, monkeypatch):
    compiled = []
    monkeypatch.setattr("fairmix.sampler.ahead.compile", compiled.append)
    assert call("compile", "gaussian", "gaussian+poisson", "-q")[0] == 0
    assert compiled == ["gaussian", ("gaussian", "poisson")]
    compiled.clear()
    code, _, err = call("compile")
    assert (code, len(compiled)) == (0, 15)
    assert "15 of 15: gaussian + poisson + bernoulli + categorical" in err


def test_experiments_come_with_the_source_tree(tmp_path, call, monkeypatch):
    code, out, _ = call("reproduce")
    assert code == 0
    assert "toy                  Toy data\n" in out
    code, _, err = call("reproduce", "toi")
    assert code == 2
    assert err == "error: toi is no experiment; do you mean 'toy'?\n"
    monkeypatch.setattr(experiments, "FOLDER", tmp_path)
    code, _, err = call("reproduce")
    assert code == 1
    assert "they come with the source tree" in err


@pytest.mark.parametrize(("problems", "code"), [([], 0), (["toy: does not hold: it is so."], 1)])
def test_an_experiment_is_run_and_its_problems_are_told(
    tmp_path, call, monkeypatch, problems, code
):
    asked = []

    def reproduce(*given):
        asked.append(given)
        return problems

    monkeypatch.setattr(experiments._import("running"), "reproduce", reproduce)
    ended, out, _ = call("reproduce", "toy", "--quick", "--anew", "--out", tmp_path / "made")
    assert ended == code
    assert out.splitlines() == [*problems, f"open {tmp_path / 'made' / 'index.html'}"]
    ((names, effort, folder, _, is_anew),) = asked
    assert (names, effort.name, folder, is_anew) == (["toy"], "quick", tmp_path / "made", True)


@pytest.mark.parametrize(("form", "rest"), [("--quick", "begins anew"), ("--anew", "goes on")])
def test_experiments_that_are_interrupted_say_what_comes(tmp_path, call, monkeypatch, form, rest):
    def interrupt(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(experiments._import("running"), "reproduce", interrupt)
    code, _, err = call("reproduce", "toy", form, "--out", tmp_path)
    assert code == 130
    assert err.startswith("error: interrupted; ")
    assert rest in err


def test_nothing_heavy_is_imported_for_help():
    heavy = {"numpy", "pandas", "sklearn", "scipy", "numba", "xarray", "matplotlib", "narwhals"}
    code = (
        "import sys, typer; from fairmix.cli.app import app; typer.main.get_command(app); "
        f"print({heavy} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--version",), 0, f"fairmix {fairmix.__version__}\n"),
        (("--help",), 0, "reproduce"),
        (("fit", "-h"), 0, "--until-converged"),
    ],
)
def test_what_is_printed_for_people(tmp_path, arguments, code, told):
    done = shell(*arguments, cwd=tmp_path)
    assert done[0] == code
    assert told in done[1]


def test_the_shell_that_asks_is_told_how_to_complete():
    # Something comes after it: else the shell would hand its process over, and be gone.
    asked = f"'{sys.executable}' -m fairmix --show-completion; exit $?"
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    assert "_FAIRMIX_COMPLETE" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit",), "which table? Name its file"),
        (("fit", "customers.csv"), "--sensitive names the column"),
        (("compare", "customers.csv"), "--sensitive names the column"),
        (("fit", "none.csv", "--sensitive", "sex"), "none.csv does not exist"),
        (("fit", "customers.csv", "--sensitive", "sx"), "do you mean 'sex'?"),
        (("fit", "customers.csv", "--sensitive", "sex", "--draws", "x"), "'--draws'"),
        (("fit", "customers.csv", "--sensitive", "sex", "--chains", "0"), "--chains must be"),
        (("fit", "customers.csv", "--drws", "3"), "No such option: --drws"),
        (("ftt",), "No such command 'ftt'. Did you mean 'fit'? See fairmix --help."),
        (("fit", "--config", "none.toml"), "none.toml does not exist"),
    ],
)
def test_what_is_called_wrongly(folder, call, arguments, message):
    code, out, err = call(*arguments, *(["-q"] if arguments[0] == "fit" else []))
    assert (code, out) == (2, "")
    assert message in err
    if "-q" in arguments or arguments[0] != "compare":
        assert err.startswith("error: ")
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (KeyboardInterrupt(), 130, "error: interrupted; nothing was written."),
        (MemoryError(), 1, "error: there is not enough memory"),
        (ValueError("n_draws = 3 is few."), 2, "error: --draws 3 is few."),
        (OSError(5, "broken", "disk"), 1, "error: [Errno 5] broken: 'disk'"),
        (ZeroDivisionError("oh"), 1, "error: oh (unexpected; with FAIRMIX_TRACEBACK=1"),
    ],
)
def test_any_error_is_one_line(folder, call, monkeypatch, error, code, told):
    def fail(*_):
        raise error

    monkeypatch.setattr("fairmix.cli.reading.read_table", fail)
    found = call("check", "customers.csv")
    assert found[:2] == (code, "")
    assert found[2].startswith(told)
    assert len(found[2].splitlines()) == 1


def test_a_table_cannot_command_the_terminal(folder, call):
    customers().assign(sex="\x1b[31mF").to_csv("t.csv", index=False)
    _, _, err = call("check", "t.csv", "--sensitive", "sex")
    assert r"has one group only (\x1b[31mF)" in err


def every_option():
    """Give all options of all commands."""
    for command in typer.main.get_command(app).commands.values():
        for parameter in command.params:
            yield from (name for name in parameter.opts if name.startswith("--"))


def test_every_option_is_tried():
    tried = "\n".join(path.read_text() for path in HERE.glob("test_*.py"))
    tried += (HERE / "shell.py").read_text()
    lacking = {option for option in every_option() if f'"{option}"' not in tried}
    assert lacking <= {"--help"}
