"""Linear attention and random features: matrix and state, errors, costs, and the RBF kernel."""

from typing import Any

from lab import ui
from modules.transformer import linear_attention, random_features
from pages.transformer.linear_attention import compared, figures, gram, lens
from pages.transformer.linear_attention.room import COST, COUNTS, ERROR, EXAMPLE, LENGTHS, ROOM, STATE

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

pair: tuple[tuple[str, Any, str], tuple[str, Any, str]]
equations: list[str]
if now.view in (STATE, EXAMPLE):
    one = ui.compute(lens.walk if now.view == STATE else lens.example, now)
    n = len(one.y)
    film = ui.film_of(now, n, names=range(1, n + 1))
    captions, equations = lens.walk_captions(one), lens.walk_equations(one)
    if now.view == STATE:
        pair = (
            ("weights", figures.weights(one), "Weights of linear attention, row by row"),
            ("states", figures.states(one), "The state S and z after each token"),
        )
    else:
        pair = (
            ("outputs", figures.outputs(one), "Outputs of linear attention and of softmax attention"),
            ("sums", figures.sums(one), "S and z after each token"),
        )
    final = one.y[-1, 0]
    code = (
        f"one = lens.walk({now.features!r}, {now.n}, {now.seed})"
        if now.view == STATE
        else f"one = lens.example(lens.read_numbers({now.keys!r}), lens.read_numbers({now.values!r}))"
    )
    code, shows = f"{code}\nresult = one.y[:, 0].tolist()", one.y[:, 0].tolist()
    words = (
        "Both forms give the same output: the matrix with n² weights, and the state with one product after "
        "the other. The state keeps its size; what it cannot do is keep keys apart that have features in "
        "common. elu + 1 approximates nothing: its weights are flatter than those of the softmax."
    )
elif now.view == ERROR:
    found = ui.compute(compared.errors, now)
    film = ui.film_of(now, len(COUNTS))
    captions, equations = compared.error_captions(found), compared.error_equations(found)
    pair = (
        ("errors", figures.errors(found), "Mean error against softmax attention over the draws"),
        ("agreement", figures.agreement(found), "Approximated weights over exact ones"),
    )
    code = f"result = compared.errors({now.width}, {now.seed}).lines['positive']"
    shows = found.lines["positive"]
    words = (
        f"Mean |Δy| over {compared.TRIES} problems of 64 tokens with entries of N(0, 1). At an equal number "
        "of features pairs ±ω gain a factor 1 − e^{−s} of variance, s = ‖x + y‖²: nothing where s is large. "
        "The mean of all values looks at no key: what does not beat it has approximated nothing."
    )
elif now.view == COST:
    counted = ui.compute(compared.cost, now)
    film = ui.film_of(now, len(LENGTHS))
    captions = compared.cost_captions(counted)
    slopes = [counted.slope(name, largest) for largest in (False, True) for name in counted.adds]
    equations = [rf"\text{{slopes}}: \;\; n^{{{slopes[0]:.2f}}} \text{{ and }} n^{{{slopes[1]:.2f}}}"] * len(
        LENGTHS
    )
    pair = (
        ("adds", figures.costs(counted, False), "Multiply-adds over the length"),
        ("largest", figures.costs(counted, True), "Numbers in the largest tensor over the length"),
    )
    code, shows = "result = compared.cost().adds['linear']", counted.adds["linear"]
    words = (
        "Counted while one causal head of width 16 runs, with its projections. Linear attention goes through "
        "the tokens in chunks of 64: pairs within a chunk, a state between them. Its largest tensor is that "
        "of the keys and values of all tokens. Blockwise attention keeps the softmax and its n² products, "
        "and needs no n² numbers either: memory and time are two questions."
    )
else:
    grams = ui.compute(gram.gram, now)
    film = ui.film_of(now, len(COUNTS))
    captions = gram.gram_captions(grams, now.kind)
    equations = gram.gram_equations(now.gamma, now.printed and now.kind != "Trigonometric")
    pair = (
        ("gram-errors", figures.gram_errors(grams), "Mean error of the Gram matrix over the draws"),
        ("grams", figures.grams(grams), "The Gram matrix, exact and approximated"),
    )
    code = f"result = gram.gram({now.kind!r}, {now.gamma}, {now.printed}, {now.seed}).lines['positive']"
    shows = grams.lines["positive"]
    words = (
        "e^{−γ‖x−y‖²} = e^{−γ‖x‖²} e^{−γ‖y‖²} e^{2γ x·y}. With the printed e^{γ x·y} the features have "
        "another mean: a bias, which no average removes. Trigonometric features are bounded, and their "
        "variance does not depend on where the points lie; that of positive ones grows exponentially with "
        "‖x + y‖²."
    )

with stage.picture:
    ui.figures(*pair, film=film)
with stage.foot:
    film.bar(captions=captions, equations=equations)

with stage.below:
    ui.notice(words)
    ui.check(
        "A text becomes twice as long. What becomes of the state (S, z) of linear attention?",
        lens.OPTIONS, lens.OPTIONS[2], "It is a sum over tokens: M · D + M numbers, however many there are.",
        wrong=(
            "That is what the weights of all pairs do.",
            "That is what a cache of keys and values does.",
            "",
        ),
        veils=(),
    )  # fmt: skip
    ui.program(f"from pages.transformer.linear_attention import compared, gram, lens\n\n{code}", shows=shows)
    ui.source(
        linear_attention.linear_attention, linear_attention.added, random_features.log_features,
        random_features.rbf_features, random_features.variance, references=ROOM.references,
    )  # fmt: skip
