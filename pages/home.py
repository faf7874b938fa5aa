"""Home: what there is, by family and by lens."""

from lab import experiments, ui
from lab.results import test_metrics

FAMILIES = {
    "foundations": "Probability, divergences and Monte Carlo: what all other families stand on.",
    "autoregressive": "One variable after the other: each conditional depends on those before it.",
    "language": "Tokens, counts and word vectors; and how a text is made of next-token probabilities.",
    "recurrent": "A state that is carried along the sequence and updated at every step.",
    "transformer": "Every token asks, every earlier token answers; all of them at once.",
    "convolution": "The same small filter everywhere; depth lets a unit see further.",
    "graph": "Nodes send messages along edges and sum what they receive.",
    "latent": "A few hidden numbers behind every picture, and a network to turn them into pixels.",
    "flow": "An invertible map from noise to data, with its density exactly known.",
    "adversarial": "A forger and a critic that train each other.",
    "diffusion": "Add noise step by step; learn to take it away again.",
}
LENSES = {
    "attention": ("Attention", "Who looks at whom."),
    "receptive_field": ("Receptive field", "Which inputs can reach this unit."),
    "latent": ("Latent space", "What the hidden numbers mean."),
    "sampling": ("Sampling", "Watch generation happen, step by step."),
}

ui.header("Lectern", "Deep generative models, really trained, to be looked into one step at a time.")

pages = ui.pages()
catalog = experiments.catalog().values()

ui.markdown("### Four lenses")
for column, (lens, (title, question)) in zip(ui.columns(4), LENSES.items(), strict=True):
    with column, ui.container(border=True, height="stretch"):
        ui.markdown(f"##### {title}\n{question}")
        for page in pages:
            if lens in page.lenses:
                ui.page_link(page)

ui.markdown("### Families")
present = {p.family for p in pages} | {e.family for e in catalog}
for family in (f for f in FAMILIES if f in present):
    with ui.container(border=True):
        text, links = ui.columns([3, 2])
        with links:
            for page in pages:
                if page.family == family:
                    ui.page_link(page)
        with text:
            ui.markdown(f"##### {family.capitalize()}\n{FAMILIES[family]}")
            results = [
                f"**{e.name}** "
                + (test_metrics(e.card["metrics"], e.card.get("std")) if e.card else "not trained yet")
                for e in catalog
                if e.family == family
            ]
            ui.caption(" · ".join(results))

ui.notice(
    "Every model here was trained by one command, `lab fit <experiment>`, and has a card with its data, "
    "settings and test results: **Models** shows them. **Train** starts a run of your own, which then stands "
    "beside these. Every control is part of the link: copy it and others see the same."
)
