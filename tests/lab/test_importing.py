"""`lab import`: models that the transformers library saves give the same logits here, and what does not fit
is refused in a sentence."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from opening import open_page

from datamodules.tokenizer import BPETokenizer
from lab import experiments, tensorfile, weights
from lab.__main__ import main
from lab.errors import UserError
from lab.importing import take_over
from lab.ui.models.loading import trained
from modules.transformer.gpt import GPT

RHYME = "A sailor went to sea, sea, sea to see what he could see. " * 9
CODER = BPETokenizer.train(RHYME, 290)
SMALL = {
    "vocab_size": len(CODER), "n_positions": 32, "n_embd": 24, "n_layer": 3, "n_head": 4, "bos_token_id": 0,
    "eos_token_id": 0,
}  # fmt: skip


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., tuple[Any, Path]]:
    """Saves a GPT-2 as the transformers library does, every number drawn; gives it and the folder."""

    def save(dtype: torch.dtype = torch.float32, **options: Any) -> tuple[Any, Path]:
        from transformers import GPT2Config, GPT2LMHeadModel

        folder, saving = tmp_path / "Saved.GPT", {}
        if "max_shard_size" in options:
            saving["max_shard_size"] = options.pop("max_shard_size")
        torch.manual_seed(0)
        model = GPT2LMHeadModel(GPT2Config(**{**SMALL, **options})).eval()
        with torch.no_grad():
            for p in model.parameters():
                p.add_(0.1 * torch.randn_like(p))
        model.to(dtype).save_pretrained(folder, **saving)
        (folder / "tokenizer.json").write_text(json.dumps(CODER.to_dict()["model"]))
        return model, folder

    return save


def logits_agree(theirs: Any, place: Path, most: float) -> None:
    ours, tokens = weights.load(place).double(), torch.randint(len(CODER), (2, 20))
    assert isinstance(ours, GPT)
    difference = ours(tokens) - theirs.double()(tokens).logits
    assert float(difference.abs().max()) < most


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"activation_function": "relu", "n_inner": 40, "layer_norm_epsilon": 1e-3},
        {"tie_word_embeddings": False},
        {"scale_attn_weights": False},
        {"max_shard_size": "20KB"},
    ],
    ids=["plain", "settings", "untied", "unscaled", "shards"],
)
@torch.no_grad()
def test_logits_are_equal(save: Callable[..., Any], options: dict[str, Any]) -> None:
    theirs, folder = save(**options)
    place = take_over(folder, "mine")
    logits_agree(theirs, place, 1e-9)
    tokens = torch.randint(len(CODER), (2, 20))
    ours = weights.load(place)
    assert isinstance(ours, GPT)
    assert torch.allclose(ours(tokens), theirs.float()(tokens).logits, atol=1e-4)
    assert (len(list(folder.glob("*.safetensors"))) > 1) == ("max_shard_size" in options)


@torch.no_grad()
def test_half_precision_and_a_model_without_its_head(save: Callable[..., Any], tmp_path: Path) -> None:
    theirs, folder = save(torch.bfloat16)
    theirs.transformer.save_pretrained(folder)  # names without "transformer."
    logits_agree(theirs.float(), take_over(folder, "half"), 1e-9)


@torch.no_grad()
def test_tokenizer_of_two_files(save: Callable[..., Any]) -> None:
    _, folder = save()
    model = json.loads((folder / "tokenizer.json").read_text())["model"]
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]))
    card = experiments.read_card(take_over(folder, "two-files"))
    assert BPETokenizer(json.dumps(card["data"]["tokenizer"]["model"])).encode(RHYME) == CODER.encode(RHYME)


def edited(folder: Path, **settings: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def with_tensors(folder: Path, change: Callable[[dict[str, torch.Tensor]], Any]) -> None:
    path = folder / "model.safetensors"
    tensors = tensorfile.load(path.read_bytes())
    change(tensors)
    path.write_bytes(tensorfile.save(tensors))


def indexed(folder: Path, files: dict[str, str]) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))


REFUSED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no config": (lambda f: (f / "config.json").unlink(), "There is no file"),
    "no JSON": (lambda f: (f / "config.json").write_text("{"), "cannot be read as JSON"),
    "a list": (lambda f: (f / "config.json").write_text("[1]"), "no JSON object"),
    "another type": (lambda f: edited(f, model_type="llama"), "a model of type 'llama'"),
    "layers": (lambda f: edited(f, n_layer=10**9), "n_layer: 1000000000"),
    "a text for a number": (lambda f: edited(f, n_head="4"), "n_head: '4'"),
    "heads": (lambda f: edited(f, n_head=5), "does not fit"),
    "more layers": (lambda f: edited(f, n_layer=4), "'transformer.h.3."),
    "fewer layers": (lambda f: edited(f, n_layer=2), "'transformer.h.2.attn.c_attn.bias' is left over"),
    "positions": (lambda f: edited(f, n_positions=64), "has shape (32, 24) instead of (64, 24)"),
    "setting": (lambda f: edited(f, scale_attn_by_inverse_layer_idx=True), "sets scale_attn_by_inverse"),
    "epsilon": (lambda f: edited(f, layer_norm_epsilon="small"), "layer_norm_epsilon: 'small'"),
    "hidden units": (lambda f: edited(f, n_inner="many"), "does not fit"),
    "activation": (lambda f: edited(f, activation_function="mish"), "activation 'mish'"),
    "vocabulary": (lambda f: edited(f, vocab_size=300), f"has {len(CODER)} tokens, the model 300"),
    "pickle": (
        lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"),
        "other formats may run code",
    ),
    "index": (lambda f: indexed(f, {"a": "../a"}), "names no files of this folder"),
    "shard": (lambda f: indexed(f, {"a": "b"}), "lacks b"),
    "cut": (
        lambda f: (f / "model.safetensors").write_bytes((f / "model.safetensors").read_bytes()[:-9]),
        "not a whole safetensors file",
    ),
    "not finite": (
        lambda f: with_tensors(f, lambda t: t["transformer.wte.weight"].fill_(float("nan"))),
        "NaN or infinite",
    ),
    "vector": (
        lambda f: with_tensors(f, lambda t: t.update({"transformer.h.0.mlp.c_fc.weight": torch.ones(3)})),
        "is no matrix",
    ),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), "neither tokenizer.json nor"),
    "tokenizer": (lambda f: (f / "tokenizer.json").write_text("{}"), "is no byte-level BPE"),
}  # fmt: skip


@pytest.mark.parametrize("damage, sentence", REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused_and_nothing_is_left(
    save: Callable[..., Any], damage: Callable[[Path], Any], sentence: str
) -> None:
    _, folder = save()
    damage(folder)
    with pytest.raises(UserError) as caught:
        take_over(folder, "mine")
    assert sentence in str(caught.value)
    assert "mine" not in experiments.imports() and not list(experiments.runs_folder().glob("mine/*/*"))


def test_names(save: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    _, folder = save()
    for name, sentence in (("gpt-shakespeare", "experiment of the catalog"), ("../a", "cannot be a name")):
        assert main(["import", str(folder), "--name", name]) == 2
        assert sentence in capsys.readouterr().err
    assert main(["import", str(folder)]) == 0  # the folder's name, as a name of an experiment
    assert "saved-gpt: " in capsys.readouterr().out
    with pytest.raises(UserError, match="did you mean saved-gpt"):
        experiments.find("saved-gbt")


def test_a_damaged_recipe_stops_no_other_and_own_runs_are_not_mixed_with_imports(
    save: Callable[..., Any],
) -> None:
    _, folder = save()
    take_over(folder, "mine")
    take_over(folder, "mine")  # a second time beside the first
    assert len(list(experiments.find("mine").weight_folders())) == 2
    for name, text in (
        ("a", "{"),
        ("b", "model: 1"),
        ("c", "model: {class_path: made}\ndata: {class_path: x}"),
    ):
        (experiments.runs_folder() / name).mkdir()
        (experiments.runs_folder() / name / experiments.IMPORTED).write_text(text)
    assert list(experiments.imports()) == ["mine"]
    (experiments.runs_folder() / "net" / "20260101-000000").mkdir(parents=True)
    with pytest.raises(UserError, match="runs of your own net"):
        take_over(folder, "net")


def test_the_dashboard_and_the_commands_know_it(
    save: Callable[..., Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, folder = save()
    place = take_over(folder, "mine")
    shutil.rmtree(folder)  # it stands alone
    assert experiments.find("mine").family == "transformer"
    assert experiments.listed()["mine"].weights == place and "mine" not in experiments.catalog()
    assert f"mine/{place.name}" in trained("transformer", lambda e: e.module.endswith(".GPT"))
    assert main(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[-1]["name"] == "mine"
    out = tmp_path / "text.txt"
    assert main(["sample", "mine", "-n", "1", "--out", str(out)]) == 0 and out.read_text()
    for topic in ("attention", "sampling"):
        at = open_page(f"transformer/{topic}", model=f"mine/{place.name}")
        assert at.selectbox(key="model").value == f"mine/{place.name}"


MEASURE = """
import sys
from pathlib import Path
from lab import importing, weights
import modules.transformer.gpt
def peak():
    line = next(l for l in open("/proc/self/status") if l.startswith("VmHWM"))
    return int(line.split()[1]) * 1024
before = peak()
place = importing.take_over(Path(sys.argv[1]), "large")
print((peak() - before) / (place / "model.safetensors").stat().st_size)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is measured as Linux counts it")
def test_a_large_file_is_never_twice_in_memory(save: Callable[..., Any]) -> None:
    """Peak of import and load together, in a process of their own, against the file's size."""
    _, folder = save(n_embd=1024, n_layer=8)  # 100 million numbers, 400 MB
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert 0.9 < float(done.stdout) < 1.3
