"""The catalog: every experiment loads and trains one step, and unknown names get a sentence."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from rotation import in_turn

from lab.__main__ import main
from lab.experiments import FAMILIES, catalog, find
from lab.weights import load, read_card
from modules.base import CountModel
from tests.lab.conftest import complaint

CATALOG = catalog()
SHIPPED = [name for name, e in CATALOG.items() if e.weights and e.weights.parent.name == "zoo"]


def data_of(name: str) -> str | None:
    """The real data set that an experiment reads, by the name of the `real_data` fixture."""
    experiment = CATALOG[name]
    if experiment.embedded:
        return None
    args = experiment.config["data"].get("init_args") or {}
    if experiment.datamodule.endswith(".TU"):
        return args.get("name", "MUTAG")
    if experiment.datamodule.endswith((".Planetoid", ".CitationLinks")):
        return args.get("name", "Cora")
    if "corpus" in args:
        return {"shakespeare": "tinyshakespeare"}.get(args["corpus"], args["corpus"])
    of = {
        "MNIST": "MNIST", "MNISTPairs": "MNIST", "ScatteredMNIST": "MNIST", "Multi30k": "multi30k",
        "Translation": "multi30k",
    }  # fmt: skip
    return of[experiment.datamodule.rpartition(".")[2]]


def test_catalog_covers_the_five_families() -> None:
    assert {e.family for e in CATALOG.values()} >= {
        "autoregressive",
        "transformer",
        "convolution",
        "latent",
        "graph",
    }
    assert {e.family for e in CATALOG.values()} <= set(FAMILIES)


def by_model_and_data() -> list[Any]:
    """Every experiment; those on real data are heavy, and in their turn those whose model and data an earlier
    one has too."""
    seen: set[tuple[str, str]] = set()
    cases = []
    for name, experiment in CATALOG.items():
        pair = (experiment.module, experiment.datamodule)
        heavy = [pytest.mark.heavy] if pair in seen or data_of(name) is not None else []
        waits = pair in seen and not in_turn(f"lab/configs/{experiment.family}/{name}.yaml")
        cases.append(pytest.param(name, marks=pytest.mark.soak if waits else heavy))
        seen.add(pair)
    return cases


@pytest.mark.parametrize("name", by_model_and_data())
def test_every_experiment_runs_one_step(name: str, real_data, tmp_path: Path, monkeypatch) -> None:
    if (data := data_of(name)) is not None:
        real_data(data)
    else:
        monkeypatch.setenv("LECTERN_DATA", str(tmp_path / "empty"))  # embedded means: no file at all
    batched = "batch_size" in (CATALOG[name].config["data"].get("init_args") or {})
    small = ["--data.init_args.batch_size=4"] if batched else []
    assert main(["fit", name, "--trainer.fast_dev_run=true", "--seeds=1", *small]) == 0


@pytest.mark.parametrize("name", CATALOG)
def test_embedded_is_what_the_datamodule_says(name: str) -> None:
    module, _, cls = CATALOG[name].datamodule.rpartition(".")
    data = getattr(importlib.import_module(module), cls)(
        **(CATALOG[name].config["data"].get("init_args") or {})
    )
    assert CATALOG[name].embedded == data.embedded


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_weights_are_what_their_card_says(name: str) -> None:
    experiment = find(name)
    card, model = read_card(experiment.weights), load(name)
    assert card["experiment"] == name
    assert card["parameters"] == model.num_parameters
    if not isinstance(model, CountModel):  # whose numbers are buffers
        assert model.num_parameters == sum(p.numel() for p in model.parameters())
    assert (experiment.weights / "model.safetensors").stat().st_size < 4_000_000
    assert all(p.isfinite().all() for p in model.parameters())
    # the committed YAML is the recipe of the shipped weights
    config = experiment.config
    for key, value in (config["model"].get("init_args") or {}).items():
        if key in card["config"]["model"]["init_args"]:
            assert card["config"]["model"]["init_args"][key] == value, key
    for key, value in (config["data"].get("init_args") or {}).items():
        assert card["config"]["data"]["init_args"][key] == value, key
    assert any(key.startswith("test/") for key in card["metrics"])


def test_list_json_has_the_promised_keys(capsys) -> None:
    assert main(["list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    keys = {
        "name",
        "family",
        "module",
        "datamodule",
        "embedded",
        "weights",
        "parameters",
        "metrics",
        "minutes",
    }
    assert [row["name"] for row in rows] == list(CATALOG)
    assert all(row.keys() >= keys and isinstance(row["embedded"], bool) for row in rows)


@pytest.mark.parametrize("command", [[], ["--help"], ["list"], ["list", "--json"], ["nonsense"]])
def test_light_commands_import_no_torch(command: list[str]) -> None:
    code = f"import sys; from lab.__main__ import main; main({command!r}); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["fit", "made-digts"], "made-digits"),
        (["fit", "zzzzzz"], "lab list"),
        (["fti"], "lab fit"),
        (["fit"], "needs an experiment"),
        (["fit", "nowhere/mine.yaml"], "There is no file"),
        (["sample", "gcn-karate"], "does not generate"),
        (["sample", "made-digits", "--temperatur", "1"], "temperature"),
        (["sample", "made-digits", "--temperature", "hot"], "must be a number"),
        (["sample", "made-digits", "-n", "0"], "at least one"),
        (["sample", "made-digits", "--out", "x.txt"], ".png"),
        (["fit", "made-digits", "--preset", "tpu"], "gpu"),
        (["fit", "made-digits", "--trainer.max_epochs", "many"], "max_epochs"),
        (["fit", "made-digits", "--model.init_args.hiden", "[3]"], "hiden"),
        (["fit", "made-digits", "--model.init_args.order", "sideways"], "sideways"),
        (["fit", "made-digits", "--data.init_args.batch_size", "0"], "at least 1"),
        (["fit", "made-digits", "--monitor", "val/beauty"], "val/nll"),
        (["fit", "made-digits", "--trainer.devices", "1000"], "CPU cores"),
        (["fit", "made-digits", "--ckpt_path", "last"], "nothing to resume|no run of"),
        (["fit", "made-digits", "--ckpt_path", "nowhere.ckpt"], "no checkpoint"),
        (["predict", "vae-digits"], "nothing to predict"),
        (["data", "imagenet"], "MNIST"),
    ],
)  # fmt: skip
def test_mistakes_get_one_sentence_and_exit_code_2(args: list[str], words: str, capsys) -> None:
    assert main(args) == 2
    sentence = complaint(capsys)
    assert any(word in sentence for word in words.split("|")), sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model: [", "line"),
        ("just words", "no settings"),
        ("model: {class_path: modules.autoregressive.made.MADE}", "data"),
        ("modle: {}\ndata: {class_path: datamodules.digits.Digits}", "model"),
        ("model: {class_path: modules.autoregressive.made.MADEE}\n"
         "data: {class_path: datamodules.digits.Digits}", "MADEE"),
        ("model: {class_path: modules.autoregressive.made.MADE}\n"
         "data: {class_path: datamodules.digits.Digits}\ntrianer: {max_epochs: 1}", "trianer"),
    ],
)  # fmt: skip
def test_a_typo_in_a_yaml_gets_one_sentence(text: str, words: str, tmp_path: Path, capsys) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    assert main(["fit", str(path)]) == 2
    assert words in complaint(capsys)


def test_missing_data_names_file_folder_and_the_embedded_sister(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(tmp_path / "nothing"))
    assert main(["fit", "made-mnist", "--trainer.fast_dev_run=true"]) == 2
    sentence = complaint(capsys)
    assert str(tmp_path / "nothing") in sentence and "-digits" in sentence


def test_samples_repeat_with_their_seed_and_the_parameters_reach_the_model(tmp_path: Path) -> None:
    def draw(name: str, *args: str) -> bytes:
        assert main(["sample", "made-digits", "-n", "4", "--out", str(tmp_path / name), *args]) == 0
        return (tmp_path / name).read_bytes()

    first = draw("a.png", "--seed", "3")
    assert first == draw("b.png", "--seed", "3") != draw("c.png", "--seed", "4")
    assert draw("d.png", "--temperature", "0.0001", "--seed", "1") == draw("e.png", "--temperature", "0.0001")


def test_colours_are_drawn_as_they_were_sampled(tmp_path: Path) -> None:
    import numpy as np
    from PIL import Image

    assert main(["sample", "pixelcnn-shapes", "-n", "1", "--out", str(tmp_path / "a.png")]) == 0
    x = load("pixelcnn-shapes").sample(1, generator=torch.Generator().manual_seed(0))[0]  # (3, 8, 8)
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.mode == "RGB"
        scale = picture.width // 10  # eight pixels and a margin of one
        drawn = np.asarray(picture)[scale // 2 :: scale, scale // 2 :: scale][1:-1, 1:-1]
    assert (drawn == (x / 3 * 255).byte().permute(1, 2, 0).numpy()).all()


def test_sample_writes_text(tmp_path: Path) -> None:
    out = tmp_path / "text.txt"
    assert main(["sample", "gpt-shakespeare", "-n", "2", "--out", str(out), "--length", "20"]) == 0
    texts = out.read_text().split("-" * 40)
    assert len(texts) == 2 and all(text.strip() for text in texts)


def test_a_line_is_written_without_what_fills_it_up(capsys) -> None:
    assert main(["sample", "textvae-freebits-pydocs", "-n", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5 and lines[1] == lines[3] == "-" * 40 and all(lines)


def test_lab_test_repeats_the_cards_number(capsys) -> None:
    assert main(["test", "made-digits"]) == 0
    shown = re.search(r"test/nll\W+([\d.]+)", capsys.readouterr().out)
    assert shown and float(shown[1]) == pytest.approx(
        find("made-digits").card["metrics"]["test/nll"], abs=1e-4
    )


def test_lab_predict_writes_log_prob_of_every_test_example(own_runs: Path) -> None:
    assert main(["predict", "made-digits"]) == 0
    rows = (own_runs / "made-digits" / "predictions.csv").read_text().splitlines()[1:]
    mean = -torch.tensor([float(row.split(",")[1]) for row in rows]).double().mean()
    assert mean.item() == pytest.approx(find("made-digits").card["metrics"]["test/nll"], abs=1e-3)


def test_lab_predict_classifies_the_nodes_of_the_test_split(own_runs: Path) -> None:
    assert main(["predict", "gcn-karate"]) == 0
    rows = (own_runs / "gcn-karate" / "predictions.csv").read_text().splitlines()[1:]
    assert len(rows) == find("gcn-karate").card["data"]["split"]["test"]
