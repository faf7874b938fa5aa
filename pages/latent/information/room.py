"""Information bars: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Information bars",
    idea="KL is the surprise that a right belief would have spared.",
    place=300,
    minutes=6,
    words="KL divergence; Kullback-Leibler; entropy; cross-entropy; mutual information; relative entropy",
    references=(
        "Shannon 1948, A mathematical theory of communication",
        "Kullback and Leibler 1951, On information and sufficiency",
        "[GM] §3.4.2; [BB] §1.4, §6 (lemma 6.2(4) prints KL(P‖Q) twice); [UDL] §17.3.2",
    ),
)
