"""The mean plus components in amounts of the reader's choice."""

from typing import Any

import torch

from lab import ui
from lab.lenses.vaes import subscript
from pages.latent.eigen_digits import common, figures, lens
from pages.latent.eigen_digits.room import ROOM

SLIDERS = 5


def view(stage: Any) -> None:
    """Five sliders, the parts they add, and the sum."""
    with stage.rail:
        data, side = common.pictures()
        kind = ui.choice("Model", list(common.MODELS), key="model")
        values = [ui.slider(f"c{j}, in standard deviations", -3.0, 3.0, 0.0, key=f"c{j}", step=0.25)
                  for j in range(1, SLIDERS + 1)]  # fmt: skip
    name = f"{common.MODELS[kind]}-{data}"
    basis = common.basis(name)
    total, parts = lens.mixed(basis, values)
    reach = float((3 * basis.scales[:SLIDERS, None] * basis.components[:SLIDERS]).abs().max())
    outside = float(((total < 0) | (total > 1)).double().mean())
    names = ["the sum", *(f"{v:+g} s{subscript(j)}w{subscript(j)}" for j, v in enumerate(values, start=1))]
    pictures = [total, *parts]
    shown = [
        figures.Panel(title, v.reshape(side, side), "diverging" if i else "grey", reach if i else 1.0)
        for i, (title, v) in enumerate(zip(names, pictures, strict=True))
    ]
    with stage.picture:
        ui.figure(
            figures.panels(shown, 3), key="parts", share=1.0,
            alt="The sum of the mean and five components, and each component times its coefficient",
        )  # fmt: skip
    spelled = "".join(f"{v:+.2f}\\,s_{{{j}}} w_{{{j}}}" for j, v in enumerate(values, start=1))
    stage.equation(rf"\hat x=\mu{spelled}", note="s: the standard deviation of a coefficient over the data")
    distance = float(torch.tensor(values).square().sum().sqrt())
    stage.metrics(
        {"Distance from the mean": f"{distance:.2f} deviations", "Pixels outside 0 … 1": f"{outside:.0%}"}
    )
    with stage.below:
        ui.notice(
            "Blue adds ink, orange takes it away. Coefficients are free: nothing in a plane says which sums "
            "are digits, and a pixel may leave the range of ink (it is drawn at the end of the scale). "
            f"Here {outside:.0%} of the pixels do."
        )
        zeros = all(v == 0 for v in values)
        ui.check(
            "With all sliders at 0, the picture is …", ["white", "the mean digit", "one of the digits"],
            "the mean digit",
            "So it stands there now." if zeros else "Set them to 0 to see it.",
            wrong={"white": "That would be without the mean: data are centred first.",
                   "one of the digits": "It is the average of all of them, and none itself."},
            veils=("picture",),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from pages.latent.eigen_digits import lens

            basis = lens.Basis.of(weights.load({ui.spelled(name)}))
            total, parts = lens.mixed(basis, {values})
            result = float(((total < 0) | (total > 1)).double().mean())
            """,
            shows=outside,
        )
        ui.source(lens.Basis.of, lens.mixed, references=ROOM.references)
