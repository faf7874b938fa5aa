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

ui.header(
    "Truncation",
    "Temperature bends the distribution of the next token; top-k, top-p and min-p cut its tail.",
    lenses=("sampling",),
)

name = ui.language_model("gpt-shakespeare")
prompt, names = ui.beginning(name)
first, second, third, fourth = ui.columns(4)
with first:
    temperature = ui.slider("Temperature", 0.0, 3.0, 1.0, key="t", step=0.05)
with second:
    top_k = ui.slider("Top-k", 0, 50, 0, key="k", help="0 keeps all tokens") or None
with third:
    top_p = ui.slider("Top-p", 0.01, 1.0, 0.9, key="p", step=0.01, help="1 keeps all tokens")
with fourth:
    min_p = ui.slider("Min-p", 0.0, 1.0, 0.0, key="m", step=0.01, help="0 keeps all tokens")
try:
    story = lens.truncate_next(
        ui.next_token_model(name), prompt, SamplingParams(temperature, top_k, top_p, min_p)
    )
except UserError as error:
    ui.stop(str(error))
order = sampling.ranked(story, BARS)
ranked = [names[i] for i in order.tolist()]
ui.figure(
    token_figures.truncation(ranked, story.before[order], story.after[order], story.kept[order]),
    alt="Probabilities of the likeliest next tokens before and after temperature and cuts",
    data={"token": ranked, "before": story.before[order], "after": story.after[order]},
)
kept = int(story.kept.sum())
values = {
    "Entropy before (nats)": f"{float(entropy(story.before)):.3f}",
    "Entropy after (nats)": f"{float(entropy(story.after)):.3f}",
    f"Kept of {len(story.kept)}": f"{kept}",
    "Mass kept": f"{float(story.mass):.3f}",
}
for column, (label, number) in zip(ui.columns(4), values.items(), strict=True):
    with column:
        ui.metric(label, number)
mass = sampling.mass(story, BARS)
ui.figure(
    basic.curves({"mass": mass}, range(1, len(mass) + 1), mark=kept if kept <= BARS else None, height=320,
                 title="Mass of the likeliest, and the cut", xlabel="tokens", markers=True),
    alt="Cumulative probability of the most probable tokens, and how many are kept", key="mass",
    data={"tokens": range(1, len(mass) + 1), "mass": mass},
)  # fmt: skip
draws = sampling.draw(story.after, 1000, ui.number("Seed of 1,000 draws", 0, 999, 0, key="draws"))
ui.figure(
    token_figures.draws(ranked, draws.counts[order], draws.expected[order]),
    alt="Counts of 1,000 draws of the next token beside their expectation", key="drawn",
    data={"token": ranked, "drawn": draws.counts[order], "expected": draws.expected[order]},
)  # fmt: skip
top = int(order[0])
ui.equation(
    rf"p_1 = \frac{{{float(story.tempered[top]):.4f}}}{{{float(story.mass):.4f}}}"
    rf" = {float(story.after[top]):.4f}",
    note="The likeliest token: its probability after temperature, over the mass of what is kept.",
)
ui.equation(draws.equation, draws.note)
ui.notice(
    "Temperature bends the whole curve; the cuts only shorten its tail. Top-k keeps the same number of "
    "tokens everywhere; top-p and min-p keep many where the model is unsure and few where it is sure."
)
ui.presets(
    {
        "As trained": {"t": 1.0, "k": 0, "p": 1.0, "m": 0.0},
        "Nucleus 0.9": {"t": 1.0, "k": 0, "p": 0.9, "m": 0.0},
        "Min-p 0.1, hot": {"t": 2.0, "k": 0, "p": 1.0, "m": 0.1},
        "Top-k 3": {"t": 1.0, "k": 3, "p": 1.0, "m": 0.0},
    }
)
half = int((story.before.sort(descending=True).values.cumsum(0) < 0.5).sum()) + 1
ui.check(
    "How many of the likeliest tokens hold half of the mass, before any cut?",
    ["1", "2 or 3", "4 or more"],
    "1" if half == 1 else "2 or 3" if half <= 3 else "4 or more",
    f"It takes {half}.",
)
ui.source(truncate, truncation_mask, references=REFERENCES)
