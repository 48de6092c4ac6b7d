"""A key of this folder is made once, and is on the disk before anybody uses it."""

import os

import pytest

from core.embedded import address
from core.embedded.errors import KeyEmptyError


def test_a_key_is_on_the_disk_before_it_has_its_name_and_its_name_before_it_is_used(tmp_path, monkeypatch):
    done = []

    def note(name, real):
        def act(*given):
            done.append(f"{name} {'folder' if name == 'fsync' and os.path.isdir(f'/dev/fd/{given[0]}') else 'file'}")
            return real(*given)

        return act

    monkeypatch.setattr(address.os, "fsync", note("fsync", os.fsync))
    monkeypatch.setattr(address.os, "link", note("link", os.link))
    key = address.kept_once(tmp_path, "secret-key", lambda: "made once")
    assert (key, done) == ("made once", ["fsync file", "link file", "fsync folder"])
    assert address.kept_once(tmp_path, "secret-key", lambda: "another") == "made once"
    assert [path.name for path in tmp_path.iterdir()] == ["secret-key"]


@pytest.mark.parametrize("left", ["", "\n"])
def test_a_key_that_a_power_loss_left_empty_is_no_key(tmp_path, left):
    (tmp_path / "secret-key").write_text(left)
    with pytest.raises(KeyEmptyError, match="secret-key is empty, so the key that it held is lost"):
        address.secret_key(tmp_path)
    assert (tmp_path / "secret-key").read_text() == left
