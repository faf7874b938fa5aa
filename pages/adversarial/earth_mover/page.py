"""Earth mover: the least work that turns one heap into another, as a plan and as prices."""

from lab import ui
from lab.lenses import typed
from modules.adversarial import transport
from pages.adversarial.earth_mover import figures, lens
from pages.adversarial.earth_mover.room import ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    for text in (now.p, now.q):
        if wrong := typed.distribution(text, lens.MOST)[1]:
            ui.warning(wrong)
told = ui.compute(lens.story, now)
film = ui.film_of(now, len(told.heap))

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
            figures.heap(told), key="heap", share=0.5, film=film, alt="The earth on its way from p to q"
        )
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
        cost = transport.distances(len(p), {now.power!r})
        result = [transport.primal(p, q, cost).value, transport.dual(p, q, cost).value,
                  transport.lipschitz_dual(p, q, {now.bound!r})[1]]
        """,
        shows=[told.primal, told.dual, told.neighbours],
    )
    ui.source(transport.primal, transport.dual, transport.lipschitz_dual, references=ROOM.references)
