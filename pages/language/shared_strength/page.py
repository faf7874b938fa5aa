"""Shared strength: one sentence held back, and who still knows how it ends."""

from datamodules import grammar
from lab import ui
from lab.figures import shared_strength as figures
from lab.figures import word_vectors as maps
from modules.language.bengio import Bengio
from modules.language.ngram import NGram
from pages.language.shared_strength import lens
from pages.language.shared_strength.room import ROOM

TOYS: dict[str, grammar.Toy] = {"class and verb": "class", "verb alone": "verb"}
SHIPPED = {
    ("class", "learned"): "bengio-classes",
    ("class", "one-hot"): "onehot-classes",
    ("verb", "learned"): "bengio-verbs",
}
SEEDS = 10

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Class decides": ui.scene("The dog never sat on the mat: counts say chair, the network says mat."),
        "Verb decides": ui.scene("If the verb alone decides, backing off to it is enough.", toy="verb alone"),
        "One-hot": ui.scene("Without learned vectors the first layer makes its own.", inputs="one-hot"),
        "Another sentence": ui.scene(
            "No shipped network has this hole: press Train to see ten that do.",
            **{"hidden-class": "the woman stood on the stage"},
        ),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    toy = TOYS[ui.choice("The object depends on", list(TOYS), key="toy")]
    hidden = ui.choice(
        "Hidden sentence", grammar.sentences(toy), key=f"hidden-{toy}", default=grammar.HIDDEN, as_list=True
    )
    inputs = ui.choice("Words go in as", ["learned", "one-hot"], key="inputs")
    d = ui.slider(
        "Dimensions d", 2, 16, 8, key="d", disabled=inputs == "one-hot", help="of the learned vectors"
    )
    d = d if inputs == "learned" else 8
    trained = ui.job(
        f"Train {SEEDS} networks here",
        lambda: lens.train(toy, hidden, d, inputs == "one-hot", SEEDS),
        key="train",
        of=(toy, hidden, d, inputs),
    )
coder, asked = grammar.tokenizer(toy), lens.question(toy, hidden)


@ui.cached
def counted(toy, hidden):
    return lens.counted(toy, hidden)


# --- Networks: the shipped one, or those trained here; a film turns from one to the next ----------

name = SHIPPED.get((toy, inputs)) if hidden == grammar.HIDDEN and d == 8 else None
networks = list(trained or [])
if not networks and name is not None:
    networks = [lens.judge(ui.load(name), coder, toy, asked)]
film = ui.film(max(1, len(networks)), key="start", label="Network")
shown = networks[film.at] if networks else None

# --- Picture ------------------------------------------------------------------------------------

model = counted(toy, hidden)
others = [asked.wrong] if asked.wrong else [o for o in grammar.OBJECTS["animals"] if o != asked.right]
words = [asked.right, *others]
ids = coder.encode(" ".join(words))


def draw_answers(context, what):
    """Bars of what follows a context, by every model; the network's turn with the film."""
    p = lens.answers(model, shown.network if shown else None, coder, context)
    fig = figures.answers(words, {n: v[ids] for n, v in p.items()}, f"{context} … ({what})")
    each = [lens.answers(model, one.network, coder, context)["network"][ids].tolist() for one in networks]
    ui.figure(
        fig, alt=f"Probability of the next word after {context}, by counts, Kneser-Ney and the network",
        data={"word": words} | {n: v[ids] for n, v in p.items()}, key=what, film=film,
        share=0.55 if networks else 1.0, frames=figures.turning(fig, "network", each) if each else None,
    )  # fmt: skip


with stage.picture:
    left, right = ui.columns(2)
    with left:
        draw_answers(asked.context, "never seen")
    with right:
        draw_answers(asked.training_context, "seen")
    if networks:
        drawn, points = lens.maps(networks, coder, toy)
        fig, frames = maps.moving_map(points, drawn.words, drawn.kinds, drawn.names, at=film.at, room=(80, 6))
        ui.figure(
            fig,
            alt="The words in the plane of the two directions in which their vectors differ most, by class",
            key="map", data={"word": drawn.words, "x": drawn.points[:, 0], "y": drawn.points[:, 1]},
            share=0.45, film=film, frames=frames,
        )  # fmt: skip
kn = lens.answers(model, None, coder, asked.context)["Kneser-Ney"][ids]
latex = rf"P_{{\text{{KN}}}}(\text{{{asked.right}}}) = {float(kn[0]):.4f}"
if asked.wrong:
    sign = "<" if kn[0] < kn[1] else ">"
    latex += rf" {sign} P_{{\text{{KN}}}}(\text{{{asked.wrong}}}) = {float(kn[1]):.4f}"
end = rf",\quad P_{{\text{{network}}}}(\text{{{asked.right}}}) = "
if trained:
    right_ones = sum(t.right > 0.5 for t in trained)
    stage.metrics({f"Networks that are right, of {len(trained)}": f"{right_ones}"})
if networks:
    with stage.foot:
        film.bar(
            captions=[
                f"Mean cosine of two subjects of one class: {one.within:.2f}"
                + (f"; of two classes: {one.across:.2f}." if toy == "class" else ".")
                + (" One-hot inputs: the columns of the first layer." if inputs == "one-hot" else "")
                for one in networks
            ],
            equations=[f"{latex}{end}{one.right:.4f}" for one in networks],
        )
else:
    stage.equation(latex, "These settings have no shipped weights: train the networks to see their bars too.")

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.caption(f"All after “{asked.context}”. The table of 6-grams has no row for it at all.")
    if trained:
        ui.table(
            {
                "network": list(range(1, len(trained) + 1)),
                f"P({asked.right})": [f"{t.right:.4f}" for t in trained],
                "cosine within a class": [f"{t.within:.2f}" for t in trained],
                "across": [f"{t.across:.2f}" for t in trained],
            },
            alt="What each network answers, and how alike its words are", key="networks",
        )  # fmt: skip
    elif name is not None:
        card = ui.card(name)
        ui.caption(
            f"`{name}` ships the best of {len(card['seeds'])} starts; over all of them −ln P({asked.right}) "
            f"is {card['metrics']['test/nll']:.4f} ± {card['std']['test/nll']:.4f}."
        )
    ui.notice(
        "Where the verb alone decides, backing off to it is enough, and says nothing for networks. Where the "
        "class decides too, backing off sides with the majority; a network can put the words of a class "
        "together. One-hot inputs can do so too: the first layer turns them into vectors of its own."
    )
    best = words[int(kn.argmax())]
    ui.check(
        f"What does Kneser-Ney hold most probable after “{asked.context}”?",
        words,
        best,
        f"P = {float(kn.max()):.4f}: it backs off to what follows the verb, after whatever subject.",
        wrong={
            word: f"“{word}” has {p:.4f}: no row knows all that comes before, so the verb alone decides."
            for word, p in zip(words, kn.tolist(), strict=True)
        },
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        from datamodules import grammar
        from pages.language.shared_strength import lens
        model, coder = lens.counted({toy!r}, {hidden!r}), grammar.tokenizer({toy!r})
        p = lens.answers(model, None, coder, {asked.context!r})["Kneser-Ney"]
        result = p[coder.encode({" ".join(words)!r})]
        """,
        shows=kn,
    )
    ui.source(
        Bengio.forward, NGram.levels, lens.train,
        references=ROOM.references,
    )  # fmt: skip
