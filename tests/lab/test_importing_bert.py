"""`lab import` of a BERT: what the transformers library saves gives the same logits here, under its own
tokenizer; what does not fit is refused in a sentence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from opening import open_page, run_page

from datamodules.tokenizer import BertTokenizer, Tokenizer
from lab import experiments, tensorfile, weights
from lab.__main__ import main
from lab.errors import UserError
from lab.importing import take_over
from lab.ui.models.loading import trained
from modules.transformer.bert import BERT
from pages.transformer.masked_words import lens

PIECES = [
    "[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "on", "mat", "un",
    "##happy", "##s", ".", "a", "b", "##b",
]  # fmt: skip
SMALL = {
    "vocab_size": len(PIECES), "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4,
    "intermediate_size": 40, "max_position_embeddings": 32,
}  # fmt: skip
Save = Callable[..., tuple[Any, Path]]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Saves a BERT as the transformers library does, every number drawn; gives it and the folder."""

    def save(head: str = "ForPreTraining", **options: Any) -> tuple[Any, Path]:
        import transformers

        folder, saving = tmp_path / "Saved.BERT", {}
        if "max_shard_size" in options:
            saving["max_shard_size"] = options.pop("max_shard_size")
        torch.manual_seed(0)
        kind = getattr(transformers, f"Bert{head}")
        model = kind(transformers.BertConfig(**{**SMALL, **options})).eval()
        with torch.no_grad():
            for p in model.parameters():
                p.add_(0.1 * torch.randn_like(p))
        model.save_pretrained(folder, **saving)
        (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
        transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
        return model, folder

    return save


def rows() -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens of two texts each, and their segments."""
    tokens = torch.randint(6, len(PIECES), (3, 20), generator=torch.Generator().manual_seed(0))
    tokens[:, 0], tokens[:, 9], tokens[:, -1] = 3, 4, 4
    return tokens, (torch.arange(20) > 9).long().expand(3, -1)


def ours_at(place: Path) -> BERT:
    model = weights.load(place)
    assert isinstance(model, BERT)
    return model.eval()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"head": "ForMaskedLM", "hidden_act": "relu", "layer_norm_eps": 1e-3},
        {"max_shard_size": "20KB"},
    ],
    ids=["plain", "settings", "shards"],
)
@torch.no_grad()
def test_logits_are_equal(save: Save, options: dict[str, Any]) -> None:
    theirs, folder = save(**options)
    place, (tokens, segments) = take_over(folder, "mine"), rows()
    pairs = options.get("head") != "ForMaskedLM"
    for dtype, most in ((torch.float32, 1e-4), (torch.float64, 1e-9)):
        ours, expected = ours_at(place).to(dtype), theirs.to(dtype)(tokens, token_type_ids=segments)
        words = expected.prediction_logits if pairs else expected.logits
        assert (ours.predict(tokens) - words).abs().max() < most
        assert ours.pairs == pairs
        if pairs:
            judged = ours.pair_logits(ours(tokens))
            assert (judged - expected.seq_relationship_logits).abs().max() < most
    assert (len(list(folder.glob("*.safetensors"))) > 1) == ("max_shard_size" in options)


def with_tensors(folder: Path, change: Callable[[dict[str, torch.Tensor]], Any]) -> None:
    path = folder / "model.safetensors"
    tensors = tensorfile.load(path.read_bytes())
    tensors = change(tensors) or tensors
    path.write_bytes(tensorfile.save(tensors))


def older(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Names as the first files have them, and what they hold twice or for nothing."""
    named = {
        n.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): t
        for n, t in tensors.items()
    }
    return named | {
        "bert.embeddings.position_ids": torch.arange(32)[None],
        "cls.predictions.decoder.weight": tensors["bert.embeddings.word_embeddings.weight"].clone(),
        "cls.predictions.decoder.bias": tensors["cls.predictions.bias"].clone(),
    }


@torch.no_grad()
def test_names_of_older_files_and_a_pooler_that_nothing_reads(save: Save) -> None:
    theirs, folder = save()
    tokens, segments = rows()
    expected = theirs(tokens, token_type_ids=segments).prediction_logits
    with_tensors(folder, older)
    assert (ours_at(take_over(folder, "older")).predict(tokens) - expected).abs().max() < 1e-4
    with_tensors(folder, lambda t: {n: v for n, v in t.items() if "seq_relationship" not in n})
    alone = ours_at(take_over(folder, "alone"))
    assert alone.tasks == ("masked",) and (alone.predict(tokens) - expected).abs().max() < 1e-4


TEXT = "The cat is unhappy. [MASK] cats\n sat on A mat, [CLS]!"


def test_its_tokens_are_those_of_the_transformers_library(save: Save) -> None:
    from transformers import BertTokenizerFast

    _, folder = save()
    theirs = BertTokenizerFast.from_pretrained(folder)
    card = experiments.read_card(take_over(folder, "mine"))
    coder = Tokenizer.from_dict(json.loads(json.dumps(card["data"]["tokenizer"])))
    assert isinstance(coder, BertTokenizer)
    text = TEXT.replace("[CLS]", "")
    assert coder.encode(text) == theirs.encode(text, add_special_tokens=False)
    assert coder.encode_parts("the cat", "<mask> sat .") == theirs.encode("the cat", "[MASK] sat .")
    named = {"CLS": "cls", "SEP": "sep", "MASK": "mask", "PAD": "pad", "UNKNOWN": "unk"}
    assert all(getattr(coder, own) == getattr(theirs, f"{name}_token_id") for own, name in named.items())
    (folder / "tokenizer.json").unlink()  # the older two files say the same
    for cased in (False, True):
        (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": not cased}))
        card = experiments.read_card(take_over(folder, "lines"))
        again = BertTokenizer(json.dumps(card["data"]["tokenizer"]["model"]))
        assert (again.encode(TEXT) == coder.encode(TEXT)) == (not cased)
        assert (again.encode("The cat")[0] == again.UNKNOWN) == cased


def edited(folder: Path, name: str = "config.json", **settings: Any) -> None:
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def renamed(folder: Path, old: str, new: str) -> None:
    path = folder / "tokenizer.json"
    path.write_text(path.read_text().replace(old, new))


def unlink(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).unlink()


QUERY = "bert.encoder.layer.1.attention.self.query.weight"
GAMMA = "bert.embeddings.LayerNorm.gamma"
BYTES = {"type": "BPE", "vocab": {}, "merges": []}
REFUSED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "decoder": (lambda f: edited(f, is_decoder=True), "sets is_decoder"),
    "relative": (lambda f: edited(f, position_embedding_type="relative_key"), "'relative_key'; ours has"),
    "segments": (lambda f: edited(f, type_vocab_size=1), "type_vocab_size: 1; ours has 2"),
    "untied": (lambda f: edited(f, tie_word_embeddings=False), "tie_word_embeddings: False"),
    "activation": (lambda f: edited(f, hidden_act=["gelu"]), "activation ['gelu']"),
    "epsilon": (lambda f: edited(f, layer_norm_eps=-1), "layer_norm_eps: -1"),
    "layers": (lambda f: edited(f, num_hidden_layers=10**4), "num_hidden_layers: 10000"),
    "heads": (lambda f: edited(f, num_attention_heads=5), "does not fit"),
    "more layers": (lambda f: edited(f, num_hidden_layers=4), "'bert.encoder.layer.3."),
    "fewer layers": (lambda f: edited(f, num_hidden_layers=2), "'bert.encoder.layer.2.attention.output."),
    "vocabulary": (lambda f: edited(f, vocab_size=30), f"has {len(PIECES)} tokens, the model 30"),
    "parts": (lambda f: with_tensors(f, lambda t: t.update({QUERY: torch.ones(24, 23)})), "not one shape"),
    "rows": (lambda f: with_tensors(f, lambda t: t.update({QUERY: torch.ones(23, 24)})), "of (72, 24)"),
    "norms": (lambda f: with_tensors(f, lambda t: t.update({GAMMA: torch.ones(24)})), "gamma' is left over"),
    "classifier": (
        lambda f: with_tensors(f, lambda t: t.update({"classifier.weight": torch.ones(2, 24)})),
        "'classifier.weight' is left over",
    ),
    "no tokenizer": (lambda f: unlink(f, "vocab.txt", "tokenizer.json"), "neither tokenizer.json nor"),
    "tokenizer": (lambda f: (f / "tokenizer.json").write_text("{}"), "is not that of a BERT"),
    "no mask": (lambda f: renamed(f, "[MASK]", "[GAP]"), "it has no token [MASK]"),
    "byte pairs": (lambda f: edited(f, "tokenizer.json", model=BYTES), "no WordPiece"),
}


@pytest.mark.parametrize("damage, sentence", REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused_and_nothing_is_left(
    save: Save, damage: Callable[[Path], Any], sentence: str
) -> None:
    _, folder = save()
    damage(folder)
    with pytest.raises(UserError) as caught:
        take_over(folder, "mine")
    assert sentence in str(caught.value)
    assert "mine" not in experiments.imports() and not list(experiments.runs_folder().glob("mine/*/*"))


@pytest.mark.parametrize("head", ["Model", "ForSequenceClassification", "ForTokenClassification"])
def test_a_bert_that_predicts_no_words_is_refused(save: Save, head: str) -> None:
    with pytest.raises(UserError, match="without its head of masked words"):
        take_over(save(head)[1], "mine")


def test_the_commands_know_it(
    save: Save, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datamodules.pydocs.text", lambda: "The cat sat on a mat. A cat is unhappy.\n" * 200)
    _, folder = save()
    assert main(["import", str(folder), "--name", "mine"]) == 0
    assert "Masked words" in capsys.readouterr().out
    assert main(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[-1]["name"] == "mine"
    assert main(["sample", "mine"]) == 2
    assert "does not generate" in capsys.readouterr().err
    assert main(["test", "mine"]) == 0
    assert "test/pair_nll" in capsys.readouterr().out


@torch.no_grad()
def test_masked_words_of_the_dashboard_work_on_it(save: Save) -> None:
    theirs, folder = save(num_hidden_layers=1)
    place = take_over(folder, "mine")
    name, text = f"mine/{place.name}", "The [cats] sat on <mask> ."
    offered = trained("transformer", lens.fits)
    assert {name, "bert-gazette"} <= {*offered} and "bert-reviews" not in offered
    at = open_page("transformer/masked_words", bert=name, text=text)
    assert at.selectbox(key="bert").value == name
    one = lens.masked(ours_at(place), weights.read_card(place), text)
    read = [3, 6, 5, 5, 8, 9, 5, 14, 4]  # "cats" has two pieces, a mask each
    p = theirs(torch.tensor([read])).prediction_logits[0].softmax(-1)
    assert one.places == [2, 3, 6] and one.targets == [7, 13, None]
    assert torch.allclose(one.p, p[one.places], atol=1e-5)
    assert lens.captions(one)[0].startswith(f"Mask 1: {PIECES[int(p[2].argmax())]} with ")
    assert [f"{v:.5f}" for v in one.known] == [f"{float(p[2, 7]):.5f}", f"{float(p[3, 13]):.5f}"]
    said = " ".join(each.value for each in [*at.caption, *at.markdown])
    assert not at.exception and f"{len(PIECES)} tokens" in said
    at = open_page("transformer/masked_words", bert=name, text="the xylophone [sat] .")
    assert "xylophone" in " ".join(each.value for each in at.caption)
    at = run_page("transformer/masked_words", bert=name, text="the [cat] " * 16)
    said = " ".join(each.value for each in [*at.warning, *at.error, *at.info])
    assert "reads up to 30" in said and not at.exception
