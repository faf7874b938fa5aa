"""Autoregressive inspector: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Autoregressive inspector",
    idea="One picture, any model of the chain rule.",
    place=50,
    minutes=8,
    words="NADE; MADE; PixelCNN; PixelRNN; image completion; ancestral sampling; autoregressive model",
    references=(
        "Larochelle, Murray 2011, NADE; Uria et al. 2016, arXiv:1605.02226",
        "Germain, Gregor, Murray, Larochelle 2015, MADE, arXiv:1502.03509",
        "Uria, Murray, Larochelle 2014, order-agnostic training, arXiv:1310.1757",
        "[GM] §1.4, §1.5; [UDL] §12.7",
    ),
    lenses=(
        "sampling",
        "receptive_field",
    ),
)
