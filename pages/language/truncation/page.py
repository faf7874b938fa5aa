"""Truncation: temperature and the cuts on the next token, before and after."""

from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.figures import tokens as token_figures
from lab.lenses import sampling
from modules.language.information import entropy
from modules.language.truncation import SamplingParams, truncate, truncation_mask
from pages.language.truncation import lens

BARS = 24
REFERENCES = [
    "Holtzman et al. 2019, The curious case of neural text degeneration, arXiv:1904.09751",
    "Nguyen et al. 2024, Turning up the heat: min-p sampling, arXiv:2407.01082",
]

stage = ui.stage(
    "Truncation",
    "Temperature bends the distribution of the next token; top-k, top-p and min-p cut its tail.",
    lenses=("sampling",),
)
stage.scenes(
    {
        "As trained": ui.scene("Nothing is bent or cut: what is drawn is what the model says.", p=1.0),
        "Nucleus 0.9": ui.scene("The likeliest tokens that together hold 0.9 stay; the rest is never drawn."),
        "Cold": ui.scene("At temperature 0.3 the likeliest token takes nearly all.", t=0.3, p=1.0),
        "Hot": ui.scene("At temperature 2 the bars level out: rare tokens are drawn often.", t=2.0, p=1.0),
        "Min-p 0.1, hot": ui.scene(
            "Hot, but a token needs a tenth of the likeliest one's probability.", t=2.0, p=1.0, m=0.1
        ),
        "Top-k 3": ui.scene("Three tokens stay, however sure or unsure the model is.", k=3, p=1.0),
    }
)

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.language_model("gpt-shakespeare")
    prompt, names = ui.beginning(name)
    temperature = ui.slider("Temperature", 0.0, 3.0, 1.0, key="t", step=0.05)
    top_k = ui.slider("Top-k", 0, 50, 0, key="k", help="0 keeps all tokens") or None
    top_p = ui.slider("Top-p", 0.01, 1.0, 0.9, key="p", step=0.01, help="1 keeps all tokens")
    min_p = ui.slider("Min-p", 0.0, 1.0, 0.0, key="m", step=0.01, help="0 keeps all tokens")
    seed = ui.number("Seed of 1,000 draws", 0, 999, 0, key="draws")
try:
    story = lens.truncate_next(
        ui.next_token_model(name), prompt, SamplingParams(temperature, top_k, top_p, min_p)
    )
except UserError as error:
    ui.stop(str(error))
order = sampling.ranked(story, BARS)
ranked = [names[i] for i in order.tolist()]
kept = int(story.kept.sum())
mass = sampling.mass(story, BARS)
draws = sampling.draw(story.after, 1000, seed)
top = int(order[0])

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    bars, aside = ui.columns([3, 2])
    with bars:
        ui.figure(
            token_figures.truncation(ranked, story.before[order], story.after[order], story.kept[order]),
            alt="Probabilities of the likeliest next tokens before and after temperature and cuts",
            data={"token": ranked, "before": story.before[order], "after": story.after[order]},
            share=1.0,
        )
    with aside:
        ui.figure(
            basic.curves({"mass": mass}, range(1, len(mass) + 1), mark=kept if kept <= BARS else None,
                         xlabel="tokens", ylabel="mass", markers=True),
            alt="Cumulative probability of the most probable tokens, and how many are kept", key="mass",
            data={"tokens": range(1, len(mass) + 1), "mass": mass}, share=0.5,
        )  # fmt: skip
        ui.figure(
            token_figures.draws(ranked, draws.counts[order], draws.expected[order], labels=False),
            alt="Counts of 1,000 draws of the next token beside their expectation",
            key="drawn",
            data={"token": ranked, "drawn": draws.counts[order], "expected": draws.expected[order]},
            share=0.5,
        )
stage.metrics(
    {
        "Entropy before (nats)": f"{float(entropy(story.before)):.3f}",
        "Entropy after (nats)": f"{float(entropy(story.after)):.3f}",
        f"Kept of {len(story.kept)}": f"{kept}",
        "Mass kept": f"{float(story.mass):.3f}",
    }
)
stage.equation(
    rf"p_1 = \frac{{{float(story.tempered[top]):.4f}}}{{{float(story.mass):.4f}}}"
    rf" = {float(story.after[top]):.4f}",
    note="The likeliest token: its probability after temperature, over the mass of what is kept.",
)

# --- Words --------------------------------------------------------------------------------------

half = int((story.before.sort(descending=True).values.cumsum(0) < 0.5).sum()) + 1
with stage.below:
    ui.equation(draws.equation, draws.note)
    ui.notice(
        "Temperature bends the whole curve; the cuts only shorten its tail. Top-k keeps the same number of "
        "tokens everywhere; top-p and min-p keep many where the model is unsure and few where it is sure."
    )
    ui.check(
        "How many of the likeliest tokens hold half of the mass, before any cut?",
        ["1", "2 or 3", "4 or more"],
        "1" if half == 1 else "2 or 3" if half <= 3 else "4 or more",
        f"It takes {half}.",
    )
    ui.source(truncate, truncation_mask, references=REFERENCES)
