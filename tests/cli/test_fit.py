"""A fit from a table to files, repeated, interrupted, killed and gone on with."""

import csv
import errno
import io
import json
import signal
import sys

import numpy as np
import pandas as pd
import pytest

import fairmix
from fairmix.cli import fitting
from fairmix.posterior.wording import percent
from tests.cli.shell import TINY, customers, interrupt_after, shell, start

FIT = ("fit", "customers.csv", "--sensitive", "sex", *TINY)
FILES = [
    "clusters.csv", "config.toml", "labels.csv", "model.nc", "report.html", "summary.json",
]  # fmt: skip
ENDLESS = ("--warmup", "20", "--draws", "10000000")


def files_of(folder):
    return sorted(path.name for path in folder.iterdir())


def assert_same_results(one, other):
    for name in ("labels.csv", "clusters.csv"):
        assert (one / name).read_bytes() == (other / name).read_bytes()


def test_a_fit_writes_its_files_and_ends_with_the_answer(folder):
    code, out, err = shell(*FIT, "--out", "run", cwd=folder)
    assert code == 0, err
    titles = ["Clusters", "Sizes", "Fairness", "Chains", "Files"]
    assert [line.split()[0] for line in out.splitlines()] == titles
    assert "customers.csv: 60 rows, 7 columns" in err
    assert "Beginning run/: 2 chains of 20 + 30 sweeps, seed " in err
    assert "100 % of 100 sweeps" in err
    run = folder / "run"
    assert files_of(run) == FILES
    rows = list(csv.reader(io.StringIO((run / "labels.csv").read_text())))
    assert rows[0] == ["customer_id", "cluster", "name", "probability"]
    assert [row[0] for row in rows[1:]] == customers()["customer_id"].tolist()
    model = fairmix.load(run / "model.nc")
    assert [int(row[1]) for row in rows[1:]] == model.labels_.tolist()
    own = model.posterior_.probabilities()[np.arange(60), model.labels_]
    assert np.allclose([float(row[3]) for row in rows[1:]], own, atol=1e-4)
    clusters = pd.read_csv(run / "clusters.csv")
    assert clusters["size"].tolist()[-1] == 60
    assert clusters["size"].tolist()[:-1] == np.bincount(model.labels_).tolist()
    summary = json.loads((run / "summary.json").read_text())
    assert summary["format"] == 1
    sure, unsure = np.mean(own >= 0.9 - 1e-9), np.mean(own < 0.5 - 1e-9)
    told = f"{percent(sure)} of the rows are in theirs in at least 9 of 10 draws; {percent(unsure)}"
    assert told in out


def test_a_run_is_repeated_by_its_settings(folder):
    code, out, err = shell(*FIT, "--quiet", "--json", cwd=folder)
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["out"] == "customers-run"
    assert told["is_whole"]
    again = shell("fit", "--config", "customers-run/config.toml", "--json", "-q", cwd=folder)
    assert json.loads(again[1])["out"] == "customers-run-2"
    one, other = folder / "customers-run", folder / "customers-run-2"
    assert_same_results(one, other)
    assert (one / "config.toml").read_text() == (other / "config.toml").read_text()
    drawn = [fairmix.load(path / "model.nc").posterior_.labels for path in (one, other)]
    assert np.array_equal(*drawn)
    assert shell(*FIT, "--out", "customers-run", cwd=folder)[0] == 2


def test_options_reach_the_estimator(folder, call, monkeypatch):
    made = {}
    estimator = fitting.FairBayesianClustering

    def remember(**parameters):
        made.update(parameters)
        return estimator(**parameters)

    monkeypatch.setattr(fitting, "FairBayesianClustering", remember)
    code, out, _ = call(
        *FIT, "--out", "run", "--json", "--quiet", "--seed", "5", "--max-gap", "0.4",
        "--gap-kind", "mean", "--k", "2", "--until-converged", "--max-minutes", "0.001",
    )  # fmt: skip
    assert code == 0
    assert made["components_prior"] == fairmix.Fixed(2)
    assert (made["random_state"], made["max_gap"], made["gap_kind"]) == (5, 0.4, "mean")
    assert (made["until"], made["max_seconds"], made["verbose"]) == ("converged", 0.06, 0)
    assert not json.loads(out)["is_whole"]
    assert fairmix.load("run/model.nc").posterior_.n_clusters.max() <= 2


def test_the_report_is_told_of_the_source_and_of_the_plain_mixture(folder, call, monkeypatch):
    given = {}
    summarize = fairmix.report.summarize

    def remember(model, **options):
        given.update(options)
        return summarize(model, **options)

    monkeypatch.setattr(fairmix.report, "summarize", remember)
    monkeypatch.setattr(sys, "argv", ["fairmix", "fit", "a table.csv"])
    code, _, err = call(*FIT, "--out", "run", "--with-plain", "--extra", "free")
    assert code == 0
    assert given["source"] == {
        "name": "customers.csv",
        "id": "customer_id",
        "left_out": {
            "customer_id": "names the rows",
            "joined": "dates",
            "country": "constant (DE)",
        },
        "command": "fairmix fit 'a table.csv'",
    }
    assert type(given["plain"]).__name__ == "MixtureOfFiniteMixtures"
    assert "The plain mixture" in err


def test_an_interrupt_of_the_plain_mixture_loses_that_only(folder, call, monkeypatch):
    def interrupt(*_, **__):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(fitting.MixtureOfFiniteMixtures, "fit", interrupt)
    code, out, err = call(*FIT, "--out", "run", "--with-plain", "--quiet", "--json")
    assert code == 0
    assert "warning: the plain mixture was interrupted" in err
    assert not json.loads(out)["is_whole"]
    monkeypatch.undo()
    code, out, _ = call("resume", folder / "run", "--quiet", "--json")
    assert code == 0
    assert json.loads(out)["is_whole"]


def test_a_warning_is_told_once(folder, call):
    customers().assign(sex=["F"] * 5 + ["M"] * 55).to_csv("customers.csv", index=False)
    code, _, err = call(*FIT, "--out", "run", "--quiet")
    assert code == 0
    assert err.count("has 5 rows") == 1


def test_a_run_that_is_killed_goes_on_as_if_it_had_not_been(folder):
    whole = ("--warmup", "20", "--draws", "400", "--seed", "3")
    code, _, _ = shell(*FIT, *whole, "--out", "whole", "--quiet", cwd=folder)
    assert code == 0
    process = start(*FIT, *whole, "--out", "cut", cwd=folder)
    checkpoint = folder / "cut" / "checkpoint"
    while not (checkpoint.is_dir() and any(checkpoint.iterdir())):
        assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert files_of(folder / "cut") == ["checkpoint", "config.toml"]
    other = shell(*FIT, *whole, "--draws", "400", "--k", "2", "--out", "cut", cwd=folder)
    assert other[0] == 2
    assert "--out cut has another run under way (what differs: --k)" in other[2]
    code, out, err = shell("resume", "cut", "--json", cwd=folder)
    assert code == 0, err
    assert "Going on with cut/" in err
    assert json.loads(out)["is_whole"]
    assert_same_results(folder / "whole", folder / "cut")
    assert files_of(folder / "cut") == FILES
    code, out, err = shell("resume", "cut", cwd=folder)
    assert (code, err) == (0, "")
    assert out == "cut has all that was asked for; there is nothing to go on with.\n"


def test_an_interrupt_gives_the_draws_so_far(folder):
    process = start(*FIT, *ENDLESS, "--jobs", "2", "--out", "my run", cwd=folder)
    code, out, err = interrupt_after(process, "(draws)")
    assert code in (0, 3), err
    assert "These are the draws so far; fairmix resume 'my run' goes on." in out
    assert "Fit again" not in err
    assert files_of(folder / "my run") == ["checkpoint", *FILES]
    n_draws = fairmix.load(folder / "my run" / "model.nc").posterior_.n_draws
    repeat = ("--draws", n_draws, "--max-minutes", "inf")
    told = " ".join(map(str, repeat))
    assert told in (folder / "my run" / "config.toml").read_text()
    settings = ("fit", "--config", "my run/config.toml", "--quiet")
    assert shell(*settings, *repeat, "--out", "again", cwd=folder)[0] == code
    assert_same_results(folder / "my run", folder / "again")


def test_an_interrupt_before_the_first_draw_loses_nothing(folder):
    process = start(*FIT, "--warmup", "10000000", "--out", "run", cwd=folder)
    code, out, err = interrupt_after(process, "(warm-up)")
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == (
        "error: interrupted; what was sampled so far is kept, and fairmix resume run goes on"
    )
    assert list((folder / "run" / "checkpoint").glob("chain-0-*.npz"))


def test_a_run_goes_on_with_its_own_table_only(folder, call):
    late = ("--max-minutes", "0.0001", "--draws", "3000", "--seed", "1")
    assert call(*FIT, *late, "--out", "run", "--quiet")[0] in (0, 3)
    assert "checkpoint" in files_of(folder / "run")
    customers(seed=1).to_csv("customers.csv", index=False)
    code, out, err = call("resume", "run", "--draws", "40", "--max-minutes", "inf", "--quiet")
    assert (code, out) == (2, "")
    assert "error: run is under way with another table than " in err
    customers().to_csv("customers.csv", index=False)
    code, out, _ = call("resume", "run", "--draws", "200", "--max-minutes", "inf", "-q", "--json")
    assert code in (0, 3)
    assert json.loads(out)["is_whole"]
    assert fairmix.load("run/model.nc").posterior_.n_draws == 200
    assert files_of(folder / "run") == FILES


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_place_that_cannot_be_written_to(folder, call, monkeypatch, number):
    def fail(path, contents):
        raise OSError(number, "no")

    monkeypatch.setattr(fitting, "write_whole", fail)
    code, out, err = call(*FIT, "--out", "run", "--quiet")
    assert (code, out) == (1, "")
    told = "the disk is full; make room" if number == errno.ENOSPC else "no; name another place"
    assert told in err
    assert "fairmix resume run then goes on from what was written down" in err
    monkeypatch.undo()
    code, _, err = call("resume", folder / "run", "--quiet")
    assert (code, err) == (0, "")


def test_folders_that_are_refused(folder, call):
    (folder / "full").mkdir()
    (folder / "full" / "x").touch()
    assert "--out full is not empty" in call(*FIT, "--out", "full")[2]
    assert "--out customers.csv is a file" in call(*FIT, "--out", "customers.csv")[2]
    code, _, err = call(*FIT, "--quiet", "--out", "customers.csv/run")
    assert code == 1
    assert "customers.csv/run cannot be written to" in err


def test_chains_that_disagree_have_a_code_of_their_own(folder, call, monkeypatch):
    monkeypatch.setattr("fairmix.posterior.verdict.MAX_APART", 0.0)
    code, out, err = call(*FIT, "--draws", "100", "--out", "run", "--quiet")
    assert (code, err) == (3, "")
    assert "they disagree: do not rely on these labels yet. Sample longer, about" in out
    assert "--warmup" in out
    summary = json.loads((folder / "run" / "summary.json").read_text())
    told = " ".join(summary["chains"]["advice"])
    assert "--max-gap" in told
    assert "n_draws" not in told
    assert "max_gap" not in told


def test_a_missing_library_for_the_report_is_no_failure(folder, call, monkeypatch):
    def lacks(summary, path):
        raise ImportError('the report needs jinja2: pip install "fairmix[report]"')

    monkeypatch.setattr(fairmix.report, "write_report", lacks)
    code, out, err = call(*FIT, "--out", "run", "--quiet")
    assert code == 0
    assert 'there is no report.html (the report needs jinja2: pip install "fairmix[report]")' in err
    assert "labels.csv, clusters.csv, model.nc, summary.json, config.toml in run/." in out
    monkeypatch.undo()
    code, out, _ = call("report", folder / "run", "--out", folder / "page.html", "--json")
    assert code == 0
    assert (folder / "page.html").read_text().lower().startswith("<!doctype html")


def test_hostile_ids_and_groups_cannot_run_in_a_spreadsheet(folder, call):
    table = customers()
    table["customer_id"] = [f"=HYPERLINK({k})" for k in range(60)]
    table["sex"] = table["sex"].map({"F": "=cmd|'/C calc'!A0", "M": "@b"})
    table.rename(columns={"age": "-age", "sex": "+sex"}).to_csv("t.csv", index=False)
    code, _, _ = call("fit", "t.csv", "--sensitive", "+sex", *TINY, "--out", "run", "--quiet")
    assert code == 0
    for name in ("labels.csv", "clusters.csv"):
        for row in csv.reader(io.StringIO((folder / "run" / name).read_text())):
            for cell in row:
                assert not cell.startswith(("=", "+", "@", "\t", "\r"))
                assert not cell.startswith("-") or float(cell) < 0
    assert "'=HYPERLINK(0)" in (folder / "run" / "labels.csv").read_text()
