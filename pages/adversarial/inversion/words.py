"""Words of the page of inversion on a search and on an edit."""

from torch import Tensor

from pages.adversarial.inversion import lens

OPTIONS = ["below 0.005", "from 0.005 to 0.02", "above 0.02"]


def captions(search: lens.Search, space: lens.Space, encoder: bool) -> list[str]:
    """A sentence for every frame."""
    begins = "the encoder's guess" if encoder else "a draw of z" if space == "Z" else "the mean style"
    return [
        f"{'Fine-tuning of G' if s.tuned else f'Search in {space} from {begins}'}, iteration {s.number}: the "
        f"mean squared error is {s.error:.5f}."
        + (f" Other pictures have moved by {search.moved:.5f}." if s.tuned else "")
        for s in search.steps
    ]


def equations(search: lens.Search, space: lens.Space) -> list[str]:
    """The error of every frame, LaTeX."""
    theta = {False: "", True: r"_{\theta'}"}
    name = {"Z": "z", "W": "w", "W+": "w_1,\\dots,w_L"}[space]
    return [rf"\tfrac1D\lVert g{theta[s.tuned]}({name})-x\rVert^2={s.error:.5f}" for s in search.steps]


def notice(search: lens.Search, space: lens.Space, quantity: str, values: Tensor) -> str:
    """Sentences that hold of this search, and of the edit."""
    first, last = search.steps[0].error, search.steps[-1].error
    text = (
        f"The error falls from {first:.4f} to {last:.5f}. Z has as many numbers as W, but a search there "
        "often ends in a local minimum, which depends on its start: other seeds end elsewhere. W+ has a "
        "style for each layer, six times the numbers, and reaches smaller errors, also for a picture that "
        "is no digit. "
    )
    if search.steps[-1].tuned:
        text += (
            f"Pivotal tuning changes the weights of G itself, so that the error can vanish; {lens.KEPT} "
            f"other pictures, whose change is penalized, have moved by {search.moved:.5f}. "
        )
    return text + (
        f"The edit direction is a linear fit of {quantity} to the codes of {lens.FITTED:,} draws; by one "
        f"standard deviation to either side the {quantity} goes from {values[0]:.3f} to {values[-1]:.3f}."
    )


def bracket(error: float) -> str:
    """The one of OPTIONS that it is."""
    return OPTIONS[0] if error < 0.005 else OPTIONS[1] if error <= 0.02 else OPTIONS[2]
