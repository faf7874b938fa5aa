"""Entropy floor: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Entropy floor",
    idea="No model beats its source on average; on one short text, luck may.",
    place=40,
    minutes=6,
    words="entropy rate; Shannon entropy; entropy; source coding; overfitting",
    references=(
        "Shannon 1948, A mathematical theory of communication",
        "[LLM] eq. 1.4-1.7 (its slide gives a perfect model the perplexity 1: it has 2^H)",
        "[BB] §5.1; Cover, Thomas 2006, §4.2",
    ),
)
