"""Vocabulary size: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Vocabulary size",
    idea="A larger vocabulary makes tokens harder to guess, but there are fewer.",
    place=20,
    minutes=2,
    words="vocabulary; bits per character; bits per byte; tokenization",
    references=("[LLM] part 1, eq. 1.4-1.9",),
)
