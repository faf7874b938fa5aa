"""RNADE density: what the room is."""

from lab.room import Room

ROOM = Room(
    title="RNADE density",
    idea="A network reads x₁ and answers with a mixture: where x₂ may be, and how sharply.",
    place=70,
    minutes=6,
    words="RNADE; mixture density network; MDN; mixture of Gaussians",
    references=(
        "Bishop 1994, Mixture density networks",
        "Uria, Murray, Larochelle 2013, RNADE, arXiv:1306.0186",
        "[GM] §1.5.2 (it writes N(x; μ, σ) and calls σ a standard deviation: the variance is σ²)",
        "Theis, van den Oord, Bethge 2016, A note on the evaluation of generative models, arXiv:1511.01844",
    ),
    lenses=("sampling",),
)
