"""Taxonomy: the sets that models of unsupervised learning lie in, and what each family fulfils."""

from lab import ui
from modules.latent import taxonomy
from modules.latent.taxonomy import KINDS, PROPERTIES, TABLE
from pages.latent.taxonomy import figures, lens
from pages.latent.taxonomy.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "All": ui.scene("Boxes in boxes; orange models have latent variables, in every box."),
        "Generative": ui.scene("k-means, PCA, autoencoder fade: they make no new data.", generative=True),
        "Probabilistic": ui.scene("The GAN fades: it draws, but has no p(x).", probabilistic=True),
        "Latent too": ui.scene("Autoregressive and energy-based models fade: no latent variable.",
                               probabilistic=True, latent=True),
        "Six wishes": ui.scene("No row is green throughout.", view="Wishes"),
        "Likelihood": ui.scene("Who wants an efficient likelihood keeps the flow alone.",
                               view="Wishes", w6=True),
        "Quality, too": ui.scene("Quality and likelihood: nobody is left.", view="Wishes", w2=True, w6=True),
        "VAE or flow": ui.scene("What parts the two, line by line.", view="VAE or flow"),
    }
)  # fmt: skip


def map_view() -> None:
    with stage.rail:
        wanted = [
            ui.toggle(label, False, key=key)
            for label, key in (("Generative", "generative"), ("Probabilistic", "probabilistic"),
                               ("Latent variables", "latent"), ("Normalised p(x)", "normalised"))
        ]  # fmt: skip
    kept = lens.asked(*wanted)
    latent = [name for name, kind in KINDS.items() if kind.latent]
    with stage.picture:
        ui.figure(
            figures.sets(lens.places(), latent, kept), key="sets", share=1.0,
            alt="Models in three boxes, one inside the other: unsupervised, generative, probabilistic",
            data={"model": list(KINDS), "latent": [kind.latent for kind in KINDS.values()]},
        )  # fmt: skip
    stage.metrics({"Models left": f"{len(kept)} of {len(KINDS)}"})
    with stage.below:
        ui.notice(
            "A generative model draws new examples; a probabilistic one has a density or a probability, "
            "which an energy-based one knows only up to a factor. Latent variables are another question: "
            "k-means has one and is not generative, an autoregressive model is probabilistic and has none."
        )
        ui.check(
            "Which of these draws examples but has no p(x)?", ["GAN", "VAE", "PCA", "flow"], "GAN",
            "It learns a sampler alone.",
            wrong={
                "VAE": "It has a p(x), though only bounded.",
                "PCA": "It has no p(x), and draws nothing either.",
                "flow": "It has a p(x), and an exact one.",
            },
            veils=("picture",),
        )  # fmt: skip
        show_source(f"[name for name in lens.asked{tuple(wanted)}]", kept)


def wish_view() -> None:
    with stage.rail:
        wanted = [p for i, p in enumerate(PROPERTIES) if ui.toggle(p.capitalize(), False, key=f"w{i + 1}")]
    kept = taxonomy.with_properties(*wanted)
    best, who = lens.most_wishes()
    with stage.picture:
        ui.figure(
            figures.wishes(TABLE, PROPERTIES, kept), key="wishes", share=1.0,
            alt="Four families of models and six properties: fulfilled, not fulfilled, in question",
            data={"family": list(TABLE), "marks": [" ".join(row) for row in TABLE.values()]},
        )  # fmt: skip
    stage.metrics({"Families left": ", ".join(kept) or "none", "Most wishes fulfilled": f"{best} of 6"})
    with stage.below:
        ui.notice(
            f"No family has all six. {' and '.join(who)} have most, {best}; a question mark is a dispute, "
            "n/a a question that cannot be asked of the model. The marks are judgements, no measurements."
        )
        ui.check(
            "Which family surely has sample quality and an efficient likelihood?", [*TABLE, "none"], "none",
            "Quality is had by GAN and diffusion, an efficient likelihood by the flow.",
            wrong={
                "GAN": "Its samples are good, but a likelihood it has none.",
                "VAE": "Its likelihood is a bound, and its samples are smooth.",
                "flow": "Its likelihood is exact and quick, but good samples are not sure.",
                "diffusion": "Its samples are good, but its likelihood takes many steps.",
            },
            veils=("picture", "numbers"),
        )  # fmt: skip
        show_source(f"taxonomy.with_properties(*{wanted})", kept)


def pair_view() -> None:
    with stage.picture:
        aspects, vae, flow = zip(*taxonomy.VAE_OR_FLOW, strict=True)
        ui.table({"": aspects, "VAE": vae, "flow": flow}, alt="What parts a VAE from a flow", height=330)
    with stage.below:
        ui.notice("One bounds its likelihood and is free in its decoder; the other is exact and must invert.")
        show_source("[row[1] for row in taxonomy.VAE_OR_FLOW]", list(vae))


def show_source(result: str, shows: list[str]) -> None:
    ui.program(
        f"""
        from modules.latent import taxonomy
        from pages.latent.taxonomy import lens

        result = len({result})
        """,
        shows=len(shows),
    )
    ui.source(taxonomy.with_properties, taxonomy.Kind, references=ROOM.references)


views = {"Map": map_view, "Wishes": wish_view, "VAE or flow": pair_view}
with stage.rail:
    view = ui.choice("View", list(views), key="view", as_list=True)
views[view]()
