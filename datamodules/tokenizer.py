"""From text to token numbers and back: characters, bytes, words, and three kinds of subwords, which the
`tokenizers` library learns: byte pairs (BPE; Gage 1994; Sennrich et al. 2016, arXiv:1508.07909),
WordPiece (Schuster and Nakajima 2012) and the unigram model (Kudo 2018, arXiv:1804.10959).

Subwords are made of UTF-8 bytes, within words that keep their leading space (GPT-2's rule): what is
decoded is the very text; the pieces of a published BERT are of letters. The library's WordPiece *encodes* as
WordPiece does, by the longest match, but *learns* its pieces as BPE does, by the most frequent pair, not by
c(ab) / (c(a) c(b)).

A tokenizer becomes a plain dict, which travels in the card of the trained weights: whoever has the
weights can encode text without the corpus.
"""

import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from torch import Tensor

# The characters of pydocs: newline and printable ASCII, the same under every version of Python.
ASCII = ["\n"] + [chr(c) for c in range(32, 127)]


class Tokenizer(ABC):
    """`decode(encode(text)) == text`, of words up to case, spaces and the unknown ones; `tokens[i]` is how
    token i reads."""

    kind: str
    tokens: list[str]

    def __len__(self) -> int:
        return len(self.tokens)

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """Token numbers of `text`.

        Raises:
            ValueError: a character is not in the vocabulary.
        """

    def decode(self, ids: Iterable[int] | Tensor) -> str:
        """The text of token numbers (a list or a tensor (T,)).

        Raises:
            ValueError: a number is not in the vocabulary.
        """
        numbers = ids.tolist() if isinstance(ids, Tensor) else [int(i) for i in ids]
        if numbers and not 0 <= min(numbers) <= max(numbers) < len(self):
            bad = next(i for i in numbers if not 0 <= i < len(self))
            raise ValueError(f"Token {bad} is not in the vocabulary of {len(self)} tokens.")
        return self._text(numbers)

    @abstractmethod
    def _text(self, ids: list[int]) -> str: ...

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything that `from_dict` needs, in plain types."""

    @staticmethod
    def from_dict(card: dict[str, Any]) -> "Tokenizer":
        """The tokenizer that `to_dict` wrote down.

        Raises:
            ValueError: it was not written by `to_dict`.
        """
        try:
            if card["kind"] == "char":
                return CharTokenizer(card["tokens"])
            if card["kind"] == "byte":
                return ByteTokenizer()
            if card["kind"] in ("word", "encoder"):
                return (WordTokenizer if card["kind"] == "word" else EncoderTokenizer)(card["tokens"])
            if card["kind"] == "bert":
                return BertTokenizer(json.dumps(card["model"]))
            if card["kind"] in SUBWORDS:
                return SUBWORDS[card["kind"]](json.dumps(card["model"]))
        except Exception as error:  # the tokenizers library raises bare Exceptions
            raise ValueError(f"The tokenizer cannot be read from this card: {error}.") from error
        kinds = ", ".join(["char", "byte", "word", "encoder", "bert", *SUBWORDS])
        raise ValueError(f"The tokenizer's kind is {card['kind']!r}: it must be one of {kinds}.")


class CharTokenizer(Tokenizer):
    """Tokenizer with one token for each character of `tokens`."""

    kind = "char"

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens = list(tokens)
        if any(len(t) != 1 for t in self.tokens) or len(set(self.tokens)) != len(self.tokens):
            raise ValueError("A character vocabulary is a list of different single characters.")
        self._ids = {c: i for i, c in enumerate(self.tokens)}

    def encode(self, text: str) -> list[int]:
        try:
            return [self._ids[c] for c in text]
        except KeyError as error:
            c = error.args[0]
            known = "".join(self.tokens) if len(self) <= 100 else f"{len(self)} characters"
            raise ValueError(
                f"The character {c!r} (U+{ord(c):04X}) is not in the vocabulary: use only {known!r}."
            ) from None

    def _text(self, ids: list[int]) -> str:
        return "".join(self.tokens[i] for i in ids)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "tokens": self.tokens}


class ByteTokenizer(Tokenizer):
    """The 256 bytes of UTF-8: any text, no unknown characters."""

    kind = "byte"

    def __init__(self) -> None:
        self.tokens = [_readable(bytes([i])) for i in range(256)]

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def _text(self, ids: list[int]) -> str:
        return bytes(ids).decode(errors="replace")  # a sample may break off inside a character

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind}


def words(text: str) -> list[str]:
    """Lower-case words and single punctuation marks."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


class WordTokenizer(Tokenizer):
    """Words and punctuation marks; `tokens` begins with BOS, EOS and UNKNOWN.

    Encoding adds no begin and no end, and decoding shows none.
    """

    kind = "word"
    BOS, EOS, UNKNOWN = range(3)
    SPECIAL: tuple[str, ...] = ("<bos>", "<eos>", "<unk>")

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens = list(tokens)
        if tuple(self.tokens[: len(self.SPECIAL)]) != self.SPECIAL or len(set(self.tokens)) != len(
            self.tokens
        ):
            raise ValueError(f"A word vocabulary is a list of different words behind {self.SPECIAL}.")
        self._ids = {word: i for i, word in enumerate(self.tokens)}

    @classmethod
    def train(cls, texts: Iterable[str], min_count: int = 1) -> "WordTokenizer":
        """The words that come at least `min_count` times, the most frequent first, ties by first seen."""
        counts = Counter(word for text in texts for word in words(text))
        return cls([*cls.SPECIAL, *(word for word, n in counts.most_common() if n >= min_count)])

    def encode(self, text: str) -> list[int]:
        return [self._ids.get(word, self.UNKNOWN) for word in words(text)]

    def _text(self, ids: list[int]) -> str:
        return " ".join(self.tokens[i] for i in ids if i not in (self.BOS, self.EOS))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "tokens": self.tokens}


class MaskTokenizer(Tokenizer):
    """Base of tokenizers for an encoder: <cls> stands before a text, <sep> behind each of its parts, and
    <mask> for a token that is to be predicted; rows of a batch are filled up with <pad>.

    A subclass gives their numbers, and implements `plain`.
    """

    CLS: int
    SEP: int
    UNKNOWN: int
    MASK: int
    PAD: int
    HIDDEN = re.compile("<mask>", re.I)  # how a text spells it

    @abstractmethod
    def plain(self, text: str) -> list[int]:
        """Token numbers of a text without masks."""

    def encode(self, text: str) -> list[int]:
        pieces = [self.plain(piece) for piece in self.HIDDEN.split(text)]
        return [i for piece in pieces for i in (self.MASK, *piece)][1:]

    def encode_parts(self, *texts: str) -> list[int]:
        """<cls> first <sep> second <sep> …"""
        return [self.CLS, *(i for text in texts for i in (*self.encode(text), self.SEP))]

    @property
    def special(self) -> list[int]:
        """Numbers of the tokens that are no text."""
        return [self.CLS, self.SEP, self.UNKNOWN, self.MASK, self.PAD]

    def _text(self, ids: list[int]) -> str:
        return " ".join(self.tokens[i] for i in ids if i not in (self.CLS, self.SEP, self.PAD))


class EncoderTokenizer(MaskTokenizer, WordTokenizer):
    """Words for an encoder."""

    kind = "encoder"
    CLS, SEP, UNKNOWN, MASK, PAD = range(5)
    SPECIAL = ("<cls>", "<sep>", "<unk>", "<mask>", "<pad>")

    def plain(self, text: str) -> list[int]:
        return WordTokenizer.encode(self, text)


class BertTokenizer(MaskTokenizer):
    """Pieces of words as a published BERT has them: those inside a word begin with ##, and a word that does
    not divide into known pieces is [UNK].

    Args:
        model: the library's own JSON. What it would cut, fill up or put around a text is left out, and a text
            that spells [CLS] is text.

    Raises:
        ValueError: it is no WordPiece with ##, its numbers have gaps, or a special token has no number.
    """

    kind = "bert"
    SPECIAL = ("[CLS]", "[SEP]", "[UNK]", "[MASK]", "[PAD]")
    HIDDEN = re.compile(r"<mask>|\[MASK\]", re.I)

    def __init__(self, model: str) -> None:
        import tokenizers

        given = json.loads(model)
        learned = given["model"]
        if learned.get("type") != "WordPiece" or learned.get("continuing_subword_prefix") != "##":
            raise ValueError("it is no WordPiece whose inner pieces begin with ##")
        added = [
            token for token in given.get("added_tokens") or [] if token["content"] not in learned["vocab"]
        ]
        given |= {"truncation": None, "padding": None, "post_processor": None, "added_tokens": added}
        self._model = tokenizers.Tokenizer.from_str(json.dumps(given))
        numbers = self._model.get_vocab()
        if sorted(numbers.values()) != list(range(len(numbers))):
            raise ValueError("its numbers have gaps")
        if missing := [name for name in self.SPECIAL if name not in numbers]:
            raise ValueError(f"it has no token {missing[0]}")
        self.tokens = sorted(numbers, key=numbers.__getitem__)
        self.CLS, self.SEP, self.UNKNOWN, self.MASK, self.PAD = (numbers[name] for name in self.SPECIAL)

    def plain(self, text: str) -> list[int]:
        return self._model.encode(text).ids

    def _text(self, ids: list[int]) -> str:
        return super()._text(ids).replace(" ##", "")

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "model": json.loads(self._model.to_str())}


# --- Subwords, learned by the library ---------------------------------------------------------------


class SubwordTokenizer(Tokenizer):
    """Pieces of bytes.

    Args:
        model: the library's own JSON.
    """

    INNER = "‿"  # what a piece inside a word begins with, where it matters; no byte is written so
    UNKNOWN = "[UNK]"

    def __init__(self, model: str) -> None:
        import tokenizers

        self._model = tokenizers.Tokenizer.from_str(model)
        letters = {letter: byte for byte, letter in enumerate(_letters())}
        pieces = [self._model.id_to_token(i) or "" for i in range(self._model.get_vocab_size())]
        self.unknown = self._unknown(json.loads(model)["model"], pieces)
        self._bytes, self.tokens = [], []
        for i, piece in enumerate(pieces):
            whole = "" if i == self.unknown else piece.removeprefix(self.INNER)
            self._bytes.append(bytes(letters[c] for c in whole) if i != self.unknown else b"\xff")
            inner = "##" if piece.startswith(self.INNER) else ""
            self.tokens.append(self.UNKNOWN if i == self.unknown else inner + _readable(self._bytes[-1]))

    @classmethod
    def _unknown(cls, model: dict[str, Any], pieces: list[str]) -> int | None:
        """The number of the unknown token, of a model that has one."""
        return None

    @classmethod
    def train(cls, text: str | Iterable[str], vocab_size: int) -> "SubwordTokenizer":
        """Learn pieces from a text, or from several that no piece crosses, until there are `vocab_size`.

        There are fewer where the text offers no more, and more where its single bytes already are.

        Raises:
            ValueError: fewer tokens than the tokenizer's base.
        """
        raise NotImplementedError

    @classmethod
    def _learn(cls, text: str | Iterable[str], model: Any, trainer: Any) -> dict[str, Any]:
        """The library's JSON, as a dict, after training."""
        from tokenizers import Tokenizer as Library
        from tokenizers import decoders, pre_tokenizers

        library = Library(model)
        library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        library.decoder = decoders.ByteLevel()
        library.train_from_iterator([text] if isinstance(text, str) else text, trainer)
        return json.loads(library.to_str())

    def encode(self, text: str) -> list[int]:
        return self._model.encode(text).ids

    def _text(self, ids: list[int]) -> str:
        return b"".join(self._bytes[i] for i in ids).decode(errors="replace")

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "model": json.loads(self._model.to_str())}


class BPETokenizer(SubwordTokenizer):
    """Byte pairs merged by frequency, and merged again in the same order; the 256 bytes come first."""

    kind = "bpe"

    @classmethod
    def train(cls, text: str | Iterable[str], vocab_size: int) -> "BPETokenizer":
        from tokenizers import models, trainers

        at_least_the_bytes("BPE", vocab_size)
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size, initial_alphabet=_letters(), show_progress=False, special_tokens=[]
        )
        # by lines: the library would otherwise hold one word list for the whole text
        parts = text.splitlines(keepends=True) if isinstance(text, str) else text
        return cls(json.dumps(cls._learn(parts, models.BPE(), trainer)))

    def first(self, vocab_size: int) -> "BPETokenizer":
        """The tokenizer that training to this smaller vocabulary gives: the merges learned first."""
        learned = self.to_dict()["model"]
        vocab = learned["model"]["vocab"]
        learned["model"]["vocab"] = {piece: i for piece, i in vocab.items() if i < vocab_size}
        learned["model"]["merges"] = learned["model"]["merges"][: max(0, vocab_size - 256)]
        return BPETokenizer(json.dumps(learned))


class SentenceTokenizer(SubwordTokenizer):
    """Byte pairs for sentences: the tokens begin with BOS and EOS, as those of `WordTokenizer` do.

    Encoding adds no begin and no end, and decoding shows none.
    """

    kind = "bpe-sentences"
    BOS, EOS = range(2)
    SPECIAL = WordTokenizer.SPECIAL[:2]

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self._bytes[:2] = b"", b""

    @classmethod
    def train(cls, text: str | Iterable[str], vocab_size: int) -> "SentenceTokenizer":
        learned = BPETokenizer.train(text, vocab_size - len(cls.SPECIAL)).to_dict()["model"]
        pieces = learned["model"]["vocab"]
        ends = {token: i for i, token in enumerate(cls.SPECIAL)}
        learned["model"]["vocab"] = ends | {piece: i + len(ends) for piece, i in pieces.items()}
        return cls(json.dumps(learned))


class WordPieceTokenizer(SubwordTokenizer):
    """The longest piece that fits, from the left; pieces inside a word are others (##) than at its
    beginning. A word that does not divide into known pieces is one [UNK], token 0, decoded as U+FFFD."""

    kind = "wordpiece"

    @classmethod
    def _unknown(cls, model: dict[str, Any], pieces: list[str]) -> int | None:
        return pieces.index(cls.UNKNOWN)

    @classmethod
    def train(cls, text: str | Iterable[str], vocab_size: int) -> "WordPieceTokenizer":
        from tokenizers import models, pre_tokenizers, trainers

        text = [text] if isinstance(text, str) else list(text)
        split = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str
        # The library numbers inner letters in the order of a hash, and breaks ties by number: named as
        # special tokens they have the same numbers in every run.
        inner = {letter for part in text for word, _ in split(part) for letter in word[1:]}
        trainer = trainers.WordPieceTrainer(
            vocab_size=vocab_size, show_progress=False, continuing_subword_prefix=cls.INNER,
            special_tokens=[cls.UNKNOWN, *(cls.INNER + letter for letter in sorted(inner))],
        )  # fmt: skip
        learned = cls._learn(text, models.WordPiece(unk_token=cls.UNKNOWN), trainer)
        learned["added_tokens"] = []  # a text that spells [UNK] is text
        learned["model"]["max_input_chars_per_word"] = 10_000
        return cls(json.dumps(learned))


class UnigramTokenizer(SubwordTokenizer):
    """The most probable pieces, P(pieces) = Π P(piece); every byte is a piece, so nothing is unknown.

    Without `every_byte` only bytes seen in training are pieces, and [UNK] is token 0.
    """

    kind = "unigram"

    @property
    def log_probs(self) -> list[float]:
        """Log-probability of each piece in nats, as the library has them."""
        return [score for _, score in json.loads(self._model.to_str())["model"]["vocab"]]

    @classmethod
    def _unknown(cls, model: dict[str, Any], pieces: list[str]) -> int | None:
        return model["unk_id"]

    @classmethod
    def train(cls, text: str | Iterable[str], vocab_size: int, every_byte: bool = True) -> "UnigramTokenizer":
        from tokenizers import models, trainers

        text = [text] if isinstance(text, str) else list(text)
        if every_byte:
            at_least_the_bytes("unigram", vocab_size)
        # the library refuses a vocabulary that cannot hold every byte of the text
        result = {byte for part in text for byte in part.encode()}
        trainer = trainers.UnigramTrainer(
            vocab_size=max(vocab_size, len(result) + 1), initial_alphabet=_letters() if every_byte else [],
            special_tokens=[] if every_byte else [cls.UNKNOWN], unk_token=None if every_byte else cls.UNKNOWN,
            show_progress=False,
        )  # fmt: skip
        learned = cls._learn(text, models.Unigram(), trainer)
        learned["added_tokens"] = []
        first = 0 if every_byte else 1
        vocab = learned["model"]["vocab"]
        learned["model"]["vocab"] = vocab[:first] + same_every_time(vocab[first:])
        return cls(json.dumps(learned))


SUBWORDS: dict[str, type[SubwordTokenizer]] = {
    "bpe": BPETokenizer, "wordpiece": WordPieceTokenizer, "unigram": UnigramTokenizer,
    "bpe-sentences": SentenceTokenizer,
}  # fmt: skip


def same_every_time(vocab: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Pieces and scores without what a hash decides, which is another in every run of the library.

    Bytes that its EM does not need get a low score, each 0.0001 below the one before, in the order of a
    hash: here they all have the highest of these. Equal scores go by the letters.
    """
    bytes_ = sorted((score for piece, score in vocab if len(piece) == 1), reverse=True)
    steps = [a for pair in pairwise(bytes_) if abs(pair[0] - pair[1] - 1e-4) < 1e-8 for a in pair]
    low, high = min(steps, default=math.inf), max(steps, default=-math.inf)
    levelled = [(p, round(high if len(p) == 1 and low <= score <= high else score, 6)) for p, score in vocab]
    return sorted(levelled, key=lambda piece: (-piece[1], piece[0]))


def at_least_the_bytes(name: str, vocab_size: int) -> None:
    """Raises ValueError for a vocabulary that cannot hold every byte."""
    if vocab_size < 256:
        raise ValueError(f"The {name} vocabulary is {vocab_size}: it must hold at least the 256 bytes.")


def _readable(unit: bytes) -> str:
    """Bytes as text where they are whole characters, else as `\\xNN`."""
    try:
        return unit.decode()
    except UnicodeDecodeError:
        return "".join(f"\\x{b:02X}" for b in unit)


def _letters() -> list[str]:
    """The printable letter that byte-level BPE writes for each byte: itself where it is printable,
    else the next free one from U+0100."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    letters, free = [], 0x100
    for byte in range(256):
        letters.append(chr(byte if byte in printable else free))
        free += byte not in printable
    return letters
