"""Earth mover: the least work that turns one heap into another, as a plan and as prices."""

from lab import ui
from lab.lenses import typed
from modules.adversarial import transport
from pages.adversarial.earth_mover import figures, lens
from pages.adversarial.earth_mover.room import ROOM, WAY

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    for text in (now.p, now.q):
        if wrong := typed.distribution(text, lens.MOST)[1]:
            ui.warning(wrong)
story = ui.compute(lens.story, now)
film = ui.film_of(now, len(WAY), names=[f"{share:.0%}" for share in WAY])

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.moving(story), key="moving", share=1.0, film=film,
            alt="Histogram p above, q below, and bands of mass from bins of p to bins of q; discs are the "
                "mass on its way",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.plan(story), key="plan", share=0.55,
            alt="The transport plan: a disc for the mass moved from one bin to another, over the matrix of "
                "costs",
            data={"from": [i for i in range(len(story.p)) for _ in story.p],
                  "to": [j for _ in story.p for j in range(len(story.p))], "mass": story.plan.reshape(-1)},
        )  # fmt: skip
        ui.figure(
            figures.prices(story), key="prices", share=0.45, alt="Dual prices of every bin",
            data={"bin": range(len(story.p)), "f": story.source, "h": story.target, "steps": story.steps},
        )  # fmt: skip
stage.metrics(
    {
        "Transport cost": f"{story.primal:.4f}",
        "Lipschitz dual": f"{story.neighbours:.4f}",
    }
)
with stage.foot:
    film.bar(captions=lens.captions(story), equations=lens.equations(story))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(
        "Mass is moved only where f + h equals the cost (complementary slackness): elsewhere moving it "
        "costs more than the prices pay. With the cost |i − j| a single function serves as both prices, h "
        "= −f, and it is 1-Lipschitz: the critic of a Wasserstein GAN. The maximum lies on that bound, so "
        f"the textbook's < 1 must be ≤ 1. The steepest step of f is {lens.slope(story):.3f}; W₁, the sum of "
        f"|cumsum(p − q)|, is {story.w1:.4f}."
    )
    ui.check(
        "How far does the optimal plan move the mass on average, for the cost |i − j|?",
        lens.OPTIONS,
        lens.option(story.w1),
        f"{story.w1:.3f} bins.",
        wrong=(
            "Mass crosses every bin between: add up the gaps of the cumulative sums.",
            "Neither the peaks nor the means give it: W₁ is Σ |F − G|, the gaps of the cumulative sums.",
            "Paths that cross can be uncrossed at no higher cost: the optimal plan moves mass less far.",
        ),
        veils=("picture", "equation", "numbers"),
    )
    ui.program(
        f"""
        import torch
        from modules.adversarial import transport

        p, q = torch.tensor({story.p.tolist()}), torch.tensor({story.q.tolist()})
        cost = transport.distances(len(p), {now.power!r})
        result = [transport.primal(p, q, cost).value, transport.dual(p, q, cost).value,
                  transport.lipschitz_dual(p, q, {now.bound!r})[1]]
        """,
        shows=[story.primal, story.dual, story.neighbours],
    )
    ui.source(transport.primal, transport.dual, transport.lipschitz_dual, references=ROOM.references)
