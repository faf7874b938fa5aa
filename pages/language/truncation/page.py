"""Truncation: temperature and the cuts on the next token, before and after."""

from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.figures import tokens as token_figures
from lab.lenses import sampling
from lab.lenses import text as texts
from modules.language.information import entropy
from modules.language.truncation import SamplingParams, truncate, truncation_mask
from pages.language.truncation import lens
from pages.language.truncation.room import ROOM

BARS = 24

stage = ui.stage(ROOM)
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
        "Hot, then 0.9": ui.scene("Heat first: the nucleus of 0.9 is measured after it, and is wide.", t=2.0),
        "0.9, then hot": ui.scene(
            "Cuts first: the nucleus is the cold one, and only then levelled out.", t=2.0, first="cuts"
        ),
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
    first = ui.choice("What comes first", ["temperature", "cuts"], key="first")
    seed = ui.number("Seed of 1,000 draws", 0, 999, 0, key="draws")
try:
    params = SamplingParams(temperature, top_k, top_p, min_p)
    story = lens.truncate_next(ui.next_token_model(name), prompt, params, first)
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
        "Entropy (nats)": f"{float(entropy(story.before)):.3f} → {float(entropy(story.after)):.3f}",
        "Kept": f"{kept} of {len(story.kept)}",
        "Mass kept": f"{float(story.mass):.3f}",
    }
)
stage.equation(
    rf"p_1 = {float(story.tempered[top]):.4f} \,/\, {float(story.mass):.4f} = {float(story.after[top]):.4f}",
    note="The likeliest token: its probability after temperature, over the mass of what is kept.",
)

# --- Words --------------------------------------------------------------------------------------

half = int((story.before.sort(descending=True).values.cumsum(0) < 0.5).sum()) + 1
coder = texts.tokenizer(ui.card(name))
with stage.below:
    ui.equation(draws.equation, draws.note)
    ui.notice(
        "Temperature bends the whole curve; the cuts only shorten its tail. Top-k keeps the same number of "
        "tokens everywhere; top-p and min-p keep many where the model is unsure and few where it is sure. "
        "What comes first matters: most libraries bend first, and a hot nucleus is a wide one."
    )
    ui.check(
        "How many of the likeliest tokens hold half of the mass, before any cut?",
        ["1", "2 or 3", "4 or more"],
        "1" if half == 1 else "2 or 3" if half <= 3 else "4 or more",
        f"It takes {half}.",
        wrong={
            "1": f"The likeliest alone holds {float(story.before.max()):.3f}.",
            "2 or 3": "Two or three are what half-sure looks like: this model is surer here, or less sure.",
            "4 or more": "Many tokens are possible, but not alike likely: the first few hold half.",
        },
        veils=("picture", "equation"),
    )
    if first == "temperature":
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.lenses import text
            from modules.language.truncation import SamplingParams, truncate
            place = {ui.spelled(name)}
            model, coder = weights.load(place), text.tokenizer(weights.read_card(place))
            prompt = text.read(coder, {coder.decode(prompt.tolist())!r})
            params = {params}
            story = truncate(model.next_log_probs(prompt[None])[0], params)
            result = story.after.sort(descending=True).values[:5]
            """,
            shows=story.after[order][:5],
        )
    ui.source(truncate, truncation_mask, lens.truncate_next, references=ROOM.references)
