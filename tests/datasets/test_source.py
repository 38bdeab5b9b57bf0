"""Where files come from, and what can go wrong on the way."""

import gc
import hashlib
import http.server
import io
import threading
import time
import zipfile

import pandas as pd
import pytest

from fairmix.datasets import (
    DownloadError,
    load_bank,
    load_diabetes,
    source,
)
from fairmix.datasets import bank as bank_module
from fairmix.datasets import diabetes as diabetes_module


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
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
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
    with pytest.raises(DownloadError, match=r"bank\+marketing.zip cannot be read, is damaged"):
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


def test_headers_that_drip(server, cache, monkeypatch):
    monkeypatch.setattr(source, "DOWNLOAD_SECONDS", 0.3)
    ended = threading.Event()

    def drip(handler):
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n")
        while not ended.wait(0.05):
            handler.wfile.write(b"X-Drip: drop\r\n")
            handler.wfile.flush()

    server.answers["/drip"] = drip
    began = time.monotonic()
    try:
        assert "more than 0.3 seconds" in failing_download(monkeypatch, server.url + "/drip")
        assert time.monotonic() - began < 5.0
    finally:
        ended.set()
    assert not cache.exists()


def answer_with(*headers, status=200):
    def answer(handler):
        handler.send_response(status)
        for name, content in headers:
            handler.send_header(name, content)
        handler.end_headers()
        handler.wfile.write(b"something")

    return answer


# urllib leaves the first answer to the garbage collector if the place it names makes no sense.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_server_that_talks_nonsense(server, cache, monkeypatch):
    server.answers["/length"] = answer_with(("Content-Length", "many"))
    failing_download(monkeypatch, server.url + "/length")
    for place in ("http://[::1", "http://127.0.0.1:port/", "http://a..b/", "gopher://x/"):
        server.answers["/moved"] = answer_with(("Location", place), status=302)
        failing_download(monkeypatch, server.url + "/moved")
    server.answers["/rubbish"] = lambda handler: handler.wfile.write(b"\xff\xfe\x00rubbish\r\n\r\n")
    failing_download(monkeypatch, server.url + "/rubbish")
    failing_download(monkeypatch, "http://127.0.0.1:port/")
    failing_download(monkeypatch, "bank.zip")
    failing_download(monkeypatch, cache.parent.parent.as_uri())  # a folder
    gc.collect()  # here, where nobody minds, rather than in the middle of another test


def damaged(name, compression):
    """Make an archive whose member has the right place and size, but garbled contents."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr(name, b"contents " * 100)
    contents = bytearray(buffer.getvalue())
    first = 30 + len(name)
    contents[first + 4 : first + 30] = b"\xff" * 26
    return bytes(contents)


@pytest.mark.parametrize("compression", [0, 8, 12, 14], ids=["stored", "zlib", "bz2", "lzma"])
def test_a_damaged_archive(server, cache, monkeypatch, compression):
    server.answers["/damaged.zip"] = damaged("bank-additional.zip", compression)
    assert "not the archive it was" in failing_download(monkeypatch, server.url + "/damaged.zip")


def test_an_archive_with_a_garbled_name(server, cache, monkeypatch):
    contents = zipped("\u00e9.txt", b"x").replace("\u00e9".encode(), b"\xff\xff")
    server.answers["/garbled.zip"] = contents
    assert "not the archive it was" in failing_download(monkeypatch, server.url + "/garbled.zip")


def test_a_folder_where_the_cached_file_should_be(data_folder, server, cache, monkeypatch, capsys):
    server.answers["/diabetes.arff"] = public_diabetes(data_folder)
    redirect(monkeypatch, diabetes_module, server.url + "/diabetes.arff")
    (cache / "diabetes.csv").mkdir(parents=True)
    with pytest.warns(UserWarning, match="could not be kept"):
        assert len(load_diabetes().data) == 768
    assert "is damaged and is downloaded again" in capsys.readouterr().err
    assert [path.name for path in cache.iterdir()] == ["diabetes.csv"]


def test_an_interrupt_leaves_nothing_half_written(data_folder, server, cache, monkeypatch):
    def interrupt(descriptor):
        raise KeyboardInterrupt

    server.answers["/diabetes.arff"] = public_diabetes(data_folder)
    redirect(monkeypatch, diabetes_module, server.url + "/diabetes.arff")
    monkeypatch.setattr(source.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load_diabetes()
    assert not list(cache.iterdir())


def test_the_users_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRMIX_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"FAIRMIX_DATA = .*not a folder.*unset it"):
        load_bank()
    monkeypatch.setenv("FAIRMIX_DATA", str(tmp_path))
    (tmp_path / "bank.csv").write_text("age\n1\n")
    with pytest.raises(DownloadError, match=r"bank.csv cannot be read.*SHA-256.*Remove it"):
        load_bank()
    monkeypatch.setenv("FAIRMIX_DATA", str(tmp_path / "bank.csv"))
    with pytest.raises(DownloadError, match=r"FAIRMIX_DATA = .*not a folder.*unset it"):
        load_bank()


@pytest.mark.parametrize("name", ["diabetes.csv", "diabetes.arff"])
def test_a_file_of_the_users_that_cannot_be_read(monkeypatch, tmp_path, name):
    monkeypatch.setenv("FAIRMIX_DATA", str(tmp_path))
    (tmp_path / name).write_bytes(b"@data\n\xff\xff\n")
    with pytest.raises(DownloadError, match=f"{name} cannot be read.*Remove it"):
        load_diabetes()
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(DownloadError, match=f"{name} cannot be read.*Is a directory"):
        load_diabetes()
