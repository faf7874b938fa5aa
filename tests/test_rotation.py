"""Every room has its turn, soon."""

import subprocess
from pathlib import Path

import pytest
import rotation


def test_each_room_is_due_once_in_three_turns_and_about_a_third_of_them_at_each() -> None:
    rooms = [f"family{family}/room{number}" for family in range(10) for number in range(20)]
    for start in range(4):
        assert all(sum(rotation.due(room, start + k) for k in range(3)) == 1 for room in rooms)
        assert 50 < sum(rotation.due(room, start) for room in rooms) < 85


def test_a_room_that_has_changed_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotation, "ROOT", tmp_path)
    assert rotation.changed("HEAD") == []  # git is silent

    def git(*words: str) -> None:
        name = ["-c", "user.name=A", "-c", "user.email=a@localhost"]
        subprocess.run(["git", *name, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    for room in ("flow/coupling", "flow/copula", "latent/bound"):
        (tmp_path / "pages" / room).mkdir(parents=True)
        (tmp_path / "pages" / room / "page.py").write_text("1")
    git("add", ".")
    git("commit", "-m", "Begin")
    assert rotation.changed("HEAD") == []
    (tmp_path / "pages/flow/copula/page.py").write_text("2")
    (tmp_path / "pages/flow/coupling/new.py").write_text("3")
    (tmp_path / "README.md").write_text("4")
    files = rotation.changed("HEAD")
    assert sorted(files) == ["README.md", "pages/flow/copula/page.py", "pages/flow/coupling/new.py"]
    assert rotation.within("pages/flow/copula", files) and rotation.within("README.md", files)
    assert rotation.within("pages/home", ["pages/home.py"])
    assert not rotation.within("pages/flow/co", files) and not rotation.within("pages/latent/bound", files)
