"""Tokenizer workbench: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Tokenizer workbench",
    idea="How a text is cut into tokens decides what a model reads.",
    place=10,
    minutes=8,
    words="byte pair encoding; BPE; tokenization; subwords; WordPiece; unigram; SentencePiece; tokenizer",
    references=(
        "Sennrich, Haddow and Birch 2016, arXiv:1508.07909",
        "Kudo 2018, Subword regularization, arXiv:1804.10959",
        "[LLM] part 1, [UDL] §12.5.1 and fig. 12.8, [GM] §1.6.1",
    ),
)
