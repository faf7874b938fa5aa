"""Files and parameters from anybody: one sentence, bounded memory, nothing run.

What takes memory is tried where there is little of it (`little_memory`).
"""

import hashlib
import importlib
import json
import math
import struct
from pathlib import Path
from typing import Any

import pytest
import torch

from lab import experiments, memory, tensorfile, untrusted, weights
from lab.__main__ import main
from lab.errors import UserError
from modules.autoregressive.made import MADE
from tests.lab.conftest import complaint


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A folder with the weights of a small MADE and their card."""
    weights.save(tmp_path, MADE(event_shape=(6,), hidden=[5]), {"experiment": "x", "data": {}})
    return tmp_path


def change_card(folder: Path, **model: Any) -> None:
    card = json.loads((folder / "card.json").read_text())
    card["config"]["model"]["init_args"] |= model
    (folder / "card.json").write_text(json.dumps(card))


def change_tensors(folder: Path, change: Any, sign: bool = True) -> None:
    """Rewrite the weights; `sign` puts their digest on the card, as one who wants to deceive does."""
    path = folder / "model.safetensors"
    tensors = tensorfile.load(path.read_bytes())
    path.write_bytes(tensorfile.save({name: change(tensor) for name, tensor in tensors.items()}))
    if sign:
        card = json.loads((folder / "card.json").read_text())
        card["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        (folder / "card.json").write_text(json.dumps(card))


def refusal(folder: Path) -> str:
    with pytest.raises(UserError) as caught:
        weights.load(folder)
    return str(caught.value)


def test_a_file_that_its_card_does_not_describe_is_refused(saved: Path) -> None:
    change_tensors(saved, lambda t: t + 1, sign=False)
    assert "not the file that its card describes" in refusal(saved)
    change_tensors(saved, lambda t: t + 1)
    weights.load(saved)


def test_one_flipped_bit_is_seen(saved: Path) -> None:
    path = saved / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert "not the file that its card describes" in refusal(saved)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinite_weights_are_refused(saved: Path, value: float) -> None:
    change_tensors(saved, lambda t: t.index_fill(0, torch.tensor([0]), value))
    assert "NaN or infinite" in refusal(saved)


def test_numbers_too_large_for_the_model_are_refused(saved: Path) -> None:
    change_tensors(saved, lambda t: torch.full_like(t, 1e300, dtype=torch.float64))
    assert "NaN or infinite" in refusal(saved)


def test_whole_numbers_are_no_weights(saved: Path) -> None:
    change_tensors(saved, lambda t: t.long())
    assert "torch.int64 instead of torch.float32" in refusal(saved)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    "sizes",
    [
        {"hidden": [10**9]},
        {"event_shape": [10**9]},
        {"event_shape": [10**5, 10**5]},
        {"event_shape": [10**6], "hidden": [10**6]},
        {"hidden": [5] * 10**5},
        {"num_masks": 10**30, "degrees": "random"},
    ],
    ids=lambda sizes: str(sizes)[:40],
)
def test_huge_sizes_take_no_memory(saved: Path, sizes: dict[str, Any]) -> None:
    change_card(saved, **sizes)
    assert len(refusal(saved)) < 500


def test_a_size_beyond_the_stored_numbers_is_named(saved: Path) -> None:
    change_card(saved, hidden=[10**9])
    assert "hidden: [1000000000], for which the weights beside it are too small" in refusal(saved)


@pytest.mark.usefixtures("little_memory")
def test_lists_of_lists_take_no_memory(saved: Path) -> None:
    card = json.loads((saved / "card.json").read_text())
    card["config"]["model"] = {
        "class_path": "modules.autoregressive.bayesnet.BayesNet", "init_args": {"event_shape": [10**9]},
    }  # fmt: skip
    (saved / "card.json").write_text(json.dumps(card))
    assert "event_shape: [1000000000]" in refusal(saved)


def header(**entries: Any) -> bytes:
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 60_000) + b"[" * 60_000,
        header(a={"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}),
        header(a={"dtype": "F32", "shape": [0, 2**70], "data_offsets": [0, 0]}),
        header(a={"dtype": "F32", "shape": [-1, -1], "data_offsets": [0, 4]}) + bytes(4),
        header(a={"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}) + bytes(8),
        header(a={"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}) + bytes(4),
        header(a={"dtype": "C64", "shape": [1], "data_offsets": [0, 8]}) + bytes(8),
        header(a={"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}) + bytes(5),
        header(a=[]),
    ],
    ids=range(12),
)
def test_a_header_that_lies_is_refused(saved: Path, data: bytes) -> None:
    (saved / "model.safetensors").write_bytes(data)
    assert "not a whole safetensors file" in refusal(saved)


def test_an_offset_that_is_no_number_is_refused(saved: Path) -> None:
    """False is 0 to Python, so the header fits; the card's digest is right."""
    path = saved / "model.safetensors"
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    entries = json.loads(data[8 : 8 + length])
    name = next(name for name, entry in entries.items() if entry.get("data_offsets", [1])[0] == 0)
    entries[name]["data_offsets"][0] = False
    path.write_bytes(header(**entries) + data[8 + length :])
    card = json.loads((saved / "card.json").read_text())
    card["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (saved / "card.json").write_text(json.dumps(card))
    assert "not a whole safetensors file" in refusal(saved)


def test_nothing_of_the_numbers_is_read_before_the_header_fits(saved: Path) -> None:
    path = saved / "model.safetensors"
    text = header(a={"dtype": "F32", "shape": [2**38], "data_offsets": [0, 2**40]})
    path.write_bytes(text)
    with open(path, "r+b") as file:
        file.truncate(len(text) + 2**40)  # a sparse file: one tebibyte that takes no place on the disk
    assert "another model" in refusal(saved)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "not a card"),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, "not a card"),
        ('{"config": {"model": {"class_path": "a", "class_path": "b"}}}', "not a card"),
        ('{"config": {"model": {"class_path": 3}}}', "not a card"),
        ('{"n": ' + "9" * 10_000 + "}", "not a card"),
        (" " * (untrusted.MOST_JSON + 1), "more than"),
        ('{"config": {"model": {"class_path": "modules.base.Module", "init_args": [1]}}}', "not a card"),
    ],
    ids=range(7),
)
@pytest.mark.usefixtures("little_memory")
def test_a_card_that_no_run_wrote_is_refused(saved: Path, text: str, message: str) -> None:
    (saved / "card.json").write_text(text)
    assert message in refusal(saved)


BOMB = "a0: &a0 [x,x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1},*a{i - 1}]\n" for i in range(1, 40))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "alias"),
        ("[" * 50_000, "nested"),
        ("model: {class_path: a}\nmodel: {class_path: b}\n", "twice"),
        ("n: " + "9" * 10_000, "cannot be read"),
        ("d: 2001-99-99", "cannot be read"),
        ("x: !!python/object/apply:os.system [touch owned]", "not valid YAML"),
        ("# " * untrusted.MOST_TEXT, "more than"),
        ("just words", "no settings"),
        ("model: {class_path: [1]}", "lacks"),
        ("\x00", "YAML"),
    ],
    ids=range(10),
)
@pytest.mark.usefixtures("little_memory")
def test_a_yaml_that_nobody_writes_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        experiments.find(str(path))
    assert not Path("owned").exists()


def test_the_bound_counts_what_is_taken() -> None:
    with memory.Bounded(2**21) as bound:
        x = torch.zeros(2**18)
        x.view(2, -1).add_(1)  # the same memory
    assert 2**20 <= bound.taken < 2**20 + 2**17
    with pytest.raises(memory.TooLarge), memory.Bounded(2**20):
        torch.arange(1000)[:, None] + torch.arange(1000)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("--seed 99999999999999999999", "--seed is"),
        ("--seed -1", "--seed is -1"),
        ("-n 0", "at least one"),
        ("-n 99999999999", "at most"),
        ("--temperature []", "temperature"),
        ("--temperature .nan", "--temperature is nan"),
        ("--temperature -1", "--temperature is -1"),
        ("--given {}", "--given"),
        ("--order [1,2]", "permutation"),
        ("--length 5", "--length"),
        ("--nothing", "--nothing"),
    ],
)
def test_a_parameter_that_sets_nothing_is_refused(options: str, text: str, capsys, tmp_path: Path) -> None:
    out = tmp_path / "drawn.png"
    assert main(["sample", "made-digits", *options.split(), "--out", str(out)]) == 2
    assert text in complaint(capsys)
    assert not out.exists()


@pytest.mark.parametrize("options", ["--length -5", "--length 2.5", "--length 99999999999", "--top_k x"])
def test_a_text_of_no_length_is_refused(options: str, capsys) -> None:
    assert main(["sample", "bengio-verbs", *options.split()]) == 2
    assert options.split()[0].removeprefix("--") in complaint(capsys)


def hostile(value: Any) -> list[Any]:
    """Values of the same type that no model can have, with some that it may."""
    if isinstance(value, bool):
        return []
    if isinstance(value, list):
        return [[], [0], [-3]]
    if isinstance(value, float):
        return [-1.0, math.nan, math.inf]
    return ["x", ""] if isinstance(value, str) else [0, -1]


SMALL = {"event_shape": [9], "vocab_size": 70, "num_features": 4}
MODELS = {e.module: e for e in experiments.catalog().values() if e.weights}


@pytest.mark.parametrize("module", MODELS)
def test_a_constructor_names_the_argument_that_is_out_of_range(module: str) -> None:
    args = weights.read_card(MODELS[module].weights)["config"]["model"]["init_args"]  # type: ignore[arg-type]
    args = {name: SMALL.get(name, value) for name, value in args.items() if name != "training"}
    cls = getattr(importlib.import_module(module.rpartition(".")[0]), module.rpartition(".")[2])
    refused = 0
    for name, value in args.items():
        for wrong in hostile(value):
            try:
                model = cls(**{**args, name: wrong})
            except ValueError as error:  # any other error is one that nobody thought of
                assert str(error) and "\n" not in str(error)
                refused += 1
            else:
                assert all(t.isfinite().all() and t.numel() for t in model.parameters()), (name, wrong)
    assert refused


@pytest.mark.parametrize(
    ("experiment", "option", "text"),
    [
        ("gpt-pydocs", "--model.init_args.heads=0", "heads is 0"),
        ("gpt-pydocs", "--model.init_args.dropout=.nan", "dropout is nan"),
        ("cnn-digits", "--model.init_args.channels=[]", "channels is []"),
        ("cnn-digits", "--model.init_args.image_shape=", "image_shape"),
        ("made-digits", "--model.init_args.hidden=[100000000000]", "MiB"),
    ],
)
def test_bad_arguments_on_the_command_line(experiment: str, option: str, text: str, capsys) -> None:
    assert main(["fit", experiment, option]) == 2
    assert text in complaint(capsys)


@pytest.mark.parametrize("command", ["validate", "predict"])
@pytest.mark.parametrize("option", ["--data.init_args.image_size=12", "--model.init_args.num_orders=0"])
def test_settings_that_the_trained_weights_do_not_fit(command: str, option: str, capsys) -> None:
    assert main([command, "made-digits", option]) == 2
    assert "made-digits's trained weights are those of another model" in complaint(capsys)


def test_a_folder_without_a_card(capsys, tmp_path: Path) -> None:
    assert main(["sample", str(tmp_path)]) == 2
    assert "cannot be read" in complaint(capsys)


def test_a_checkpoint_with_a_state_dict_alone(capsys, tmp_path: Path) -> None:
    torch.save({"state_dict": {}}, tmp_path / "bare.ckpt")
    assert main(["fit", "made-digits", "--ckpt_path", str(tmp_path / "bare.ckpt")]) == 2
    assert "not a Lightning checkpoint" in complaint(capsys)


def test_a_sentence_stays_one_and_short(capsys) -> None:
    assert main(["fit", "x\n" * 5000]) == 2
    assert len(complaint(capsys)) < 700
