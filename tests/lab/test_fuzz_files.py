"""Cards, weights and YAML changed at random: what is not the truth is refused with one sentence."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab import experiments, weights
from lab.errors import UserError
from modules.autoregressive.made import MADE
from modules.base import Module

pytestmark = pytest.mark.fuzz

HOSTILE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.integers(-3, 12),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["os.system", "modules.base.Module", "touch owned", "../../x", "\x00", "1e400", "💥"]),
    st.recursive(st.integers(-2, 10**9), lambda inner: st.lists(inner, max_size=4), max_leaves=8),
    st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
)


def places(tree: Any, here: tuple = ()) -> list[tuple]:
    """The way to every value in nested mappings and lists."""
    steps = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [here, *(place for key, value in steps for place in places(value, (*here, key)))]


def put(tree: Any, place: tuple, value: Any) -> Any:
    """A copy of `tree` with another value at `place`."""
    if not place:
        return value
    copy = tree.copy()
    copy[place[0]] = put(tree[place[0]], place[1:], value)
    return copy


@st.composite
def flipped(draw: st.DrawFn, data: bytes) -> bytes:
    """`data` with some bytes changed, cut out, or put in."""
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(changed)))
        changed[start : start + draw(st.integers(0, 6))] = draw(st.binary(max_size=6))
    return bytes(changed)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    weights.save(folder, MADE(event_shape=(6,), hidden=[5]), {"experiment": "x", "data": {}})
    return folder


@pytest.fixture(autouse=True)
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Nothing is run: the file `owned` never appears."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not Path("owned").exists()


def tried(folder: Path) -> Module | None:
    """The model in `folder` if it is accepted; then it has numbers, and can be used."""
    try:
        model = weights.load(folder)
    except UserError as error:
        assert str(error).strip()
        assert "Traceback" not in str(error)
        return None
    assert all(t.isfinite().all() for t in model.parameters())
    return model


def write(folder: Path, card: bytes, data: bytes) -> Path:
    (folder / "card.json").write_bytes(card)
    (folder / "model.safetensors").write_bytes(data)
    return folder


@given(draw=st.data())
def test_cards(saved: Path, tmp_path: Path, draw: st.DataObject) -> None:
    data, text = (saved / "model.safetensors").read_bytes(), (saved / "card.json").read_bytes()
    if draw.draw(st.booleans()):
        text = draw.draw(flipped(text))
    else:
        card = json.loads(text)
        model = card["config"]["model"]
        model = put(model, draw.draw(st.sampled_from(places(model))), draw.draw(HOSTILE))
        text = json.dumps(put(card, ("config", "model"), model)).encode()
    loaded = tried(write(tmp_path, text, data))
    assert loaded is None or isinstance(loaded, MADE)


@given(draw=st.data())
def test_weights(saved: Path, tmp_path: Path, draw: st.DataObject) -> None:
    data, card = (saved / "model.safetensors").read_bytes(), json.loads((saved / "card.json").read_bytes())
    length = int.from_bytes(data[:8], "little")
    if draw.draw(st.booleans()):
        data = draw.draw(flipped(data))
    else:
        header = json.loads(data[8 : 8 + length])
        changed = put(header, draw.draw(st.sampled_from(places(header))), draw.draw(HOSTILE))
        text = json.dumps(changed).encode()
        data = len(text).to_bytes(8, "little") + text + data[8 + length :]
    if draw.draw(st.booleans()):  # one who wants to deceive signs as well
        card["sha256"] = hashlib.sha256(data).hexdigest()
        model = tried(write(tmp_path, json.dumps(card).encode(), data))
    else:
        same = hashlib.sha256(data).hexdigest() == card["sha256"]
        model = tried(write(tmp_path, json.dumps(card).encode(), data))
        assert same or model is None
    assert model is None or model.log_prob(torch.zeros(1, 6)).isfinite().all()  # type: ignore[operator]


RECIPE = (experiments.CONFIGS / "autoregressive" / "made-digits.yaml").read_bytes()
SNIPPETS = [
    b"*a", b"&a ", b"!!python/object/apply:os.system ['touch owned']", b"[" * 70, b"? ", b"<<: ", b"\t",
    b"9" * 20, b".nan", b"model:\n", b"class_path: os.system\n", b"\xff\xfe", b"{", b"%YAML 9\n",
]  # fmt: skip


@given(draw=st.data())
def test_yaml(tmp_path: Path, draw: st.DataObject) -> None:
    text = draw.draw(flipped(RECIPE) | st.binary(max_size=40))
    for _ in range(draw.draw(st.integers(0, 2))):
        at = draw.draw(st.integers(0, len(text)))
        text = text[:at] + draw.draw(st.sampled_from(SNIPPETS)) + text[at:]
    (path := tmp_path / "own.yaml").write_bytes(text)
    try:
        experiment = experiments.find(str(path))
    except UserError as error:
        assert str(error).strip()
    else:
        assert isinstance(experiment.module, str) and isinstance(experiment.datamodule, str)
