"""word2vec live: a window slides, the gradient moves the vectors, the loss nears its floor."""

from lab import ui
from lab.errors import UserError
from lab.figures import basic, theme
from lab.figures import word_vectors as figures
from modules.language.word2vec import CBOW, SkipGram
from pages.language.word2vec import lens, live
from pages.language.word2vec.room import ROOM

TEXTS = {
    "Coffee": "I drank hot coffee this morning. She drank hot tea this morning. He drank cold tea today.",
    "Cats": "the cat sat on the mat the dog sat on the rug the cat chased the dog the dog chased the cat",
    "Short": "I drank hot coffee this morning",
}
LOSSES = {"softmax": "full softmax", "negative": "negative sampling"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "A window slides": ui.scene("Each place moves the given vector (blue) along its gradient (green)."),
        "Two hundred epochs": ui.scene(
            "Play: from one start, under two losses, words that share company gather.",
            view="Training", epoch=60,
        ),
        "Two tables": ui.scene("Each word has two vectors: v where it is given, u where it is predicted.",
                               view="Training", lanes="tables", epoch=60),
        "CBOW": ui.scene("Four neighbours predict the centre; each gets a quarter of the gradient.",
                         method="CBOW", step=3),
        "Large steps": ui.scene("At rate 2 each place throws its vector far.", rate=2.0, step=8),
        "Small steps": ui.scene("At rate 0.1 the move can hardly be seen: one pass is far from enough.",
                                rate=0.1, step=8),
        "The floor": ui.scene("With 16 dimensions the loss reaches the floor; with one it stays far above.",
                              view="Loss and its floor", d=16, rate=0.3),
    }
)  # fmt: skip

with stage.rail:
    view = ui.choice("View", ["One window", "Training", "Loss and its floor"], key="view", as_list=True)
    text = ui.text("Text", TEXTS["Coffee"], key="text", examples=TEXTS, max_chars=400)
    method = ui.choice("Method", ["skip-gram", "CBOW"], key="method")
    k = ui.slider("Words on each side k", 1, 4, 2, key="k")
    d = ui.slider("Dimensions d", 2, 16, 2, key="d")
    rate = ui.slider("Learning rate", 0.05, 2.0, 0.5, key="rate", step=0.05)


@ui.cached
def slid(text, k, d, rate, method):
    return lens.slide(text, k, d, rate, method)


@ui.cached
def passes(text, k, d, rate, method):
    return lens.passes(text, k, d, rate, method)


@ui.cached
def by_size(text, k, method):
    return lens.by_size(text, k, method, lens.SIZES)


@ui.cached
def trained(text, k, d, rate, method, loss, negatives):
    return live.train(text, k, d, rate, method, loss, negatives)


try:
    trace = slid(text, k, d, rate, method)
except UserError as error:
    ui.stop(str(error))
words, floor = trace.result["words"], trace.result["floor"]
vocabulary = trace.result["vocabulary"]
entropy = r"H(O \mid C)" if method == "skip-gram" else r"H(C \mid O_1 \dots O_m)"


def show_window():
    film = ui.film(len(trace), key="step", seconds=1.0)
    steps = [step.values for step in trace.steps]
    names = [[words[n] for n in step["given"]] for step in steps]
    given = [f"v of {n[0]}" if len(n) == 1 else f"mean v of {len(n)} words" for n in names]
    with stage.picture:
        fig, frames, rows = figures.strip(
            words, [s["given"] for s in steps], [s["predicted"] for s in steps], film.at
        )
        share = min(0.42, 0.07 * rows)
        ui.figure(fig, alt="The text with the given and the predicted words", data={"word": words},
                  key="strip", share=share, film=film, frames=frames)  # fmt: skip
        fig, frames = figures.update(lens.flat(trace), film.at, vocabulary, given)
        ui.figure(
            fig, alt="The vectors u of all words, and the arrow along which the given vector moves",
            data={"word": vocabulary, "p": steps[film.at]["p"]}, key="update", share=1 - share,
            film=film, frames=frames,
        )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[f"{s.caption} Loss {s.values['loss']:.4f} nats, floor {floor:.4f}."
                      for s in trace.steps],
            equations=[s.equation for s in trace.steps],
        )  # fmt: skip
    last = steps[-1]["loss"]
    with stage.below:
        ui.caption(
            "Δv: the mean u of what came, less the mean u that the model expected, times the rate; in CBOW "
            "each given word gets its share. The loss is of the whole text, and cannot fall below the "
            "conditional entropy of the text's own windows."
            + (f" Drawn along the two longest directions of the {d}." if d > 2 else "")
        )
        ui.check(
            "Is the loss at the last place below that at the first?", ["yes", "no"],
            "yes" if last < steps[0]["loss"] else "no", f"It goes from {steps[0]['loss']:.4f} to {last:.4f}.",
            wrong=lens.LOWER,
        )  # fmt: skip
        ui.program(
            f"""
            from pages.language.word2vec import lens

            window = lens.read({text!r}, k={k})
            model = lens.model(window, d={d}, method={method!r})
            places = list(zip(window.centres, window.contexts, strict=True))
            for centre, around in places[:{film.at}]:
                lens.learn(model, centre, around[around >= 0], rate={rate:g})
            result = [lens.loss(model, window), window.floor({method!r})]
            """,
            shows=[float(steps[film.at]["loss"]), floor],
        )


def show_training():
    with stage.rail:
        pair = ui.choice("Lanes", ["losses", "tables"], key="lanes")
        K = ui.slider("Noise words K", 1, 15, 5, key="K")
    runs = {loss: trained(text, k, d, rate, method, loss, K) for loss in LOSSES}
    epochs = range(0, live.EPOCHS + 1, live.EVERY)
    film = ui.film(len(epochs), key="epoch", seconds=0.06, label="Epoch", values=epochs)
    if pair == "losses":
        tables = {LOSSES[loss]: (run.v, theme.INPUT) for loss, run in runs.items()}
    else:
        run = runs["softmax"]
        tables = {"v, given": (run.v, theme.INPUT), "u, predicted": (run.u, theme.OUTPUT)}
    drawn = live.lanes([table for table, _ in tables.values()])
    with stage.picture:
        for column, points, (name, (_, color)) in zip(ui.columns(2), drawn, tables.items(), strict=True):
            with column:
                fig, frames = figures.lane(points, live.trails(points), vocabulary, film.at, color, name)
                ui.figure(
                    fig, alt=f"The vectors of all words during training, with their trails: {name}",
                    data={"word": vocabulary, "x": points[film.at, :, 0], "y": points[film.at, :, 1]},
                    key=f"lane-{name}", share=1.0, film=film, frames=frames,
                )  # fmt: skip
    one, other = (runs[loss].nll.tolist() for loss in LOSSES)
    with stage.foot:
        film.bar(
            captions=[f"Full softmax {a:.3f} nats, negative sampling {b:.3f}."
                      for a, b in zip(one, other, strict=True)],
            equations=[rf"{a:.4f} = {floor:.4f} + {a - floor:.4f} \ge {entropy}" for a in one],
        )  # fmt: skip
    with stage.below:
        ui.caption(
            "One step of Adam on the whole text an epoch, at a tenth of the rate; both losses start from the "
            f"same vectors. Negative sampling compares each pair with {K} words of noise; its nats are those "
            "of the softmax that it estimates."
        )
        ui.check(
            f"Which loss stands nearer to the floor after {live.EPOCHS} epochs?", list(LOSSES.values()),
            LOSSES["softmax" if one[-1] <= other[-1] else "negative"],
            f"Full softmax {one[-1]:.4f}, negative sampling {other[-1]:.4f}, floor {floor:.4f} nats.",
            wrong=live.NEARER, veils=("equation",),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.language.word2vec import live

            text = {text!r}
            result = []
            for loss in ("softmax", "negative"):
                run = live.train(text, {k}, {d}, {rate:g}, {method!r}, loss, negatives={K})
                result.append(float(run.nll[-1]))
            """,
            shows=[one[-1], other[-1]],
        )


def show_floor():
    losses, reached = passes(text, k, d, rate, method), by_size(text, k, method)
    n = len(losses)
    colors = {"loss": theme.OUTPUT, "floor": theme.HIDDEN}
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                basic.curves({"loss": losses, "floor": [floor] * n}, xlabel=f"passes, d = {d}", ylabel="nats",
                             markers=True, colors=colors),
                alt="Loss after each pass, with the floor", data={"pass": list(range(n)), "loss": losses},
                share=1.0,
            )  # fmt: skip
        with right:
            ui.figure(
                basic.curves({"loss": (lens.SIZES, reached), "floor": (lens.SIZES, [floor] * 5)},
                             xlabel="dimensions d", ylabel="nats", markers=True, colors=colors),
                alt="Loss that each number of dimensions reaches, with the floor", share=1.0,
                data={"d": lens.SIZES, "loss": reached},
            )  # fmt: skip
    stage.metrics({f"After {p}": f"+{float(losses[p]) - floor:.4f}" for p in lens.PASSES})
    stage.equation(
        rf"\text{{loss}} \ge {entropy} = {floor:.4f},\qquad d = {lens.SIZES[-1]}: {float(reached[-1]):.4f}",
        note="Above: nats over the floor after so many passes, place by place. Right: 400 steps of Adam.",
    )
    with stage.below:
        ui.check(
            "How many passes bring the loss within 0.1 nats of the floor?",
            ["1", "2 to 5", "6 to 20", "more"], lens.passes_needed(losses, floor + 0.1),
            f"After 20 passes it is {float(losses[-1]) - floor:.4f} above.", wrong=lens.NEEDED,
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.language.word2vec import lens

            text = {text!r}
            floor = lens.read(text, k={k}).floor({method!r})
            losses = lens.passes(text, k={k}, d={d}, rate={rate:g}, method={method!r})
            result = [float(losses[p]) - floor for p in {lens.PASSES}]
            """,
            shows=[float(losses[p]) - floor for p in lens.PASSES],
        )


{"One window": show_window, "Training": show_training, "Loss and its floor": show_floor}[view]()

with stage.below:
    ui.notice(
        "Two tables: v for words that are given, u for words that are predicted. Skip-gram gives the centre "
        "and predicts each neighbour; CBOW gives the mean of the neighbours, each gets 1/m of the gradient. "
        "The floor is counted: how uncertain the text itself leaves what is predicted by what is given."
    )
    ui.source(
        lens.learn, SkipGram if method == "skip-gram" else CBOW,
        references=ROOM.references,
    )  # fmt: skip
