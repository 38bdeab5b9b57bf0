"""Files are there whole or not at all."""

import os
import stat

import pytest

from fairmix.files import write_whole


def test_a_file_is_written_and_replaced(tmp_path):
    path = tmp_path / "it"
    for contents in (b"one", b"another one"):
        write_whole(path, contents)
        assert path.read_bytes() == contents
    assert [each.name for each in tmp_path.iterdir()] == ["it"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_what_fails_changes_nothing(tmp_path, monkeypatch, failing):
    path = tmp_path / "it"
    write_whole(path, b"one")

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"another one")
    assert path.read_bytes() == b"one"
    assert [each.name for each in tmp_path.iterdir()] == ["it"]


@pytest.mark.skipif(os.name == "nt", reason="other rights on Windows")
def test_a_file_may_be_read_by_whom_the_user_lets(tmp_path):
    before = os.umask(0o022)
    try:
        write_whole(tmp_path / "it", b"one")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "it").stat().st_mode) == 0o644


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "there" / "it")
    write_whole(link, b"one")
    assert link.is_symlink()
    assert (tmp_path / "there" / "it").read_bytes() == b"one"
