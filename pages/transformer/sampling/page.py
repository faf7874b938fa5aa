"""Text sampling: token by token, before and after truncation, many draws, and what the cache saves."""

from lab import ui
from lab.figures import basic
from lab.figures import tokens as figures
from lab.lenses import sampling
from modules.language import decoding
from modules.language.truncation import truncate, truncation_mask
from modules.transformer.attention import KVCache
from modules.transformer.gpt import GPT
from pages.transformer.sampling import lens
from pages.transformer.sampling.room import CACHE, DRAWS, ROOM, STEP

SEEDS = 200

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    prompt, cut = ui.compute(lens.beginning, now)
    model, card = ui.load(now.model), ui.card(now.model)
    if cut:
        ui.caption(f"The model sees the last {model.context} tokens of your text.")
trace = ui.compute(lens.drawn, now)
film = ui.film_of(now, len(trace))
at = trace[film.at].values
reel = lens.reel(trace, card, now.t, now.k, now.p)

# --- Pictures -----------------------------------------------------------------------------------

names = lens.names(trace.result[0], card)
if now.view != CACHE:
    with stage.picture:
        ui.figure(
            figures.strip(names, len(prompt), len(trace)), key="text", share=0.3, film=film,
            alt="The text so far: the beginning in blue, what was drawn in orange, the newest token framed",
        )  # fmt: skip
if now.view == STEP:
    with stage.picture:
        ui.figure(
            figures.truncations(reel), key="bars", share=0.7, film=film,
            alt="Probabilities of the likeliest next tokens before and after temperature, top-k and top-p",
        )  # fmt: skip
    with stage.foot:
        numbers = lens.numbers(trace, len(prompt))
        ui.machine(now.model, film=film, lit=["logits"] * len(trace), says=numbers)
        film.bar(captions=reel.captions, equations=reel.equations)
elif now.view == DRAWS:
    draws = sampling.draw(at["after"], 1000, now.seed)
    order = reel.ids[film.at]
    spread = sampling.p_values(at["after"], 1000, SEEDS)
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.draws(reel.names[film.at], draws.counts[order], draws.expected[order]),
                alt="Counts of 1,000 draws of the next token beside their expectation",
                key="drawn",
                share=0.7,
            )
        with right:
            ui.figure(
                basic.bars([f"{i / 10:.1f}" for i in range(10)], spread.histogram, ylabel="seeds",
                           xlabel="p-value from"),
                alt=f"How often each tenth of the p-values comes over {SEEDS} seeds", key="law", share=0.7,
            )  # fmt: skip
    with stage.foot:
        film.bar()
        ui.equation(draws.equation)
        ui.caption(
            f"{draws.note} Over {SEEDS} seeds {spread.below:.0%} fall below 0.05; "
            "a fair sampler's share is 5 %."
            if draws.freedom
            else "Only one token is left: there is nothing to test."
        )
elif not model.causal:
    stage.picture.info(
        "Without a causal mask a new token changes all earlier keys and values: nothing can be kept. "
        "Choose a model that was trained with one."
    )
elif now.count:
    with_cache, without = ui.compute(lens.with_cache, now), ui.compute(lens.without_cache, now)
    full = model.context - len(prompt) + 1  # steps before the window slides
    with stage.picture:
        ui.figure(
            figures.work(with_cache.scores, without.scores, "query-key products",
                         full + 1 if full < now.length else None),
            key="work", share=1.0, alt="Query-key dot products at each step, with and without the cache",
        )  # fmt: skip
    sums = {
        what: (sum(getattr(with_cache, field)), sum(getattr(without, field)))
        for what, field in (("tokens encoded", "tokens"), ("query-key products", "scores"),
                            ("multiply-adds", "multiply_adds"))
    }  # fmt: skip
    less = {what: f"{b / a:.1f} × fewer" for what, (a, b) in sums.items()}
    says = {"tokens": less["tokens encoded"], "attention": less["query-key products"]}
    with stage.foot:
        ui.machine(now.model, lit=["attention"], says=[says])
        same = float((with_cache.logits - without.logits).abs().max())
        ui.caption(
            f"The same text both ways; no logit differs by more than {same:.1e}. The cache holds "
            f"{with_cache.bytes / 1024:.0f} KiB. When {model.context} tokens are full, the window restarts "
            f"at its newest {model.context // 2}, which are encoded again."
        )
    with stage.below:
        ui.table(
            {"counted over the run": list(sums), "with cache": [a for a, _ in sums.values()],
             "without cache": [b for _, b in sums.values()]},
            alt="Counted operations with and without the cache", key="operations",
        )  # fmt: skip
else:
    stage.picture.info("Switch “Run it both ways and count” on to see what the cache saves.")

# --- Words --------------------------------------------------------------------------------------

token, i = names[len(prompt) + film.at], at["token"]
best = int(at["before"].argmax())
with stage.below:
    ui.notice(
        "At low temperature the text repeats itself, at high temperature words are misspelt. "
        "Top-p keeps many tokens where the entropy is high and few where it is low; top-k always keeps the "
        "same number."
    )
    ui.check(
        "Was the token drawn at this step the most probable one?",
        ["yes", "no"],
        "yes" if best == i else "no",
        f"The most probable was {lens.names(at['before'].argmax(), card)[0]} with "
        f"{float(at['before'][best]):.3f}; "
        f"drawn was {token} with {float(at['before'][i]):.3f}.",
        wrong={
            "yes": "A draw takes the most probable token only as often as its probability says.",
            "no": "A draw may well be the most probable token: it comes as often as its probability says.",
        },
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        import torch
        from lab import experiments, weights
        from lab.lenses import sampling, text

        place = experiments.find({now.model.partition("/")[0]!r}).weights
        model, coder = weights.load(place), text.tokenizer(weights.read_card(place))
        trace = sampling.trace(
            model, coder, torch.tensor({prompt.tolist()}), {now.length},
            temperature={now.t}, top_k={now.k or None}, top_p={now.p}, seed={now.seed},
        )
        result = trace.result[0]  # coder.decode(result) is the text
        """,
        shows=trace.result[0],
    )
    ui.source(decoding.stream, GPT.reader, truncate, truncation_mask, KVCache, references=ROOM.references)
