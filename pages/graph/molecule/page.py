"""Molecule: what each atom adds to the answer, what a cut bond does to it, two molecules, and training."""

from typing import Any

from lab import ui
from modules.graph.gin import GIN
from modules.graph.graphs import GraphClassifier, pooled
from modules.graph.pooled_gcn import PooledGCN
from pages.graph.molecule import figures, learning, lens, reading, training, words
from pages.graph.molecule.room import ADDS, ATOMS, BONDS, CHANGES, EPOCHS, GCN, ISOMERS, ROOM, TRAINING

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

if now.view == ATOMS:
    one = ui.compute(lens.atoms, now)
    N = len(one.molecule.symbols)
    film = ui.film_of(now, N + 1)

    def pressed(x: float, y: float) -> dict[str, Any]:
        """The molecule after a click on an atom."""
        if now.test:
            return {}
        n = figures.atom_at(one.molecule, x, y)
        if now.click == ADDS:
            new = reading.grown(one.molecule, n, now.element)
        elif now.click == CHANGES:
            new = reading.changed(one.molecule, n, now.element)
        else:
            new = reading.removed(one.molecule, n)
        return ui.moved(now, molecule=reading.written(new))

    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.button_figure(
                figures.contributions(one), key="atoms", share=1.0, film=film, on_press=pressed, whole=False,
                alt="The molecule, its atoms in the colours of their contributions",
                data={"element": one.molecule.symbols, "contribution": one.answer.parts},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.waterfall(one), key="waterfall", share=1.0, film=film,
                alt="β and the contributions one above the other, up to the logit",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.atom_captions(one), equations=words.atom_equations(one))
    with stage.below:
        ui.notice(
            f"The network says {one.answer.p:.3f} for mutagenic. As the last layer is linear and pooling a "
            f"{'mean' if one.answer.mean else 'sum'}, the logit is a sum over atoms, with no rest; an atom's "
            "state has heard of its neighbours, so that its share is not its own doing alone. MUTAG has 188 "
            "nitroaromatic compounds: of other molecules the networks know nothing."
        )
        ui.check(
            "Mean pooling: the molecule twice, without a bond between. What becomes of the logit?",
            ["It doubles", "It stays", "It halves"], "It stays",
            "Twice as many atoms, each with half the share.",
            wrong={"It doubles": "It would under sum pooling, but for β.",
                   "It halves": "Each share halves, and there are twice as many."},
            veils=(),
        )  # fmt: skip
        name = now.model.partition("/")[0]
        call, shows = "lens.answer(model, card, molecule).parts", one.answer.parts
        shown = one.molecule
elif now.view == BONDS:
    two = ui.compute(lens.cuts, now)
    B = len(two.molecule.bonds)
    film = ui.film_of(now, B + 1)
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(figures.cut(two), key="cut", share=1.0, film=film,
                      alt="The molecule; the bond that is cut is dotted")  # fmt: skip
        with right:
            ui.figure(
                figures.probabilities(two), key="probabilities", share=1.0, film=film,
                alt="Probability of mutagenic without each bond, by three networks",
                data={"bond": ["none", *(f"{a}-{b}" for a, b in two.molecule.bonds)],
                      **{figures.NAMES[net]: values for net, values in two.p.items()}},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.cut_captions(two), equations=words.cut_equations(two))
    with stage.below:
        ui.notice(
            "Each bond is cut alone; the atoms stay. A network without bonds does not notice. How far the "
            "others move says what they learned from 150 molecules, and nothing about chemistry."
        )
        name = GCN
        call, shows = "lens.answer(model, card, molecule).p", two.p[GCN][0]
        shown = two.molecule
elif now.view == ISOMERS:
    three = ui.compute(lens.pair, now)
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(figures.two(three), key="two", share=1.0, alt="Two molecules")
        with right:
            ui.figure(
                figures.compared(three), key="compared", share=1.0,
                alt="Probability of mutagenic of both molecules, by three networks",
                data={"network": list(three.p), "first": [p for p, _ in three.p.values()],
                      "second": [p for _, p in three.p.values()]},
            )  # fmt: skip
    stage.equation(words.pair_equation(three), words.pair_caption(three))
    with stage.below:
        ui.notice(
            "Isomers have the same atoms and other bonds. A mean over atoms without messages is a function "
            "of the counts alone. Messages tell apart what colour refinement tells apart: not every two."
        )
        name = GCN
        call, shows = "lens.answer(model, card, molecule).p", three.p[GCN][0]
        shown = three.first
else:
    four = ui.compute(training.epochs, now)
    film = ui.film_of(now, len(EPOCHS))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                learning.molecules(four), key="learning", share=1.0, film=film,
                alt="Two molecules, their atoms in the colours of their contributions at this epoch",
            )  # fmt: skip
        with right:
            ui.figure(
                learning.curves(four), key="epochs", share=1.0, film=film,
                alt="p of ether of both molecules and the test accuracy, epoch by epoch",
                data={"epoch": EPOCHS, "first": four.p[0], "second": four.p[1], "test": four.accuracy},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.epoch_captions(four), equations=words.epoch_equations(four))
    with stage.below:
        ui.notice(words.epoch_notice(four))
        ui.check(
            "Atoms alone learn from the same molecules. What do they say in the end?",
            ["one half of each", "right of ethers alone", "right of large ones"], "one half of each",
            "Each ether has an alcohol with the same atoms.",
            wrong={"right of ethers alone": "What raises p of an ether raises that of its isomer as much.",
                   "right of large ones": "Both classes have the same sizes."},
            veils=(),
        )  # fmt: skip
        texts = reading.written(four.first), reading.written(four.second)
        ui.program(
            f"""
            from pages.graph.molecule import reading, training

            first, second = (reading.parse(text) for text in {texts!r})
            result = training.epochs({now.learner!r}, {now.seed}, first, second).p[:, {film.at}]
            """,
            shows=four.p[:, film.at],
        )
        ui.source(training.learned, PooledGCN, GIN, references=ROOM.references)

if now.view != TRAINING:
    with stage.below:
        ui.program(
            f"""
            from lab import experiments, weights
            from pages.graph.molecule import lens, reading

            experiment = experiments.find({name!r})
            model, card = weights.load(experiment.weights), experiment.card
            molecule = reading.parse({reading.written(shown)!r})
            result = {call}
            """,
            shows=shows,
        )
        ui.source(lens.answer, PooledGCN, GraphClassifier.forward, pooled, references=ROOM.references)
