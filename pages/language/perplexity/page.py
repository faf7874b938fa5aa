"""Perplexity and divergence: what a probability costs, token by token, and how far two distributions are."""

from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.lenses import counts
from lab.lenses.typed import commas
from modules.language import information as info
from pages.language.perplexity import figures, lens
from pages.language.perplexity.room import ROOM

TYPED = "typed probabilities"
STARTS = [(0.5, 0.2), (0.3, 0.2), (0.2, 0.6), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]
WORDS = "four words make this"
LETTERS = " ".join(WORDS.replace(" ", "␣"))


def pair(sees: str, p: list[float], q: list[float]):
    """A scene of two distributions."""
    given = {f"{name}{i}": v for name, row in (("p", p), ("q", q)) for i, v in enumerate(row)}
    return ui.scene(sees, show="Divergence", k=len(p), **given)


stage = ui.stage(ROOM)
stage.scenes(
    {
        "Three": ui.scene("Each token costs −log₂ of its probability; 2 to their mean is PP."),
        "Uniform": ui.scene("Three equally likely tokens: perplexity 3.", tokens="a b c", p="1/3 1/3 1/3"),
        "One zero": ui.scene("One token of probability 0, and the perplexity is ∞, however good the rest.",
                             p="0.7 0 0.6"),
        "As words": ui.scene("Four tokens of 6 bits, perplexity 64: 1.2 bits per character.", tokens=WORDS,
                             p="1/64 1/64 1/64 1/64"),
        "As letters": ui.scene("The same text in 20 tokens: perplexity 2.3, again 1.2 bits per character.",
                               tokens=LETTERS, p=" ".join(["0.435275"] * 20)),
        "Divergence": ui.scene("How far is Q from P? It depends on the direction, and is 0 only at P.",
                                 show="Divergence"),
        "Forbidden": pair("Q forbids what P allows: KL(P‖Q) is ∞, the other way it is one bit.",
                          [0.25, 0.25, 0.5], [0.5, 0.5, 0.0]),
        "Coins": pair("The curves show every coin Q, the dotted line this one.", [0.5, 0.5], [0.1, 0.9]),
        "Triangle": ui.scene("Click anywhere to move Q.", show="Divergence", **{"from": "the triangle"}),
    }
)  # fmt: skip


def perplexity_mode() -> None:
    names = ui.trained("language", counts.of_ngrams)
    with stage.rail:
        source = ui.choice("Probabilities from", [TYPED, *names], key="model", as_list=True)
        if source == TYPED:
            text = ui.text("Tokens, apart by spaces", "a b a", key="tokens", max_chars=200)
            numbers = ui.text("Probability of each", "0.7 0.5 0.6", key="p", max_chars=200, says=commas)
        else:
            example = "A man in an orange hat." if "multi30k" in source else "To be, or not to be"
            text = ui.text("Text", example, key="text", max_chars=300,
                           examples={"Likely": example, "Nonsense": "zx qk jv!"})  # fmt: skip
        unit = ui.choice("Logarithm", ["bits", "nats"], key="unit")
    try:
        if source == TYPED:
            scored = lens.typed(text, numbers)
        else:
            scored = lens.scored(counts.trained(ui.load(source), ui.card(source)), text)
    except UserError as error:
        ui.stop(str(error))
    bits = info.bits(scored.nats)
    with stage.picture:
        ui.figure(
            figures.surprisal(scored.tokens, bits.tolist(), bits.mean().item()),
            alt="Surprisal of each token in bits, and their mean", key="surprisal", share=1.0,
            data={"token": scored.tokens, "p": scored.p, "bits": bits},
        )  # fmt: skip
    mean = bits.mean().item() if unit == "bits" else scored.mean
    total = bits.sum().item() if unit == "bits" else scored.nats.sum().item()
    count = len(scored.tokens)
    stage.metrics(
        {
            f"Ĥ, {unit} per token": lens.spell(mean),
            "Perplexity": lens.spell(scored.perplexity),
            "Bits per character": lens.spell(scored.bits_per_character),
            "Tokens": f"{count}",
        }
    )
    base, log = ("2", r"\log_2") if unit == "bits" else ("e", r"\ln")
    stage.equation(
        rf"\hat H = -\tfrac1{{{count}}}\textstyle\sum_t {log} Q(x_t\mid x_{{<t}})"
        rf" = \tfrac{{{lens.latex(total)}}}{{{count}}} = {lens.latex(mean)},"
        rf"\quad \text{{PP}} = {base}^{{{lens.latex(mean)}}} = {lens.latex(scored.perplexity)}"
    )
    worst, why, options = lens.dearest(scored)
    with stage.below:
        ui.caption(
            f"Bits per character: {lens.spell(bits.sum().item())} bits over {scored.characters} characters. "
            "Perplexity does not depend on the base of the logarithm, but on what a token is. With a token ␣ "
            "the tokens spell the text."
        )
        ui.notice(
            "Perplexity is how many equally likely tokens the model was choosing among. One token of "
            "probability 0 makes it ∞, however good the rest. Q = P reaches 2 to the power of the entropy, "
            "which is 1 only where nothing is uncertain; a single text may be luckier than that. Between "
            "tokenizers compare bits per character."
        )
        ui.check(
            "Which of these tokens cost most?", list(options), worst, why, wrong=options,
            veils=("picture",),
        )  # fmt: skip
        if source == TYPED:
            ui.program(
                f"""
                from modules.language import information
                from pages.language.perplexity import lens

                nats = information.surprisal(lens.probabilities({numbers!r}))
                result = [float(nats.mean()) / information.LN2, float(information.perplexity(nats))]
                """,
                shows=[bits.mean().item(), scored.perplexity],
            )
        else:
            ui.program(
                f"""
                from lab import experiments, weights
                from lab.lenses import counts
from lab.lenses.typed import commas
                from modules.language import information

                place = experiments.ZOO / {source!r}
                counted = counts.trained(weights.load(place), weights.read_card(place))
                nats = counts.surprisals(counted, {text!r})
                result = [float(nats.mean()) / information.LN2, float(information.perplexity(nats))]
                """,
                shows=[bits.mean().item(), scored.perplexity],
            )
        ui.source(info.surprisal, info.perplexity, info.bits_per, references=ROOM.references)


def show_triangle(p, q, clickable: bool, way: str) -> None:
    """Every Q of three outcomes, coloured by its divergence; a click moves Q."""
    simplex = lens.simplex(p, reverse=way == "KL(Q‖P)")
    fig = figures.simplex(
        simplex.place, simplex.kl, simplex.q, (p @ lens.CORNERS).tolist(), (q @ lens.CORNERS).tolist(),
        lens.CORNERS, way,
    )  # fmt: skip
    alt = f"{way} of every distribution Q of three outcomes; it is 0 only at P"
    data = {f"Q({i + 1})": simplex.q[:, i] for i in range(3)} | {way: simplex.kl}
    if clickable:
        ui.clickable(fig, key="point", alt=alt, data=data, mark=False, share=1.0)
    else:
        ui.figure(fig, alt=alt, data=data, key="simplex", share=1.0)


def divergence_mode() -> None:
    with stage.rail:
        size = ui.slider("Outcomes", 2, len(STARTS), 3, key="k")
        triangle, way = False, ""
        if size == 3:
            triangle = ui.choice("Q from", ["sliders", "the triangle"], key="from") == "the triangle"
            way = ui.choice("Colour", ["KL(P‖Q)", "KL(Q‖P)"], key="way")
        clicked = ui.selection("point") if triangle else None
        first = [
            ui.slider(f"P({i + 1})", 0.0, 1.0, STARTS[i][0], key=f"p{i}", step=0.01) for i in range(size)
        ]
        if triangle:
            second = lens.weights_at(clicked, [q for _, q in STARTS[:3]])
            ui.caption("Q = (" + ", ".join(f"{v:.2f}" for v in second) + "), clicked in the triangle.")
        else:
            second = [
                ui.slider(f"Q({i + 1})", 0.0, 1.0, STARTS[i][1], key=f"q{i}", step=0.01) for i in range(size)
            ]
    try:
        p, q = lens.distribution(first), lens.distribution(second)
    except UserError as error:
        ui.stop(str(error))
    values = lens.measures(p, q)
    curves = lens.binary(float(p[0]))
    with stage.picture:
        left, right = ui.columns([5, 4])
        if size == 3:
            with left:
                show_triangle(p, q, triangle, way)
        with right if size == 3 else left:
            ui.figure(
                figures.pair(p.tolist(), q.tolist(), info.distinguishing_event(p, q).tolist()),
                alt="P and Q side by side", share=0.5 if size == 3 else 1.0, key="pair",
                data={"outcome": list(range(1, size + 1)), "P": p, "Q": q},
            )  # fmt: skip
        with right:
            ui.figure(
                basic.curves({n: v for n, v in curves.items() if n != "q"}, x=curves["q"], mark=float(q[0]),
                             xlabel=f"q, of coins ({float(p[0]):.2f}, …) and (q, …)", ylabel="nats"),
                alt="Divergences and total variation of a coin P from every coin Q", data=curves, key="coin",
                share=0.5 if size == 3 else 1.0,
            )  # fmt: skip
    forward, backward = values["KL(P‖Q)"], values["KL(Q‖P)"]
    stage.metrics({name: lens.spell(values[name]) for name in ("KL(P‖Q)", "KL(Q‖P)", "TV(P, Q)")})
    stage.equation(
        rf"H(P,Q) = H(P) + \mathrm{{KL}}(P\Vert Q) = {lens.latex(values['H(P)'])} + "
        rf"{lens.latex(forward)} = {lens.latex(values['H(P, Q)'])}\ \text{{nats}}"
    )
    close = abs(forward - backward) < 1e-9 or forward == backward
    with stage.below:
        if abs(sum(first) - 1) > 1e-9 or abs(sum(second) - 1) > 1e-9:
            ui.caption("What you drag are weights; P and Q are drawn divided by their sums.")
        ui.caption(
            f"The best perplexity on data from P is e^H(P) = {info.entropy(p).exp().item():.4f}; Q "
            f"costs {lens.spell(forward)} nats more. TV = {values['TV(P, Q)']:.4f} is the largest difference "
            "that P and Q give any event: the outcomes marked •."
        )
        ui.table(
            {
                "measure": list(values),
                "nats": [lens.spell(v) for v in values.values()],
                "bits": [lens.spell(v / info.LN2) if "TV" not in name else "–" for name, v in values.items()],
            },
            alt="Entropies, cross-entropy, divergences both ways and total variation", key="measures",
        )  # fmt: skip
        ui.notice(
            "The divergence is 0 only where Q = P, and it is not symmetric: KL(P‖Q) is ∞ as soon as Q "
            "forbids what P allows, KL(Q‖P) where P forbids what Q allows. Total variation never exceeds 1."
        )
        text = f"KL(P‖Q) = {lens.spell(forward)}, KL(Q‖P) = {lens.spell(backward)} nats."
        ui.check(
            "Which divergence is larger?", ["KL(P‖Q)", "KL(Q‖P)", "they are equal"],
            "they are equal" if close else "KL(P‖Q)" if forward > backward else "KL(Q‖P)", text,
            wrong=(
                "It weighs by P: where P is small, what Q has wrong hardly counts.",
                "It weighs by Q: where Q is small, what P has more hardly counts.",
                "A divergence is no distance: both ways are equal by chance, or at Q = P.",
            ),
            veils=("equation", "simplex", "coin"),
        )  # fmt: skip
        ui.program(
            f"""
            from modules.language import information
            from pages.language.perplexity import lens

            p, q = lens.distribution({first}), lens.distribution({second})
            result = [float(f(p, q)) for f in (
                information.kl, information.cross_entropy, information.total_variation)]
            """,
            shows=[forward, values["H(P, Q)"], values["TV(P, Q)"]],
        )
        ui.source(info.entropy, info.cross_entropy, info.kl, info.total_variation, references=ROOM.references)


with stage.rail:
    show = ui.choice("Show", ["Perplexity", "Divergence"], key="show")
{"Perplexity": perplexity_mode, "Divergence": divergence_mode}[show]()
