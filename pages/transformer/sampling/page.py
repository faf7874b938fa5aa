"""Text sampling: token by token, before and after truncation, many draws, and what the cache saves."""

from lab import ui
from lab.figures import basic
from lab.figures import tokens as figures
from lab.lenses import sampling as lens
from lab.lenses import text as texts
from modules.language import decoding
from modules.language.truncation import SamplingParams, truncate, truncation_mask
from modules.transformer.attention import KVCache
from modules.transformer.gpt import GPT
from pages.transformer.sampling.room import ROOM

EXAMPLES = {"Romeo": "ROMEO:\n", "To be": "To be, or not to ", "Nonsense": "zzzz qqqq"}
DOCS = {"Code": "for i in range(", "Prose": "Return a list of ", "Nonsense": "zzzz qqqq"}
VIEWS = ["This step", "Draw 1,000", "Cache"]
BARS = 20  # tokens drawn as bars, by rank
SEEDS = 200
HOTTEST, LONGEST = 3.0, 120  # temperature, new tokens

stage = ui.stage(ROOM)
stage.scenes(
    {
        "As trained": ui.scene("What is drawn is what the model says: words, names and some nonsense."),
        "Greedy": ui.scene("Temperature 0 always takes the likeliest token: no chance left.", t=0.0, step=20),
        "Careful": ui.scene("Temperature 0.8, and only the likeliest 0.9 of the mass may be drawn.",
                            t=0.8, p=0.9, step=20),
        "Hot": ui.scene("At temperature 2 the bars level out, and the words fall apart.", t=2.0, step=11),
        "Hot, but cut to 5": ui.scene("Hot, but only the five likeliest letters may be drawn.", t=2.0, k=5,
                                      step=20),
        "Draw 1,000": ui.scene("A fair sampler's p-values are level over seeds: small ones come by chance.",
                               view="Draw 1,000", t=2.0),
        "Cache": ui.scene("Without the cache all pairs are asked anew; with it only the new token asks.",
                          view="Cache"),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    view = ui.choice("View", VIEWS, key="view")
    name = ui.experiment("Model", family="transformer", key="model", default="gpt-shakespeare")
    model, card = ui.load(name), ui.card(name)
    coder = texts.tokenizer(card)
    examples = DOCS if texts.corpus(card) == "pydocs" else EXAMPLES
    prompt, _ = ui.beginning(name, model.context, examples, max_chars=2000)
    temperature = ui.slider("Temperature", 0.0, HOTTEST, 1.0, key="t", step=0.05,
                            help="0 always takes the most probable token")  # fmt: skip
    top_k = ui.slider("Top-k", 0, 100, 0, key="k", help="0 keeps all tokens") or None
    top_p = ui.slider("Top-p", 0.01, 1.0, 1.0, key="p", step=0.01, help="1 keeps all tokens")
    length = ui.slider("New tokens", 1, LONGEST, 60, key="length")
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
    count = view != "Cache" or ui.toggle("Run it both ways and count", True, key="count")


@ui.cached
def run(name, prompt, length, temperature, top_k, top_p, seed):
    model = ui.load(name)
    coder = texts.tokenizer(ui.card(name))
    return lens.trace(
        model, coder, prompt, length, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed
    )


@ui.cached
def cost(name, prompt, length, cache, seed):
    return lens.cost(ui.load(name), prompt, length, cache, seed)


trace = run(name, prompt, length, temperature, top_k, top_p, seed)
ui.ahead(
    run,
    *((name, prompt, length, v, top_k, top_p, seed) for v in ui.near(temperature, 0.0, HOTTEST, 0.05)),
    *((name, prompt, v, temperature, top_k, top_p, seed) for v in ui.near(length, 1, LONGEST, 1)),
    (name, prompt, length, temperature, min((top_k or 0) + 1, 100), top_p, seed),
    *((name, prompt, length, temperature, top_k, v, seed) for v in ui.near(top_p, 0.01, 1.0, 0.01)),
)
settings = SamplingParams(temperature, top_k, top_p)
film = ui.film(len(trace), key="step", label="Token", seconds=0.3)
now = trace[film.at].values
reel = lens.reel(trace, settings, texts.shown(coder.tokens), BARS)

# --- Pictures -----------------------------------------------------------------------------------

names = texts.names(coder, trace.result[0])
if view != "Cache":
    with stage.picture:
        ui.figure(
            figures.strip(names, len(prompt), len(prompt) + film.at), key="text", share=0.3, film=film,
            frames=figures.strip_frames(names, len(prompt), len(trace)),
            alt="The text so far: the beginning in blue, what was drawn in orange, the newest token framed",
            data={"position": list(range(1, len(names) + 1)), "token": names},
        )  # fmt: skip
if view == "This step":
    with stage.picture:
        ui.figure(
            figures.truncation(reel.names[film.at], reel.before[film.at], reel.after[film.at],
                               reel.kept[film.at], cut=True),
            key="bars", share=0.7, film=film, frames=figures.truncation_frames(reel),
            alt="Probabilities of the likeliest next tokens before and after temperature, top-k and top-p",
            data={"token": reel.names[film.at], "before": reel.before[film.at],
                  "after": reel.after[film.at], "kept": reel.kept[film.at]},
        )  # fmt: skip
    with stage.foot:
        film.bar(captions=reel.captions, equations=reel.equations)
elif view == "Draw 1,000":
    draws = lens.draw(now["after"], 1000, seed)
    order = reel.ids[film.at]
    law = lens.seeds(now["after"], 1000, SEEDS)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(
                figures.draws(reel.names[film.at], draws.counts[order], draws.expected[order]),
                alt="Counts of 1,000 draws of the next token beside their expectation", key="drawn",
                share=0.7,
                data={"token": reel.names[film.at], "drawn": draws.counts[order],
                      "expected": draws.expected[order]},
            )  # fmt: skip
        with right:
            ui.figure(
                basic.bars([f"{i / 10:.1f}" for i in range(10)], law.histogram, ylabel="seeds",
                           xlabel="p-value from"),
                alt=f"How often each tenth of the p-values comes over {SEEDS} seeds", key="law", share=0.7,
                data={"from": [i / 10 for i in range(10)], "seeds": law.histogram},
            )  # fmt: skip
    with stage.foot:
        film.bar()
        ui.equation(draws.equation)
        ui.caption(
            f"{draws.note} Over {SEEDS} seeds {law.below:.0%} fall below 0.05; a fair sampler's share is 5 %."
            if draws.freedom else "Only one token is left: there is nothing to test."
        )  # fmt: skip
elif not model.causal:
    stage.picture.info(
        "Without a causal mask a new token changes all earlier keys and values: nothing can be kept. "
        "Choose a model that was trained with one."
    )
elif count:
    with_cache, without = (cost(name, prompt, length, cache, seed) for cache in (True, False))
    full = model.context - len(prompt) + 1  # steps before the window slides
    with stage.picture:
        ui.figure(
            figures.work(with_cache.scores, without.scores, "query-key products",
                         full + 1 if full < length else None),
            key="work", share=1.0, alt="Query-key dot products at each step, with and without the cache",
            data={"step": list(range(1, length + 1)), "with cache": with_cache.scores,
                  "without cache": without.scores},
        )  # fmt: skip
    sums = {
        what: (sum(getattr(with_cache, field)), sum(getattr(without, field)))
        for what, field in (("tokens encoded", "tokens"), ("query-key products", "scores"),
                            ("multiply-adds", "multiply_adds"))
    }  # fmt: skip
    stage.metrics({f"{what}, times less": f"{b / a:.1f}" for what, (a, b) in sums.items()})
    with stage.foot:
        same = float((with_cache.logits - without.logits).abs().max())
        ui.caption(
            f"The same text both ways; largest difference of any logit {same:.1e}. The cache holds "
            f"{with_cache.bytes / 1024:.0f} KiB. When {model.context} tokens are full, the window restarts "
            f"at its newest {model.context // 2}, which are encoded once more."
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

token, i = names[len(prompt) + film.at], now["token"]
best = int(now["before"].argmax())
with stage.below:
    ui.notice(
        "Low temperature repeats itself, high temperature misspells: the bars say why. "
        "Both cuts look at the same distribution over the full vocabulary; top-p keeps many tokens where the "
        "model is unsure and few where it is sure, top-k always keeps the same number."
    )
    ui.check(
        "Was the token drawn at this step the most probable one?",
        ["yes", "no"], "yes" if best == i else "no",
        f"The most probable was {texts.shown([coder.tokens[best]])[0]} with "
        f"{float(now['before'][best]):.3f}; "
        f"drawn was {token} with {float(now['before'][i]):.3f}.",
        wrong={
            "yes": "A draw takes the most probable token only as often as its probability says.",
            "no": "A draw may well be the most probable token: it comes as often as its probability says.",
        },
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        import torch
        from lab import experiments, weights
        from lab.lenses import sampling, text

        place = experiments.find({name.partition("/")[0]!r}).weights
        model, coder = weights.load(place), text.tokenizer(weights.read_card(place))
        trace = sampling.trace(
            model, coder, torch.tensor({prompt.tolist()}), {length},
            temperature={temperature}, top_k={top_k}, top_p={top_p}, seed={seed},
        )
        result = trace.result[0]  # coder.decode(result) is the text
        """,
        shows=trace.result[0],
    )
    ui.source(decoding.stream, GPT.reader, truncate, truncation_mask, KVCache, references=ROOM.references)
