"""Models in the format of Hugging Face as ours: settings, tokenizer, and which tensor becomes which.

GPT-2 keeps its matrices as inputs × outputs and y = xW; ours are outputs × inputs, y = xWᵀ. BERT keeps them
as ours, but queries, keys and values apart: W_qkv is W_q, W_k and W_v one below the other.

References: Radford et al. 2019 (GPT-2); Devlin et al. 2019, arXiv:1810.04805 (BERT).
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from datamodules.tokenizer import BertTokenizer, BPETokenizer, Tokenizer
from lab import untrusted
from lab.errors import UserError

MERGES = ("vocab.json", "merges.txt")
MOST_LAYERS = 1000
ACTIVATIONS = {
    "gelu_new": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh", "gelu": "gelu", "relu": "relu", "silu": "silu",
    "swish": "silu",
}  # fmt: skip


class ImportRefused(UserError):
    """A folder that cannot be taken over; the sentence says why."""


@dataclass(frozen=True)
class Source:
    """Where a tensor of ours comes from: the names that it has there, of parts that stand one below the
    other, and whether it is transposed."""

    names: tuple[str, ...]
    transposed: bool = False


@dataclass(frozen=True)
class Plan:
    """What becomes of a folder.

    Attributes:
        class_path, init_args: our model.
        coder: its tokenizer.
        tensors: our name -> where it comes from.
        ignored: pattern of other names that hold no weights of the model.
        data, data_args: the datamodule of its recipe, and its arguments without corpus and tokenizer.
    """

    class_path: str
    init_args: dict[str, Any]
    coder: Tokenizer
    tensors: dict[str, Source]
    ignored: re.Pattern[str]
    data: str
    data_args: dict[str, Any]


# --- Settings --------------------------------------------------------------------------------------


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        ImportRefused: there is none.
    """
    try:
        value = untrusted.parse_json(untrusted.read(path, untrusted.MOST_JSON))
    except FileNotFoundError:
        raise ImportRefused(f"There is no file {path}: name a folder of Hugging Face's format.") from None
    except (OSError, ValueError) as error:
        raise ImportRefused(f"{path} cannot be read as JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ImportRefused(f"{path} holds no JSON object.")
    return value


def whole(config: Mapping[str, Any], key: str, default: int, folder: Path, least: int = 1) -> int:
    """A whole number of config.json.

    Raises:
        ImportRefused: it is none, or out of range.
    """
    value = config.get(key, default)
    most = MOST_LAYERS if key in ("n_layer", "num_hidden_layers") else 10**7
    if type(value) is not int or not least <= value <= most:
        raise ImportRefused(f"{folder / 'config.json'} has {key}: {value!r}, not from {least} to {most:,}.")
    return value


def small(config: Mapping[str, Any], key: str, default: float, folder: Path) -> float:
    """An ε of config.json.

    Raises:
        ImportRefused: it is no number, or negative.
    """
    value = config.get(key, default)
    if not isinstance(value, int | float) or not value >= 0:
        raise ImportRefused(f"{folder / 'config.json'} has {key}: {value!r}, not a small number.")
    return value


def activation(config: Mapping[str, Any], key: str, default: str, folder: Path) -> str:
    """Our name of φ.

    Raises:
        ImportRefused: we have it not.
    """
    value = config.get(key, default)
    if not isinstance(value, str) or value not in ACTIVATIONS:
        raise ImportRefused(f"{folder / 'config.json'} has the activation {value!r}: we lack it.")
    return ACTIVATIONS[value]


def require_unset(config: Mapping[str, Any], keys: Sequence[str], folder: Path) -> None:
    """
    Raises:
        ImportRefused: a setting is made that no model here has.
    """
    for key in keys:
        if config.get(key):
            raise ImportRefused(f"{folder / 'config.json'} sets {key}, which no model here has.")


# --- GPT-2 -----------------------------------------------------------------------------------------

GPT2_PARTS = {
    "mixer_norm": "ln_1", "mixer.qkv": "attn.c_attn", "mixer.proj": "attn.c_proj",
    "feedforward_norm": "ln_2", "feedforward.up": "mlp.c_fc", "feedforward.down": "mlp.c_proj",
}  # fmt: skip


def gpt2(config: Mapping[str, Any], names: Collection[str], folder: Path) -> Plan:
    """A GPT-2 as a `GPT`: learned positions, pre-norm, biases everywhere, tanh-GELU.

    Raises:
        ImportRefused: a setting that `GPT` has not, or no tokenizer of bytes.
    """
    require_unset(config, ("scale_attn_by_inverse_layer_idx", "add_cross_attention"), folder)
    layers, tied = whole(config, "n_layer", 12, folder), bool(config.get("tie_word_embeddings", True))
    init_args: dict[str, Any] = {
        "vocab_size": whole(config, "vocab_size", 50257, folder),
        "context": whole(config, "n_positions", 1024, folder),
        "layers": layers,
        "heads": whole(config, "n_head", 12, folder),
        "width": whole(config, "n_embd", 768, folder),
        "positions": "learned",
        "activation": activation(config, "activation_function", "gelu_new", folder),
        "bias": True,
        "tied": tied,
        "bos": whole(config, "bos_token_id", 50256, folder, least=0),
        "feedforward_width": config.get("n_inner"),
        "eps": small(config, "layer_norm_epsilon", 1e-5, folder),
        "scaled": bool(config.get("scale_attn_weights", True)),
    }
    # the same model is stored with and without a name for the whole of it
    body = "transformer." if any(n.startswith("transformer.") for n in names) else ""
    ours = {"embedding.weight": ("wte.weight", False), "stack.positions.table": ("wpe.weight", False)}
    for l in range(layers):
        for own, other in GPT2_PARTS.items():
            name = f"stack.blocks.{l}.{own}", f"h.{l}.{other}"
            ours[f"{name[0]}.weight"] = f"{name[1]}.weight", "ln_" not in other
            ours[f"{name[0]}.bias"] = f"{name[1]}.bias", False
    ours |= {f"stack.final_norm.{k}": (f"ln_f.{k}", False) for k in ("weight", "bias")}
    tensors = {own: Source((body + name,), turned) for own, (name, turned) in ours.items()}
    if not tied:
        tensors["head.weight"] = Source(("lm_head.weight",))
    # masks are stored beside the weights, and the tied head may be there a second time
    ignored = r"\.attn\.(bias|masked_bias)$" + (r"|^lm_head\.weight$" if tied else "")
    return Plan(
        "modules.transformer.gpt.GPT", init_args, byte_pairs(folder), tensors, re.compile(ignored),
        "datamodules.text.Text", {"context": min(128, init_args["context"])},
    )  # fmt: skip


def byte_pairs(folder: Path) -> Tokenizer:
    """Byte pairs of a GPT-2, from `tokenizer.json`, or from `vocab.json` and `merges.txt`.

    Raises:
        ImportRefused: there is neither, or it is no byte-level BPE.
    """
    path = folder / "tokenizer.json"
    if not path.is_file() and not all((folder / name).is_file() for name in MERGES):
        raise ImportRefused(f"{folder} has neither tokenizer.json nor {' and '.join(MERGES)}.")
    try:
        text = untrusted.read(path, untrusted.MOST_JSON).decode() if path.is_file() else from_merges(folder)
        coder = BPETokenizer(text)
    except Exception as error:  # the tokenizers library raises bare Exceptions
        raise ImportRefused(f"The tokenizer in {folder} is no byte-level BPE: {error}.") from None
    probe = "A line, two  spaces\n"
    if coder.decode(coder.encode(probe)) != probe:
        raise ImportRefused(f"The tokenizer in {folder} changes text: only byte-level BPE is taken over.")
    return coder


def lines_of(path: Path) -> list[str]:
    """Lines of a vocabulary, in which other ends of line than its own may be pieces (U+2028)."""
    text = untrusted.read(path, untrusted.MOST_JSON).decode()
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def from_merges(folder: Path) -> str:
    """JSON of the library, made of the two files of the original GPT-2."""
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers

    vocab = {str(k): int(v) for k, v in read_json(folder / "vocab.json").items()}
    lines = lines_of(folder / "merges.txt")
    pairs = [line.partition(" ")[::2] for line in lines if line and not line.startswith("#version")]
    library = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=pairs))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    return library.to_str()


# --- BERT ------------------------------------------------------------------------------------------

BERT_PARTS = {
    "mixer.proj": "attention.output.dense", "mixer_norm": "attention.output.LayerNorm",
    "feedforward.up": "intermediate.dense", "feedforward.down": "output.dense",
    "feedforward_norm": "output.LayerNorm",
}  # fmt: skip
WORDS, NEXT = "cls.predictions.", "cls.seq_relationship."


def bert(config: Mapping[str, Any], names: Collection[str], folder: Path) -> Plan:
    """A BERT with its head of masked words as a `BERT`; where it has one, with that of the next sentence.

    Raises:
        ImportRefused: a setting that `BERT` has not, no head of masked words, or no tokenizer of a BERT.
    """
    require_unset(config, ("is_decoder", "add_cross_attention", "pruned_heads"), folder)
    for key, known in (
        ("position_embedding_type", "absolute"), ("type_vocab_size", 2), ("tie_word_embeddings", True),
    ):  # fmt: skip
        if config.get(key, known) != known:
            raise ImportRefused(f"{folder / 'config.json'} has {key}: {config[key]!r}; ours has {known!r}.")
    if not any(name.startswith(WORDS) for name in names):
        raise ImportRefused(
            f"{folder} holds a BERT without its head of masked words ({WORDS}…): save a BertForMaskedLM or a "
            "BertForPreTraining."
        )
    layers, coder = whole(config, "num_hidden_layers", 12, folder), wordpieces(folder)
    tasks = ["masked", "next"] if any(name.startswith(NEXT) for name in names) else ["masked"]
    init_args: dict[str, Any] = {
        "vocab_size": whole(config, "vocab_size", 30522, folder),
        "length": whole(config, "max_position_embeddings", 512, folder),
        "layers": layers,
        "heads": whole(config, "num_attention_heads", 12, folder),
        "width": whole(config, "hidden_size", 768, folder),
        "feedforward_width": whole(config, "intermediate_size", 3072, folder),
        "tasks": tasks,
        "separator": coder.SEP,
        "padding": coder.PAD,
        "activation": activation(config, "hidden_act", "gelu", folder),
        "eps": small(config, "layer_norm_eps", 1e-12, folder),
    }
    # the table of words stands there a second time, and a pooler that nothing reads
    ignored = r"position_ids$|^cls\.predictions\.decoder\." + ("" if len(tasks) > 1 else r"|^bert\.pooler\.")
    return Plan(
        "modules.transformer.bert.BERT", init_args, coder, bert_tensors(names, layers, tasks),
        re.compile(ignored), "datamodules.masked_text.MaskedText",
        {"context": min(128, init_args["length"]), "tasks": [*tasks]},
    )  # fmt: skip


def bert_tensors(names: Collection[str], layers: int, tasks: Sequence[str]) -> dict[str, Source]:
    """Our name -> the tensors of a BERT of which it is made; older files have gamma and beta in norms."""
    pairs = {
        "encoder.norm": "bert.embeddings.LayerNorm", "words.dense": "cls.predictions.transform.dense",
        "words.norm": "cls.predictions.transform.LayerNorm",
    }  # fmt: skip
    if "next" in tasks:
        pairs |= {"pooler.dense": "bert.pooler.dense", "pair": "cls.seq_relationship"}
    joined: dict[str, tuple[str, ...]] = {
        "encoder.embedding.weight": ("bert.embeddings.word_embeddings.weight",),
        "encoder.positions.table": ("bert.embeddings.position_embeddings.weight",),
        "encoder.segments.weight": ("bert.embeddings.token_type_embeddings.weight",),
        "words.bias": ("cls.predictions.bias",),
    }
    for l in range(layers):
        own, other = f"encoder.stack.blocks.{l}", f"bert.encoder.layer.{l}"
        pairs |= {f"{own}.{ours}": f"{other}.{theirs}" for ours, theirs in BERT_PARTS.items()}
        for kind in ("weight", "bias"):
            parts = ("query", "key", "value")
            joined[f"{own}.mixer.qkv.{kind}"] = tuple(f"{other}.attention.self.{p}.{kind}" for p in parts)
    for own, other in pairs.items():
        joined |= {f"{own}.{kind}": (f"{other}.{kind}",) for kind in ("weight", "bias")}
    return {own: Source(tuple(as_stored(n, names) for n in parts)) for own, parts in joined.items()}


def as_stored(name: str, names: Collection[str]) -> str:
    """The name of a tensor as this file has it."""
    older = re.sub(r"LayerNorm\.weight$", "LayerNorm.gamma", name)
    older = re.sub(r"LayerNorm\.bias$", "LayerNorm.beta", older)
    return older if name not in names and older in names else name


def wordpieces(folder: Path) -> BertTokenizer:
    """Pieces of a BERT, from `tokenizer.json`, or from `vocab.txt` and `tokenizer_config.json`.

    Raises:
        ImportRefused: there is neither, or they are no WordPiece of a BERT.
    """
    path = folder / "tokenizer.json"
    if not path.is_file() and not (folder / "vocab.txt").is_file():
        raise ImportRefused(f"{folder} has neither tokenizer.json nor vocab.txt.")
    try:
        text = untrusted.read(path, untrusted.MOST_JSON).decode() if path.is_file() else from_lines(folder)
        return BertTokenizer(text)
    except ImportRefused:
        raise
    except Exception as error:  # the tokenizers library raises bare Exceptions
        raise ImportRefused(f"The tokenizer in {folder} is not that of a BERT: {error}.") from None


def from_lines(folder: Path) -> str:
    """JSON of the library, made of the files of the original BERT: a piece a line."""
    import tokenizers
    from tokenizers import decoders, models, normalizers, pre_tokenizers

    lines = lines_of(folder / "vocab.txt")
    path = folder / "tokenizer_config.json"
    config = read_json(path) if path.is_file() else {}
    library = tokenizers.Tokenizer(
        models.WordPiece(vocab={line: i for i, line in enumerate(lines)}, unk_token="[UNK]")
    )
    library.normalizer = normalizers.BertNormalizer(
        lowercase=config.get("do_lower_case", True),
        strip_accents=config.get("strip_accents"),
        handle_chinese_chars=config.get("tokenize_chinese_chars", True),
    )
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.decoder = decoders.WordPiece()
    return library.to_str()


PLANS: dict[str, Callable[[Mapping[str, Any], Collection[str], Path], Plan]] = {"gpt2": gpt2, "bert": bert}
USES = {  # of our class: what the command says of the model that was taken over
    "modules.transformer.gpt.GPT": "`lab app` lists it in Attention, Text sampling and Residual stream, "
    "`lab sample {name}` draws from it.",
    "modules.transformer.bert.BERT": "`lab app` lists it in Masked words and fine-tuning, `lab test {name}` "
    "measures its loss.",
}
