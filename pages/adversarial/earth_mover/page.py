"""Earth mover: the least work that turns one heap into another, as a plan and as prices."""

from lab import ui
from lab.errors import UserError
from lab.lenses import typed
from modules.adversarial import transport
from pages.adversarial.earth_mover import figures, lens
from pages.adversarial.earth_mover.room import ROOM

TEN = {"p": "5 3 2 1 8 7 5 9 2 1", "q": "4 10 1 1 4 6 3 2 0 1"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Two heaps": ui.scene("Play: the earth goes from p to q; discs near the diagonal are short ways.",
                              way=0.0, **TEN),
        "Far": ui.scene("Nothing overlaps: earth goes two bins on average, and the cost is 2.",
                        p="1 1 0 0", q="0 0 1 1"),
        "Mirror": ui.scene("Half of the cost of Far: much of the earth lies right already.",
                           p="1 2 3 4", q="4 3 2 1"),
        "Equal": ui.scene("Equal heaps: the discs lie on the diagonal and nothing is paid.",
                          p="1 2 3 2 1", q="1 2 3 2 1"),
        "Squared cost": ui.scene(
            "Squares: the prices still earn the cost; the dotted form with bounded steps does not.",
            power=2.0, **TEN,
        ),
        "Steps below 1": ui.scene("Steps of at most 0.9 earn 0.9 of the cost: the best lies on the bound.",
                                  bound=0.9, **TEN),
    }
)  # fmt: skip


@ui.cached
def told_of(p: list[float], q: list[float], power: float, bound: float) -> lens.Story:
    return lens.story(p, q, power, bound)


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    heaps = {}
    for name, label in (("p", "Heap p, one weight a bin"), ("q", "Heap q")):
        text = ui.text(label, TEN[name], key=name, max_chars=200)
        try:
            heaps[name], wrong = typed.distribution(text, lens.MOST)
        except UserError as error:
            ui.stop(str(error))
        if wrong:
            ui.warning(wrong)
    power = ui.slider("Cost |i − j| to the power", 1.0, 3.0, 1.0, key="power", step=0.5)
    bound = ui.slider("Largest step of the dotted f", 0.5, 1.0, 1.0, key="bound", step=0.1)
told = told_of(heaps["p"], heaps["q"], power, bound)
film = ui.film(len(lens.WAY), key="way", values=lens.WAY, default=0.5, label="Share of the way", seconds=0.12)

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            figures.plan(told), key="plan", share=1.0,
            alt="What is carried from which bin to which, over the matrix of costs",
            data={"from": [i for i in range(len(told.p)) for _ in told.p],
                  "to": [j for _ in told.p for j in range(len(told.p))], "mass": told.plan.reshape(-1)},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.heap(told, film.at), key="heap", share=0.5, film=film, frames={"data.0.y": told.heap},
            alt="The earth on its way from p to q",
            data={"bin": range(len(told.p)), "p": told.p, "q": told.q},
        )  # fmt: skip
        ui.figure(
            figures.prices(told), key="prices", share=0.5, alt="Prices of the dual at every bin",
            data={"bin": range(len(told.p)), "f": told.source, "h": told.target, "steps": told.steps},
        )  # fmt: skip
stage.metrics(
    {
        "Plan": f"{told.primal:.4f}",
        "Prices": f"{abs(told.dual):.4f}",
        "Bounded steps": f"{told.neighbours:.4f}",
        "Σ |cumsum(p − q)|": f"{told.w1:.4f}",
    }
)
with stage.foot:
    film.bar(captions=lens.captions(told), equations=lens.equations(told))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(
        "Earth is carried only where f + h is equal to the cost: elsewhere the way would cost more than the "
        "prices allow. With the cost |i − j| one function does for both prices, h = −f, and its steps are at "
        "most 1: that is the critic of a Wasserstein GAN. The maximum lies on that bound, so the text's < 1 "
        f"must be ≤ 1. Here the steepest step of f is {lens.slope(told):.3f}."
    )
    ui.check(
        "How far is the earth carried on average, by the plan that carries it least far?",
        lens.OPTIONS, lens.option(told.w1), f"{told.w1:.3f} bins.",
        wrong=(
            "Earth between the heaps crosses every bin on its way: add the gaps of the cumulative sums.",
            "Neither the peaks nor the means give it: W₁ is Σ |F − G|, the gaps of the cumulative sums.",
            "Ways that cross can be uncrossed at no more cost: the best plan carries earth less far.",
        ),
        veils=("picture", "equation", "numbers"),
    )  # fmt: skip
    ui.program(
        f"""
        import torch
        from modules.adversarial import transport

        p, q = torch.tensor({told.p.tolist()}), torch.tensor({told.q.tolist()})
        cost = transport.distances(len(p), {power!r})
        result = [transport.primal(p, q, cost).value, transport.dual(p, q, cost).value,
                  transport.lipschitz_dual(p, q, {bound!r})[1]]
        """,
        shows=[told.primal, told.dual, told.neighbours],
    )
    ui.source(transport.primal, transport.dual, transport.lipschitz_dual, references=ROOM.references)
