"""What is understood of a table, and all of its problems at once."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.cli.shell import customers, shell


@pytest.fixture
def check(folder, call):
    """Check a table; give the exit code, the document and errors."""

    def check_it(table, *arguments):
        table.to_csv("t.csv", index=False)
        code, out, err = call("check", "t.csv", "--json", *arguments)
        return code, json.loads(out), err

    return check_it


def roles_of(found):
    return {column["name"]: column["taken_for"] for column in found["columns"]}


def test_a_process_says_what_is_understood(folder):
    code, out, err = shell("check", "customers.csv", "--sensitive", "sex", cwd=folder)
    assert code == 0
    assert err == "Nothing stands against fairmix fit.\n"
    assert out.splitlines()[0] == (
        "customers.csv: 60 rows, 7 columns (text, comma between cells, utf-8)"
    )
    for line in (
        "customer_id  names the rows",
        "plan         3 categories: basic, plus, pro",
        "joined       left out: dates",
        "country      left out: constant (DE)",
        "groups: sex M 36 (60 %); sex F 24 (40 %)",
        "holes: 9 cells (5 %) are missing; they are left out of the likelihood",
    ):
        assert line in out.splitlines(), out
    assert "fairness: every row is matched to one of the smallest group (sex F)" in out


def test_roles_and_groups_for_programs(check):
    code, found, err = check(customers(), "--sensitive", "sex", "--quiet")
    assert (code, err) == (0, "")
    assert found["groups"] == {"F": 24, "M": 36}
    assert found["id"] == "customer_id"
    assert roles_of(found)["visits"].startswith("counts, ")
    assert found["columns"][1]["n_missing"] == 9
    assert [column["name"] for column in found["columns"] if column["is_used"]] == [
        "age",
        "visits",
        "plan",
    ]


def test_columns_that_name_or_number_rows(check):
    n_rows = 40
    table = customers(n_rows).drop(columns="customer_id")
    table["UserID"] = np.arange(n_rows) * 3
    table["row"] = np.arange(5, n_rows + 5)
    table["tracking_key"] = [f"k{k}" for k in range(n_rows)]
    table["remark"] = [f"text {k // 2}" for k in range(n_rows)]
    table["mostly"] = [f"text {k % 30}" for k in range(n_rows)]
    table["nothing"] = ""
    code, found, _ = check(table, "--sensitive", "sex")
    assert code == 0
    assert found["id"] == "UserID"
    roles = roles_of(found)
    assert roles["row"] == "left out: numbers the rows"
    assert roles["tracking_key"] == "left out: text, all different"
    assert roles["remark"].startswith("20 categories")
    assert roles["mostly"] == "left out: text of 30 values"
    assert roles["nothing"] == "left out: empty"


def test_the_user_has_the_last_word(check):
    table = customers().assign(number=np.arange(60), name=[f"n{k}" for k in range(60)])
    code, found, _ = check(
        table,
        "--sensitive",
        "sex",
        "--columns",
        "age,number",
        "--columns",
        "visits",
        "--id",
        "name",
    )
    assert code == 0
    assert [column["name"] for column in found["columns"] if column["is_used"]] == [
        "age",
        "visits",
        "number",
    ]
    assert found["id"] == "name"
    assert roles_of(found)["plan"] == "left out: not among --columns"
    _, found, _ = check(table, "--sensitive", "sex", "--drop", "age,visits")
    assert roles_of(found)["visits"] == "left out: dropped"


def test_a_name_with_a_comma_is_one_name(check):
    table = customers().rename(columns={"age": "age, years", "sex": "sex,registered"})
    code, found, _ = check(table, "--sensitive", "sex,registered", "--drop", "age, years")
    assert code == 0
    assert roles_of(found)["age, years"] == "left out: dropped"


def test_families_and_holes(check):
    code, found, _ = check(
        customers(), "--sensitive", "sex", "--family", "visits=gaussian,age=student-t"
    )
    assert code == 0
    assert roles_of(found)["visits"].startswith("numbers, ")
    assert roles_of(found)["age"].endswith("(student-t)")
    code, found, _ = check(customers(), "--sensitive", "sex", "--missing", "error")
    assert code == 2
    assert found["problems"] == [
        "there are missing cells (age 9); fill them, or leave these columns out by --drop age"
    ]


def test_all_problems_at_once(check):
    table = customers()
    table["age"] = table["age"].astype(object)
    table.loc[3, "age"] = "forty"
    table["visits"] = table["visits"].astype(float)
    table.loc[5, "visits"] = np.inf
    table["region"] = "north"
    table.loc[8, "sex"] = None
    code, found, err = check(
        table,
        "--sensitive",
        "sex,Region",
        "--drop",
        "zzz",
        "--id",
        "customerid",
        "--family",
        "gaus",
    )
    assert code == 2
    problems = " | ".join(found["problems"])
    for part in (
        "--sensitive: 'Region' is no column of the table; do you mean 'region'?",
        "--drop: 'zzz' is no column of the table; the columns are customer_id, age",
        "--id: 'customerid' is no column of the table; do you mean 'customer_id'?",
        "--family: 'gaus' is no family; do you mean 'gaussian'?",
        "column 'age' holds numbers, but 'forty' in row 4; mend that, pass --na 'forty'",
        "column 'visits' holds an infinite number in row 6",
        "sensitive column 'sex' has 1 missing cells (rows 9)",
    ):
        assert part in problems
    assert len(err.splitlines()) == len(found["problems"])


@pytest.mark.parametrize("remedy", [("--na", "forty"), ("--family", "age=categorical")])
def test_the_remedies_for_a_mistake_help(check, remedy):
    table = customers()
    table["age"] = table["age"].astype(object)
    table.loc[3, "age"] = "forty"
    assert check(table, "--sensitive", "sex", *remedy)[0] == 0


@pytest.mark.parametrize(
    ("values", "more", "message"),
    [
        (["F"] * 60, (), "has one group only (F), so there is nothing to make fair"),
        ([f"g{k}" for k in range(60)], (), "has 60 different values, too many to be groups"),
        ([k + 0.5 for k in range(20)] * 3, (), "so it looks continuous"),
        (["F"] + ["M"] * 59, (), "there could be only one cluster"),
        (["F"] * 30 + ["M"] * 30, ("--min-group-size", "31"), "makes one group of all of them"),
        (["F", "M"] * 30, ("--max-gap", "2"), "--max-gap must be"),
        (
            ["F"] * 29 + ["M"] * 31,
            ("--max-gap", "0.001"),
            "--max-gap 0.001 allows one cluster only",
        ),
        (["F", "M"] * 30, ("--min-balance", "3"), "--min-balance must be"),
        (["F", "M"] * 30, ("--max-gap", "sexes=0.1"), "'sexes' is no column"),
        (["F", "M"] * 30, ("--drop", "sex"), "'sex' is sensitive, so it is neither"),
        (["F", "M"] * 30, ("--n-masked", "5", "--max-gap", "0.1"), "--n-masked 5 together with"),
        (["F", "M"] * 30, ("--columns", "country"), "every column is constant"),
        (["F", "M"] * 30, ("--drop", "age,visits,plan"), "no column is left to cluster by"),
    ],
)
def test_groups_that_cannot_be_made_fair(check, values, more, message):
    code, found, _ = check(customers().assign(sex=values), "--sensitive", "sex", *more)
    assert code == 2
    assert message in " ".join(found["problems"])


def test_rows_without_any_cell(check):
    table = customers()
    table.loc[[4, 9], ["age", "visits", "plan"]] = None
    code, found, _ = check(table, "--sensitive", "sex")
    assert code == 2
    assert "2 rows have no cell at all in the columns to cluster by (rows 5, 10)" in str(found)


def test_rare_groups_are_put_together(check):
    values = ["a"] * 30 + ["b"] * 26 + ["c", "d"] * 2
    code, found, _ = check(
        customers().assign(sex=values), "--sensitive", "sex", "--min-group-size", "4"
    )
    assert code == 0
    assert found["groups"] == {"a": 30, "b": 26, "other": 4}


def test_several_sensitive_columns_are_crossed(check):
    table = customers().assign(old=["yes", "no"] * 30)
    _, found, _ = check(table, "--sensitive", "sex", "--sensitive", "old")
    assert set(found["groups"]) == {"F, no", "F, yes", "M, no", "M, yes"}
    code, _, _ = check(
        table, "--sensitive", "sex,old", "--max-gap", "sex=0.2,old=0.3", "--gap-kind", "mean"
    )
    assert code == 0


def test_warnings_of_the_library_are_told(check):
    table = customers().assign(sex=["F"] * 3 + ["M"] * 57, copy=["F"] * 3 + ["M"] * 57)
    _, found, err = check(table, "--sensitive", "sex")
    assert "has 3 rows" in " ".join(found["warnings"])
    assert err.count("warning: ") == len(found["warnings"])


def test_hostile_names_are_shown_as_text(folder, call):
    table = customers().rename(columns={"age": "[bold]age[/bold]", "visits": "\x1b[31mvisits"})
    table.to_csv("t.csv", index=False)
    _, out, _ = call("check", "t.csv", "--sensitive", "sex")
    assert "[bold]age[/bold]" in out
    assert "\x1b" not in out


def test_a_table_without_sensitive_column_is_looked_at(folder, call):
    code, out, err = call("check", "customers.csv")
    assert (code, err) == (0, "")
    assert "groups: none yet: --sensitive names the column" in out


def test_reading_options_are_heeded(folder, call):
    table = customers().fillna({"age": -1})
    table.to_csv("t.txt", sep=";", decimal=",", index=False, encoding="utf-16")
    named = ("--delimiter", ";", "--decimal", ",", "--encoding", "utf-16", "--na", "-1")
    _, out, _ = call("check", "t.txt", "--json", *named)
    assert [column["n_missing"] for column in json.loads(out)["columns"]][1] == 9


def test_settings_come_from_a_file_and_options_overrule_it(folder, call):
    (folder / "my.toml").write_text(
        'data = "customers.csv"\nsensitive = ["sex"]\ndrop = ["age"]\nmin_balance = 0.2\n'
    )
    _, out, _ = call("check", "--config", "my.toml", "--json", "--drop", "plan")
    assert roles_of(json.loads(out))["plan"] == "left out: dropped"
    assert "numbers, " in roles_of(json.loads(out))["age"]
    _, out, _ = call("check", "--config", "my.toml")
    assert "fairness: every draw has a balance of at least 0.2" in out


def test_many_rows_are_read_in_parts(check):
    table = pd.concat([customers(4000, seed) for seed in range(3)])
    code, found, _ = check(table, "--sensitive", "sex")
    assert (code, found["n_rows"]) == (0, 12_000)
    assert found["groups"] == {"F": 4800, "M": 7200}
