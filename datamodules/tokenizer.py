"""From text to token numbers and back: characters, bytes, words, and byte pairs (BPE; Gage 1994; Sennrich
et al. 2016, arXiv:1508.07909; on bytes as in GPT-2).

A tokenizer becomes a plain dict, which travels in the card of the trained weights: whoever has the
weights can encode text without the corpus.
"""

import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
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
        numbers = [int(i) for i in ids]
        for i in numbers:
            if not 0 <= i < len(self):
                raise ValueError(f"Token {i} is not in the vocabulary of {len(self)} tokens.")
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
            if card["kind"] == "word":
                return WordTokenizer(card["tokens"])
            if card["kind"] == "bpe":
                return BPETokenizer(json.dumps(card["model"]))
        except Exception as error:  # the tokenizers library raises bare Exceptions
            raise ValueError(f"The tokenizer cannot be read from this card: {error}.") from error
        raise ValueError(f"The tokenizer's kind is {card['kind']!r}: it must be char, byte, word or bpe.")


class CharTokenizer(Tokenizer):
    """One token for each character of `tokens`."""

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
    """Words and punctuation marks; `tokens` begins with BEGIN, END and UNKNOWN.

    Encoding adds no begin and no end, and decoding shows none.
    """

    kind = "word"
    BEGIN, END, UNKNOWN = range(3)
    SPECIAL = ("<bos>", "<eos>", "<unk>")

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens = list(tokens)
        if tuple(self.tokens[:3]) != self.SPECIAL or len(set(self.tokens)) != len(self.tokens):
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
        return " ".join(self.tokens[i] for i in ids if i not in (self.BEGIN, self.END))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "tokens": self.tokens}


class BPETokenizer(Tokenizer):
    """Byte pairs merged by frequency, through the `tokenizers` library.

    Args:
        model: the library's own JSON.
    """

    kind = "bpe"

    def __init__(self, model: str) -> None:
        import tokenizers

        self._model = tokenizers.Tokenizer.from_str(model)
        letters = {letter: byte for byte, letter in enumerate(_letters())}
        units = [self._model.id_to_token(i) or "" for i in range(self._model.get_vocab_size())]
        self._bytes = [bytes(letters[c] for c in unit) for unit in units]
        self.tokens = [_readable(b) for b in self._bytes]

    @classmethod
    def train(cls, text: str, vocab_size: int) -> "BPETokenizer":
        """Learn merges on `text` until there are `vocab_size` tokens, or nothing left to merge.

        Raises:
            ValueError: fewer than the 256 bytes.
        """
        from tokenizers import Tokenizer as Library
        from tokenizers import decoders, models, pre_tokenizers, trainers

        if vocab_size < 256:
            raise ValueError(f"The BPE vocabulary is {vocab_size}: it must hold at least the 256 bytes.")
        model = Library(models.BPE())
        model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        model.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size, initial_alphabet=_letters(), show_progress=False, special_tokens=[]
        )
        # by lines: the library would otherwise hold one word list for the whole text
        model.train_from_iterator(text.splitlines(keepends=True), trainer)
        return cls(model.to_str())

    def encode(self, text: str) -> list[int]:
        return self._model.encode(text).ids

    def _text(self, ids: list[int]) -> str:
        return b"".join(self._bytes[i] for i in ids).decode(errors="replace")

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "model": json.loads(self._model.to_str())}


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
