"""Two strategies: two texts of one model side by side, and how each repeats itself."""

from lab import ui
from lab.errors import UserError
from lab.lenses import text as texts
from modules.language.decoding import stream
from pages.language.two_strategies import figures, lens
from pages.language.two_strategies.room import ROOM

STEP = 20  # tokens
TEMPERATURES = [0.0, 0.4, 0.8, 1.0, 1.3, 2.0]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Greedy and nucleus": ui.scene("The likeliest token each time, and draws from a nucleus of 0.9."),
        "A loop": ui.scene(
            "Counts: greedy and beam fall into a loop (marked), token for token.",
            trained="ngram-shakespeare", one="greedy", other="beam of 4", tokens=120,
        ),
        "Beam and ancestral": ui.scene(
            "The beam's text is far likelier than one that is drawn: its line lies below.",
            one="beam of 4", other="ancestral",
        ),
        "Cold and hot": ui.scene(
            "Temperature 0.5 plays safe; at 1.5 the words fall apart.",
            one="temperature 0.5", other="temperature 1.5",
        ),
        "Temperatures": ui.scene(
            "From 0 to 2: colder texts surprise the model less, hotter ones more.",
            trained="bengio-shakespeare", sweep=True,
        ),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.language_model("gpt-shakespeare")
    coder = texts.tokenizer(ui.card(name))
    left = ui.choice("One", list(lens.STRATEGIES), key="one", default="greedy", as_list=True)
    right = ui.choice("Other", list(lens.STRATEGIES), key="other", default="nucleus 0.9", as_list=True)
    prompt, names = ui.beginning(name)
    most = lens.most_tokens(coder)
    length = ui.slider("New tokens", STEP, most, min(60, most), key="tokens", step=STEP)
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
    sweep = ui.toggle("Temperatures from 0 to 2", False, key="sweep", help="takes seconds")


@ui.cached
def continued(name, prompt, strategy, length, seed):
    shorter = None
    if lens.grows(strategy) and length > STEP:
        shorter = continued(name, prompt, strategy, length - STEP, seed)
    return lens.run(ui.next_token_model(name), prompt, strategy, length, seed, shorter)


try:
    results = [continued(name, prompt, strategy, length, seed) for strategy in (left, right)]
except UserError as error:
    ui.stop(str(error))
human = ui.card(name)["metrics"].get("test/nll")
longer, others = min(length + STEP, most), [how for how in lens.STRATEGIES if how not in (left, right)]
ui.prefetch(
    continued, *((name, prompt, how, longer, seed) for how in (left, right)),
    *((name, prompt, how, length, seed) for how in others),
)  # fmt: skip

# --- Picture ------------------------------------------------------------------------------------


def show_texts(film):
    """Both texts as they are written, and how much they surprise the model."""
    written = [[names[i] for i in result.tokens.tolist()] for result in results]
    sides = zip(ui.columns(2), (left, right), written, results, strict=True)
    for n, (column, strategy, tokens, result) in enumerate(sides, start=1):
        with column:
            ui.figure(
                figures.text(tokens, result.repeated.tolist(), strategy),
                alt=f"The continuation by {strategy}; what has come before is marked",
                data={"token": tokens, "nats": result.nats},
                key=f"text-{n}", share=0.58, film=film,
                frames=figures.written(tokens, result.repeated.tolist()),
            )  # fmt: skip
    means = [lens.running(result.nats) for result in results]
    lines = dict(zip(("left", "right"), means, strict=True))
    fig, frames = figures.surprisal(lines, human)
    ui.figure(
        fig, alt="Mean surprisal of both texts so far, beside that of people", key="surprisal", share=0.42,
        data={"t": list(range(1, length + 1)), **lines}, film=film, frames=frames,
    )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[
                f"Left adds “{a}” at {results[0].nats[t]:.2f} nats, right “{b}” at {results[1].nats[t]:.2f}."
                for t, (a, b) in enumerate(zip(*written, strict=True))
            ],
            equations=[
                rf"\overline{{-\log P(x_t \mid x_{{<t}})}} = {float(means[0][t]):.3f}"
                rf"\ \text{{(left)}},\quad {float(means[1][t]):.3f}\ \text{{(right)}}"
                for t in range(length)
            ],
        )


def show_temperatures(result):
    """Repetition, entropy and surprisal, as far as they are measured."""
    ui.figure(
        figures.against_temperature(TEMPERATURES, result["distinct"], result["entropy"], result["nats"]),
        alt="Repetition, entropy and surprisal of own text against temperature", key="temperatures",
        data={"temperature": TEMPERATURES[: len(result["nats"])], **result}, share=1.0,
    )  # fmt: skip


def both(what, digits=3):
    return " / ".join(f"{what(result):.{digits}f}" for result in results)


numbers = {
    "Different 8-grams": both(lambda r: r.distinct, 2),
    "Entropy": both(lambda r: float(r.entropy.mean())),
}
if sweep:
    with stage.picture:
        outcome = ui.job(
            "Measure",
            lambda: lens.sweep(ui.next_token_model(name), prompt, TEMPERATURES, 50, seed=seed),
            key="sweeping", of=(name, prompt.tolist(), seed), show=show_temperatures, at_once=True,
        )  # fmt: skip
        if outcome is not None:
            show_temperatures(outcome)
    stage.metrics({"People": f"{human:.3f}"} if human else {})
else:
    film = ui.film(length, key="step", seconds=0.1, default=length - 1, label="Token")
    stage.metrics(numbers | ({"People": f"{human:.3f}"} if human else {}))
    with stage.picture:
        show_texts(film)

# --- Words --------------------------------------------------------------------------------------

a, b = (r.distinct for r in results)
with stage.below:
    judged = [
        f"Text by {how} surprises the model {lens.against(result.nats, human)}. "
        for how, result in {left: results[0], right: results[1]}.items()
        if human
    ]
    ui.notice(
        "".join(judged)
        + "What is marked lies in a run of 8 tokens that has come before. Surprisal is under the model as it "
        "is, before any filter; for people it is that of text the model has never seen."
    )
    ui.check(
        "Which text repeats itself more?",
        ["One", "Other", "neither"],
        "neither" if a == b else "One" if a < b else "Other",
        f"Different runs of 8 tokens: {a:.2f} and {b:.2f}.",
        wrong={
            "One": "Not one phrase counts but all runs of 8: in the first text at least as many differ.",
            "Other": "Not one phrase counts but all runs of 8: in the other text at least as many differ.",
            "neither": "All runs of 8 are counted: of one of the texts more come back.",
        },
        veils=("picture", "numbers"),
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import text
        from pages.language.two_strategies import lens
        place = {ui.spelled(name)}
        model, coder = weights.load(place), text.tokenizer(weights.read_card(place))
        prompt = text.read(coder, {coder.decode(prompt.tolist())!r})
        texts = [lens.run(model, prompt, how, {length}, {seed}) for how in {(left, right)}]
        result = [float(one.nats.mean()) for one in texts]
        """,
        shows=[float(result.nats.mean()) for result in results],
    )
    ui.source(stream, lens.repeats, references=ROOM.references)
