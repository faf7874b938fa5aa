"""What the page of inversion says of a search and of an edit."""

from torch import Tensor

from pages.adversarial.inversion import lens

OPTIONS = ["below 0.005", "from 0.005 to 0.02", "above 0.02"]


def captions(search: lens.Search, space: lens.Space, encoder: bool) -> list[str]:
    """A sentence for every frame."""
    begins = "from the encoder's answer" if encoder else "from a draw" if space == "Z" else "from the mean"
    return [
        f"{'Generator tuned' if s.tuned else 'Search in ' + space}, {begins}, step {s.number}: mean squared "
        f"error {s.error:.5f}." + (f" Other pictures have moved by {search.moved:.5f}." if s.tuned else "")
        for s in search.steps
    ]


def equations(search: lens.Search, space: lens.Space) -> list[str]:
    """The error of every frame, LaTeX."""
    theta = {False: "", True: r"_{\theta'}"}
    name = {"Z": "z", "W": "w", "W+": "w_1,\\dots,w_L"}[space]
    return [rf"\tfrac1D\lVert g{theta[s.tuned]}({name})-x\rVert^2={s.error:.5f}" for s in search.steps]


def notice(search: lens.Search, space: lens.Space, quantity: str, values: Tensor) -> str:
    """What holds of this search, and of the edit."""
    first, last = search.steps[0].error, search.steps[-1].error
    said = (
        f"The error falls from {first:.4f} to {last:.5f}. Z has as many numbers as W, but a search there "
        "often gets stuck, and where depends on its start: other seeds end elsewhere. W+ has a style "
        "for each layer, six times the numbers, and comes nearer, also to what is no digit. "
    )
    if search.steps[-1].tuned:
        said += (
            "Tuning moves the generator itself, so that nothing need be left; "
            f"{lens.KEPT} other pictures, which it was asked to keep, have moved by {search.moved:.5f}. "
        )
    return said + (
        f"The edit follows how codes of {lens.FITTED:,} draws go with their {quantity}, by up to one "
        f"standard deviation: measured it goes from {values[0]:.3f} to {values[-1]:.3f}."
    )


def bracket(error: float) -> str:
    """Which of OPTIONS it is."""
    return OPTIONS[0] if error < 0.005 else OPTIONS[1] if error <= 0.02 else OPTIONS[2]
