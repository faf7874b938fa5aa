r"""One autoregressive layer as D couplings that each change one coordinate.

Every coupling d changes x_d alone, by g(·; φ_d(h_<d)). In the order D → 1 the coordinates that it reads are
not yet changed: the D couplings are x_d = g(z_d; φ_d(z_<d)), the layer that conditions on its input (IAF).
In the order 1 → D it reads what is already changed: x_d = g(z_d; φ_d(x_<d)), which is how MAF samples. The
two are different maps of the same networks.

[UDL], notes to chapter 16, grows the copied part by one a layer and says that this gives its equation 16.15,
which conditions on the input: it gives the other one.

With flexible g and φ either reaches any density, as the D conditionals do: couplings are universal.
Shapes: (..., D). References: Huang et al. 2018, arXiv:1804.00779; Teshima et al. 2020, arXiv:2006.11469.
"""

from torch import Tensor

from modules.flow.layer import FlowLayer, FlowStack, ValueAndLogDet
from modules.flow.maf import MaskedAutoregressive


class SingleCoupling(FlowLayer):
    """Changes coordinate d of h by the map and the masked conditioner of an autoregressive layer."""

    def __init__(self, layer: MaskedAutoregressive, coordinate: int) -> None:
        super().__init__()
        self.layer, self.coordinate = layer, coordinate

    def extra_repr(self) -> str:
        return f"coordinate={self.coordinate}"

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self.change(z, self.layer.monotone.generate, context)

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self.change(x, self.layer.monotone.normalize, context)

    def change(self, h: Tensor, apply, context: Tensor | None) -> ValueAndLogDet:
        d = self.coordinate  # θ_d does not depend on h_d, so it is the same in both directions
        value, slope = apply(h[..., d], self.layer.conditioner(h, context)[..., d, :])
        return h.index_copy(-1, h.new_tensor([d]).long(), value[..., None]), slope


def couplings(layer: MaskedAutoregressive, ascending: bool) -> FlowStack:
    """D couplings of one layer in natural order, applied 1 → D or D → 1."""
    order = list(range(layer.conditioner.features))
    return FlowStack([SingleCoupling(layer, d) for d in (order if ascending else order[::-1])])
