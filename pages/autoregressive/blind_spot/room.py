"""Blind spot: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Blind spot",
    idea="However deep, stacked square masks never see a wedge above to the right.",
    place=110,
    minutes=5,
    words="PixelCNN; masked convolution; causal convolution; gated PixelCNN",
    references=(
        "van den Oord, Kalchbrenner, Kavukcuoglu 2016, PixelCNN, arXiv:1601.06759",
        "van den Oord et al. 2016, Gated PixelCNN, arXiv:1606.05328",
        "[GM] §3.11.1; [UDL] notes of chapter 14",
    ),
    lenses=(
        "receptive_field",
        "sampling",
    ),
    machine="convolution",
)
