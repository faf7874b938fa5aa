"""Perplexity and divergence: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Perplexity and divergence",
    idea="A model pays −log of the probability of what came.",
    place=30,
    minutes=6,
    words="cross-entropy; cross entropy; KL divergence; Kullback-Leibler; perplexity; log-likelihood",
    references=(
        "Shannon 1948",
        "Cover and Thomas 2006, ch. 2",
        "[LLM] eq. 1.4-1.9, [GM] §3.4.2, [BB] §1.4",
    ),
)
