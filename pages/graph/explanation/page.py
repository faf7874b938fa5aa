"""Why this answer: a mask on the edges is fitted to one answer, and its best edges are put to the test."""

from lab import ui
from modules.graph import explainer
from pages.graph.explanation import figures, lens, words
from pages.graph.explanation.room import FIT, GRADIENT, MASK, ROOM, STEPS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
one = ui.compute(lens.explained, now)
edges = one.case.edge_index[:, one.pairs]
ends = [f"{a}-{b}" for a, b in edges.T.tolist()]

if now.view == FIT:
    film = ui.film_of(now, len(STEPS), values=STEPS)
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.graph(one, one.masks, MASK), key="mask", share=1.0, film=film,
                alt="The graph, edges as wide as their mask; green rings mark what was planted",
                data={"edge": ends, "mask": one.masks[film.at]},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.graph(one, figures.scaled(one.gradient[one.pairs]), GRADIENT, 270), key="gradient",
                share=0.5, alt="The same graph, edges as wide as their gradient",
                data={"edge": ends, "gradient": one.gradient[one.pairs]},
            )  # fmt: skip
            if one.case.x.shape[1] > 1:
                ui.figure(figures.features(one), key="features", share=0.5, film=film,
                          alt="The mask of the features")  # fmt: skip
            else:
                ui.figure(figures.fitting(one), key="fitting", share=0.5, film=film,
                          alt="Probability of the answer of the masked graph, step by step")  # fmt: skip
    with stage.foot:
        film.bar(captions=words.fit_captions(one), equations=words.fit_equations(one, now.size))
    shows, call = one.masks[film.at], f"result = one.masks[{film.at}]"
else:
    K = len(one.kept[now.by])
    film = ui.film_of(now, K, values=range(K))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.graph(one, figures.best(one, now.by), f"best by {now.by}"), key="best", share=1.0,
                film=film,
                alt=f"The graph with its {film.at} best edges thick, by {now.by}",
                data={"edge, best first": [ends[e] for e in one.order[now.by].tolist()]},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.deletion(one, now.by), key="deletion", share=1.0, film=film,
                alt="Probability of the answer with the best edges alone, and without them",
                data={"k": range(K), "kept": one.kept[now.by], "rest": one.rest[now.by]},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.keep_captions(one, now.by), equations=words.keep_equations(one, now.by))
    shows, call = one.kept[now.by], f"result = one.kept[{now.by!r}]"

with stage.below:
    ui.notice(words.notice(one))
    ui.program(
        f"""
        from lab import experiments, weights
        from pages.graph.explanation import lens

        experiment = experiments.find({now.model.partition("/")[0]!r})
        model, drawn = weights.load(experiment.weights), lens.own({now.drawn!r})
        one = lens.explained(model, experiment.card, {now.which}, drawn, {now.size}, {now.seed})
        {call}
        """,
        shows=shows,
    )
    ui.source(
        explainer.explain, explainer.objective, explainer.gradients, lens.explained,
        references=ROOM.references,
    )  # fmt: skip
