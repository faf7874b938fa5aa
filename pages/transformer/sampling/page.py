"""Text sampling: token by token, before and after truncation, many draws, and what the cache saves."""

from lab import ui
from lab.figures import tokens as figures
from lab.lenses import sampling as lens
from lab.lenses import text as texts
from modules.language import decoding
from modules.language.truncation import SamplingParams, truncate, truncation_mask
from modules.transformer.attention import KVCache
from modules.transformer.gpt import GPT

EXAMPLES = {"Romeo": "ROMEO:\n", "To be": "To be, or not to ", "Nonsense": "zzzz qqqq"}
DOCS = {"Code": "for i in range(", "Prose": "Return a list of ", "Nonsense": "zzzz qqqq"}
BARS = 24  # tokens drawn as bars, by rank

ui.header(
    "Text sampling",
    "The model gives every token of its vocabulary a probability; one is drawn, and it starts again.",
)

# --- Controls -----------------------------------------------------------------------------------

name = ui.experiment("Model", family="transformer", key="model", default="gpt-shakespeare")
model, card = ui.load(name), ui.card(name)
coder = texts.tokenizer(card)
examples = DOCS if texts.corpus(card) == "pydocs" else EXAMPLES
prompt, _ = ui.beginning(name, model.context, examples, max_chars=2000)

V = model.vocab_size
first, second, third = ui.columns(3)
with first:
    temperature = ui.slider(
        "Temperature", 0.0, 3.0, 1.0, key="t", step=0.05, help="0 always takes the most probable token"
    )
with second:
    top_k = ui.slider("Top-k", 0, 100, 0, key="k", help="0 keeps all tokens") or None
with third:
    top_p = ui.slider("Top-p", 0.01, 1.0, 1.0, key="p", step=0.01, help="1 keeps all tokens")
first, second = ui.columns(2)
with first:
    length = ui.slider("New tokens", 1, 120, 60, key="length")
with second:
    seed = ui.number("Seed", 0, 9999, 0, key="seed")


@ui.cached
def run(name, prompt, length, temperature, top_k, top_p, seed):
    model = ui.load(name)
    coder = texts.tokenizer(ui.card(name))
    return lens.trace(
        model, coder, prompt, length, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed
    )


trace = run(name, prompt, length, temperature, top_k, top_p, seed)
step = ui.stepper(len(trace), key="step")

# --- Pictures -----------------------------------------------------------------------------------

now = trace[step]
value = now.values
P = len(prompt)
names = texts.names(coder, trace.result[0])
current = P + step
ui.figure(
    figures.strip(names, P, current), alt=f"The text after {step + 1} drawn tokens",
    data={"position": list(range(1, len(names) + 1)), "token": names},
)  # fmt: skip
ui.caption(now.caption)

bars, many, work = ui.tabs(["This step", "Draw 1,000", "What the cache saves"])
story = truncate(value["logits"], SamplingParams(temperature, top_k, top_p))
order = lens.ranked(story, BARS)
ranked = texts.names(coder, order)
drawn = (order == value["token"]).nonzero().flatten().tolist()
with bars:
    ui.figure(
        figures.truncation(
            ranked,
            value["before"][order],
            value["after"][order],
            value["kept"][order],
            drawn[0] if drawn else None,
        ),
        alt="Probabilities of the most probable tokens before and after temperature, top-k and top-p",
        data={
            "token": ranked, "before": value["before"][order], "after": value["after"][order],
            "kept": value["kept"][order],
        },
    )  # fmt: skip
    for column, (label, number) in zip(
        ui.columns(4),
        {
            "Entropy before (nats)": f"{value['entropy']:.3f}",
            "Entropy after (nats)": f"{value['entropy_after']:.3f}",
            f"Kept of {V} tokens": f"{int(value['kept'].sum())}",
            "Mass kept": f"{value['mass']:.3f}",
        }.items(),
        strict=True,
    ):
        with column:
            ui.metric(label, number)
with many:
    draws = lens.draw(value["after"], 1000, seed)
    ui.figure(
        figures.draws(ranked, draws.counts[order], draws.expected[order]),
        alt="Counts of 1,000 draws of the next token beside their expectation",
        data={"token": ranked, "drawn": draws.counts[order], "expected": draws.expected[order]},
    )
    ui.equation(draws.equation, draws.note)


@ui.cached
def cost(name, prompt, length, cache, seed):
    return lens.cost(ui.load(name), prompt, length, cache, seed)


with work:
    if not model.causal:
        ui.caption(
            "Without a causal mask a new token changes all earlier keys and values: nothing can be kept."
        )
    elif ui.toggle("Run it both ways and count", False, key="count"):
        with_cache, without = (cost(name, prompt, length, cache, seed) for cache in (True, False))
        full = model.context - P + 1  # steps before the window slides
        ui.figure(
            figures.work(
                with_cache.scores, without.scores, "query-key products", full + 1 if full < length else None
            ),
            alt="Query-key dot products at each step, with and without the cache",
            data={
                "step": list(range(1, length + 1)), "with cache": with_cache.scores,
                "without cache": without.scores,
            },
        )  # fmt: skip
        ui.table(
            {
                "counted over the run": ["tokens encoded", "query-key products", "multiply-adds"],
                "with cache": [sum(with_cache.tokens), sum(with_cache.scores), sum(with_cache.multiply_adds)],
                "without cache": [sum(without.tokens), sum(without.scores), sum(without.multiply_adds)],
                "times less": [
                    f"{sum(b) / sum(a):.1f}"
                    for a, b in (
                        (with_cache.tokens, without.tokens),
                        (with_cache.scores, without.scores),
                        (with_cache.multiply_adds, without.multiply_adds),
                    )
                ],
            },
            alt="Counted operations with and without the cache",
            key="operations",
        )
        same = float((with_cache.logits - without.logits).abs().max())
        ui.caption(
            f"The same text both ways; largest difference of any logit {same:.1e}. The cache holds "
            f"{with_cache.bytes / 1024:.0f} KiB. When {model.context} tokens are full, the window restarts "
            f"at its newest {model.context // 2}, which are encoded once more."
        )

# --- Words --------------------------------------------------------------------------------------

token = names[current]
i = value["token"]
if temperature > 0:
    z = float(value["logits"][i])
    ui.equation(
        rf"p = \frac{{\operatorname{{softmax}}(z/{temperature:g})_i}}{{\text{{mass kept}}}}"
        + now.equation.removeprefix("p"),
        note=f"The token drawn is {token}, its logit z = {z:.3f}; softmax over all {V} tokens gives the "
        f"numerator {float(value['tempered'][i]):.4f}; what the cuts leave has mass {value['mass']:.4f}. "
        f"The tokens drawn so far have log-probability {value['total_after']:.2f} nats under these settings.",
    )
else:
    ui.equation(
        rf"\arg\max_i z_i = {i}",
        note=f"Temperature 0 takes the most probable token: {token}, logit {float(value['logits'][i]):.3f}.",
    )
ui.notice(
    "Low temperature repeats itself, high temperature misspells: the bars say why. "
    "Both cuts look at the same distribution over the full vocabulary; top-p keeps many tokens where the "
    "model is unsure and few where it is sure, top-k always keeps the same number."
)
ui.presets(
    {
        "Greedy": {"t": 0.0, "k": 0, "p": 1.0},
        "Careful": {"t": 0.8, "k": 0, "p": 0.9},
        "As trained": {"t": 1.0, "k": 0, "p": 1.0},
        "Hot": {"t": 2.0, "k": 0, "p": 1.0},
        "Hot, but cut to 5": {"t": 2.0, "k": 5, "p": 1.0},
    }
)
best = int(value["before"].argmax())
answer = "yes" if best == i else "no"
ui.check(
    "Was the token drawn at this step the most probable one?",
    ["yes", "no"],
    answer,
    f"The most probable was {texts.shown([coder.tokens[best]])[0]} with {float(value['before'][best]):.3f}; "
    f"drawn was {token} with {float(value['before'][i]):.3f}.",
)
ui.source(
    decoding.stream,
    GPT.reader,
    truncate,
    truncation_mask,
    KVCache,
    references=[
        "Holtzman et al. 2019, The curious case of neural text degeneration, arXiv:1904.09751",
        "Fan et al. 2018, Hierarchical neural story generation, arXiv:1805.04833",
        "[UDL] §12.7.3, [LLM] part 4",
    ],
)
