"""Loaders: what they give, where files come from, and what can go wrong on the way."""

import hashlib
import http.server
import io
import threading
import time
import zipfile

import numpy as np
import pandas as pd
import pytest

from fairmix.datasets import (
    DownloadError,
    load_adult,
    load_bank,
    load_diabetes,
    load_galaxy,
    load_toy,
    source,
)
from fairmix.datasets import bank as bank_module
from fairmix.datasets import diabetes as diabetes_module


def test_adult_is_packaged(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRMIX_DATA", str(tmp_path))
    adult = load_adult()
    assert adult.data.shape == (32561, 5)
    assert adult.sensitive_features.value_counts().to_dict() == {"Male": 21790, "Female": 10771}
    assert list(adult.data.columns) == adult.feature_names
    assert "CC BY 4.0" in adult.DESCR


def test_adult_is_the_public_file(data_folder):
    public = pd.read_csv(data_folder / "adult.csv")
    adult = load_adult(groups=["sex", "race"])
    pd.testing.assert_frame_equal(adult.data, public[adult.feature_names])
    pd.testing.assert_frame_equal(adult.sensitive_features, public[["sex", "race"]])


def test_what_was_loaded_is_ones_own():
    load_adult(n_rows=10).feature_names.append("another")
    assert len(load_adult(n_rows=10).feature_names) == 5


def test_draws_of_adult():
    drawn = load_adult(n_rows="paper", random_state=3)
    assert drawn.sensitive_features.value_counts().to_dict() == {"Male": 694, "Female": 306}
    again = load_adult(n_rows="paper", random_state=3)
    pd.testing.assert_frame_equal(drawn.data, again.data)
    other = load_adult(n_rows="paper", random_state=4)
    assert not np.array_equal(drawn.row_numbers, other.row_numbers)
    whole = load_adult()
    picked = whole.data.iloc[drawn.row_numbers].reset_index(drop=True)
    pd.testing.assert_frame_equal(drawn.data, picked)
    assert len(load_adult(n_rows=50, groups="race").data) == 50


@pytest.mark.parametrize(
    ("groups", "sizes"),
    [
        ("married", {"married": 606, "not married": 394}),
        ("single", {"married": 606, "single": 394}),
        ("marital", {"married": 586, "single": 305, "divorced": 109}),
    ],
)
def test_bank(data_folder, groups, sizes):
    drawn = load_bank(n_rows="paper", groups=groups)
    assert drawn.sensitive_features.value_counts().to_dict() == sizes
    assert drawn.data.shape == (1000, 6)
    public = pd.read_csv(data_folder / "bank.csv").iloc[drawn.row_numbers]
    assert (public["duration"].to_numpy() == drawn.data["duration"].to_numpy()).all()
    assert len(load_bank(groups=groups).data) == (36496 if groups == "single" else 41108)


def test_categorised_bank(data_folder):
    drawn = load_bank(n_rows=501, categorised=True).data
    assert set(np.unique(drawn)) == {0, 1}
    assert (drawn.mean() <= 0.5).all()  # above the median


def test_diabetes(data_folder):
    diabetes = load_diabetes()
    sizes = diabetes.sensitive_features.value_counts().to_dict()
    assert sizes == {"up to 29": 396, "above 29": 372}
    assert diabetes.data.shape == (768, 7)
    three = load_diabetes(groups=(24, 40)).sensitive_features
    assert set(three) == {"up to 24", "above 24 up to 40", "above 40"}
    assert len(load_diabetes(n_rows=100).data) == 100


def test_toy_and_galaxy():
    toy = load_toy(n_rows=60)
    assert toy.data.shape == (60, 2)
    literal = load_toy(n_rows=60, literal=True).data
    assert literal["x"].max() < 0 < toy.data["x"].max()
    toy = load_toy(n_rows=90, groups=3)
    assert toy.sensitive_features.value_counts().to_dict() == {0: 30, 1: 30, 2: 30}
    assert toy.data["x"][toy.sensitive_features == 2].mean() == pytest.approx(15, abs=1)
    galaxy = load_galaxy().data
    assert galaxy["velocity"].agg(["count", "min", "max"]).tolist() == [82, 9.172, 34.279]


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (lambda: load_adult(n_rows=0), "n_rows = 0 must be from 1 to 32,561"),
        (lambda: load_adult(n_rows="all"), "n_rows must be None, 'paper' or"),
        (lambda: load_adult(n_rows="paper", groups="race"), "n_rows must be None or a number"),
        (lambda: load_adult(groups="age"), "groups must be 'sex'"),
        (lambda: load_bank(groups="divorced"), "groups must be one of 'married'"),
        (lambda: load_diabetes(groups=(40, 24)), "growing order"),
        (lambda: load_diabetes(groups="age"), "growing order"),
        (lambda: load_toy(n_rows=100), "multiple of 6"),
        (lambda: load_toy(groups=0), "groups must be a number"),
    ],
)
def test_bad_arguments(load, message):
    with pytest.raises(ValueError, match=message):
        load()


def test_rows_must_be_a_number():
    with pytest.raises(
        TypeError, match=r"n_rows must be None, 'paper' or a number of rows, got 2\.5"
    ):
        load_adult(n_rows=2.5)


# --- where files come from ---------------------------------------------------------------------


def zipped(name, contents):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, contents)
    return buffer.getvalue()


def public_bank(data_folder):
    """Make the public file again from ours; its own checksum is known."""

    def quoted(cell):
        try:
            float(cell)
        except ValueError:
            return f'"{cell}"'
        return cell

    lines = (data_folder / "bank.csv").read_text().splitlines()
    raw = "".join(";".join(map(quoted, line.split(","))) + "\r\n" for line in lines).encode()
    known = "74adfc578bf77a7ff4bb1ba4a9f8709d9e3c6907342959c2c8416847e0afb4d8"
    assert hashlib.sha256(raw).hexdigest() == known
    return raw


def public_diabetes(data_folder):
    """Make an ARFF file from ours, as OpenML has it."""
    outcome = {"0": "tested_negative", "1": "tested_positive"}
    _, *lines = (data_folder / "diabetes.csv").read_text().splitlines()
    rows = [line.rsplit(",", 1) for line in lines]
    text = "% a comment\n@relation pima\n@attribute 'preg' real\n@data\n% another\n"
    return (text + "\n".join(f"{numbers},{outcome[last]}" for numbers, last in rows)).encode()


@pytest.fixture
def server():
    """Serve whatever ``answers`` holds, by path; a callable writes its answer itself."""
    answers = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            answer = answers.get(self.path)
            if answer is None:
                self.send_error(404)
            elif callable(answer):
                answer(self)
            else:
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        def log_message(self, *arguments):
            pass

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads = True
    threading.Thread(target=running.serve_forever, daemon=True).start()
    running.answers = answers
    running.url = f"http://127.0.0.1:{running.server_port}"
    yield running
    running.shutdown()
    running.server_close()


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """Let the user's cache be empty, and no folder be named."""
    monkeypatch.delenv("FAIRMIX_DATA", raising=False)
    monkeypatch.setattr(source, "user_cache_path", lambda name: tmp_path / name)
    return tmp_path / "fairmix" / "data"


def redirect(monkeypatch, module, url):
    changed = source.Source(
        **{name: getattr(module.SOURCE, name) for name in module.SOURCE.__dataclass_fields__}
        | {"url": url}
    )
    monkeypatch.setattr(module, "SOURCE", changed)


def test_bank_is_downloaded_once(data_folder, server, cache, monkeypatch, capsys):
    inner = zipped("bank-additional/bank-additional-full.csv", public_bank(data_folder))
    server.answers["/bank.zip"] = zipped("bank-additional.zip", inner)
    redirect(monkeypatch, bank_module, server.url + "/bank.zip")
    first = load_bank(n_rows="paper")
    assert "downloading bank.csv" in capsys.readouterr().err
    assert [path.name for path in cache.iterdir()] == ["bank.csv"]  # and nothing half written
    del server.answers["/bank.zip"]
    pd.testing.assert_frame_equal(load_bank(n_rows="paper").data, first.data)
    assert capsys.readouterr().err == ""


def test_diabetes_is_downloaded_and_a_damaged_cache_is_replaced(
    data_folder, server, cache, monkeypatch, capsys
):
    server.answers["/diabetes.arff"] = public_diabetes(data_folder)
    redirect(monkeypatch, diabetes_module, server.url + "/diabetes.arff")
    cache.mkdir(parents=True)
    (cache / "diabetes.csv").write_text("half of it")
    assert len(load_diabetes().data) == 768
    assert "is damaged and is downloaded again" in capsys.readouterr().err
    assert (cache / "diabetes.csv").read_bytes() == (data_folder / "diabetes.csv").read_bytes()


def test_a_local_file_can_be_the_source(data_folder, cache, monkeypatch, tmp_path):
    (tmp_path / "local.arff").write_bytes(public_diabetes(data_folder))
    redirect(monkeypatch, diabetes_module, (tmp_path / "local.arff").as_uri())
    assert len(load_diabetes().data) == 768


def test_the_public_file_may_be_in_the_users_folder(data_folder, cache, monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRMIX_DATA", str(tmp_path))
    (tmp_path / "diabetes.arff").write_bytes(public_diabetes(data_folder))
    assert len(load_diabetes().data) == 768
    (tmp_path / "bank+marketing.zip").write_bytes(b"abc")
    with pytest.raises(ValueError, match=r"bank\+marketing.zip is damaged, or another version"):
        load_bank()


def test_a_cache_that_cannot_be_written_loses_nothing(data_folder, server, cache, monkeypatch):
    server.answers["/diabetes.arff"] = public_diabetes(data_folder)
    redirect(monkeypatch, diabetes_module, server.url + "/diabetes.arff")
    cache.parent.write_text("a file where the folder should be")
    with pytest.warns(UserWarning, match="could not be kept"):
        assert len(load_diabetes().data) == 768


def failing_download(monkeypatch, url):
    redirect(monkeypatch, bank_module, url)
    with pytest.raises(DownloadError) as caught:
        load_bank()
    message = str(caught.value)
    assert url in message
    assert "FAIRMIX_DATA" in message  # what to do
    return message


def test_no_such_file_and_no_network(server, cache, monkeypatch):
    assert "404" in failing_download(monkeypatch, server.url + "/nothing")
    assert "could not be downloaded" in failing_download(monkeypatch, "http://127.0.0.1:1/x")
    assert "could not be downloaded" in failing_download(
        monkeypatch, "http://no.such.host.invalid/"
    )
    assert not cache.exists()


def test_a_silent_server(server, cache, monkeypatch):
    monkeypatch.setattr(source, "SILENCE_SECONDS", 0.2)
    server.answers["/slow"] = lambda handler: time.sleep(1.0)
    assert "timed out" in failing_download(monkeypatch, server.url + "/slow")


def test_a_server_that_drips(server, cache, monkeypatch):
    monkeypatch.setattr(source, "DOWNLOAD_SECONDS", 0.3)

    def drip(handler):
        handler.send_response(200)
        handler.end_headers()
        for _ in range(20):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.05)

    server.answers["/drip"] = drip
    assert "more than 0.3 seconds" in failing_download(monkeypatch, server.url + "/drip")


def test_a_connection_that_ends_early(server, cache, monkeypatch):
    def stop_early(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b"x" * 10)

    server.answers["/half"] = stop_early
    assert "after 10 of 1,000 bytes" in failing_download(monkeypatch, server.url + "/half")


def test_another_file_is_refused(server, cache, monkeypatch):
    inner = zipped("bank-additional/bank-additional-full.csv", b'"age";"job"\r\n1;"x"\r\n')
    server.answers["/other.zip"] = zipped("bank-additional.zip", inner)
    assert "SHA-256" in failing_download(monkeypatch, server.url + "/other.zip")
    assert not cache.exists()


def test_not_an_archive_and_a_member_that_is_missing(server, cache, monkeypatch):
    server.answers["/text"] = b"<html>moved</html>"
    assert "not the archive it was" in failing_download(monkeypatch, server.url + "/text")
    server.answers["/empty.zip"] = zipped("readme", b"nothing here")
    assert "bank-additional.zip" in failing_download(monkeypatch, server.url + "/empty.zip")


def test_a_hostile_archive_writes_nothing(server, cache, monkeypatch, tmp_path):
    server.answers["/evil.zip"] = zipped("../../evil.txt", b"x")
    failing_download(monkeypatch, server.url + "/evil.zip")
    assert not list(tmp_path.rglob("evil.txt"))


def test_a_zip_bomb_is_not_read(server, cache, monkeypatch):
    monkeypatch.setattr(source, "MAX_BYTES", 1_000_000)
    bomb = zipped("bank-additional.zip", b"\0" * 5_000_000)
    assert len(bomb) < 10_000
    server.answers["/bomb.zip"] = bomb
    assert "more than 1,000,000 bytes" in failing_download(monkeypatch, server.url + "/bomb.zip")


def test_an_archive_that_lies_about_its_size(server, cache, monkeypatch):
    monkeypatch.setattr(source, "MAX_BYTES", 1_000_000)
    bomb = bytearray(zipped("bank-additional.zip", b"\0" * 5_000_000))
    size = (5_000_000).to_bytes(4, "little")
    while size in bomb:
        place = bomb.index(size)
        bomb[place : place + 4] = (10).to_bytes(4, "little")
    server.answers["/liar.zip"] = bytes(bomb)
    message = failing_download(monkeypatch, server.url + "/liar.zip")
    assert "not the archive it was" in message or "more than" in message


def test_a_download_without_end(server, cache, monkeypatch):
    monkeypatch.setattr(source, "MAX_BYTES", 1000)
    server.answers["/large"] = b"x" * 5000
    assert "more than 1,000 bytes" in failing_download(monkeypatch, server.url + "/large")


def test_an_arff_file_that_has_changed(server, cache, monkeypatch):
    server.answers["/diabetes.arff"] = b"@data\n1,2,3,4,5,6,7,8,maybe\n"
    redirect(monkeypatch, diabetes_module, server.url + "/diabetes.arff")
    with pytest.raises(DownloadError, match="the outcome 'maybe' is not known"):
        load_diabetes()


def test_the_users_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRMIX_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(NotADirectoryError, match="FAIRMIX_DATA = "):
        load_bank()
    monkeypatch.setenv("FAIRMIX_DATA", str(tmp_path))
    (tmp_path / "bank.csv").write_text("age\n1\n")
    with pytest.raises(ValueError, match="another version, or damaged"):
        load_bank()
