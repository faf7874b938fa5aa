"""The page Residual stream: terms sum to the logit, the lens ends in the prediction, scenes hold."""

import pytest
import torch
from opening import open_page
from torch import Tensor

from lab import experiments, weights
from lab.lenses import text as texts
from lab.lenses import tuned_lens
from modules.transformer.gpt import GPT
from modules.transformer.recorder import record_attention
from modules.transformer.stream import record_stream
from pages.transformer.residual import figures, lens, spoken
from pages.transformer.residual.room import DIFFERENCE, LIKELIEST, LOGIT, RANK, ROOM, TUNED, WHOLE, State

PLACE = experiments.ZOO / "gpt-pydocs"
CARD = weights.read_card(PLACE)
TEXT = "Raise ValueError if the"
OPTIONS = [
    {},
    {"bias": True, "tied": False, "positions": "rotary"},
    {"normalization": "rms", "kv_heads": 2, "feedforward": "gated"},
    {"bias": True, "eps": 0.1, "positions": "none"},
]


@pytest.fixture(scope="module")
def shipped() -> GPT:
    model = weights.load(PLACE)
    assert isinstance(model, GPT)
    return model


def drawn(**options: object) -> GPT:
    torch.manual_seed(0)
    model = (
        GPT(len(texts.tokenizer(CARD)), context=24, layers=3, heads=4, width=24, **options).double().eval()
    )  # type: ignore[arg-type]
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.3 * torch.randn_like(p))
    return model


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("target", [LIKELIEST, DIFFERENCE])
@torch.no_grad()
def test_terms_sum_to_the_logit(options: dict[str, object], target: str) -> None:
    model = drawn(**options)
    one = lens.contributions(model, CARD, TEXT, target)
    tokens = lens.read(model, CARD, TEXT).tokens
    ranked = model(tokens[None])[0, -lens.MOST :].sort(-1, descending=True)
    wanted = ranked.values[:, 0] - (ranked.values[:, 1] if target == DIFFERENCE else 0)
    assert torch.allclose(one.total, wanted, atol=1e-12)
    assert torch.equal(one.first, ranked.indices[:, 0]) and torch.equal(one.second, ranked.indices[:, 1])
    assert torch.allclose(one.running[:, -1], wanted, atol=1e-10)
    assert one.heads.shape == (len(wanted), 3, 4) and float(one.heads.abs().min()) > 0


@torch.no_grad()
def test_the_term_of_a_head_is_what_it_adds_through_the_last_norm() -> None:
    """By another road: the head is switched off, and what is missing of the stream is read alone."""
    model = drawn(bias=True)
    one = lens.contributions(model, CARD, TEXT, LIKELIEST)
    tokens = lens.read(model, CARD, TEXT).tokens
    block = model.blocks[1]

    def adds(factors: dict[torch.nn.Module, Tensor]) -> Tensor:
        with record_attention(factors), record_stream() as stream:
            model(tokens[None])
        return stream.values[block, "mixer"][0, -lens.MOST :]

    norm = model.final_norm
    for head in range(4):
        off = torch.ones(4, dtype=torch.float64)
        off[head] = 0
        missing = adds({}) - adds({block.mixer: off})
        with record_stream() as stream:
            model(tokens[None])
        x = stream.values[model.blocks[-1], "out"][0, -lens.MOST :]
        # σ of the whole stream: LN(x + δ) − LN(x) to first order, but for the change of σ
        inner = (missing - missing.mean(-1, keepdim=True)) / (
            x.var(-1, unbiased=False, keepdim=True) + 1e-5
        ).sqrt()
        wanted = (inner * norm.weight * model.embedding.weight[one.first]).sum(-1)
        assert torch.allclose(one.heads[:, 1, head], wanted, atol=1e-10)


@torch.no_grad()
def test_the_lens_ends_in_the_prediction(shipped: GPT) -> None:
    one = lens.grid(shipped, CARD, TEXT, WHOLE, LOGIT)
    tokens = lens.read(shipped, CARD, TEXT).tokens
    p = shipped(tokens[None])[0, -lens.MOST :].softmax(-1)
    assert torch.allclose(one.p[-1], p.max(-1).values, atol=1e-6)
    assert torch.equal(one.ids[-1], p.argmax(-1))
    assert (one.rank[-1] == 1).all() and torch.allclose(one.kl[-1], torch.zeros(lens.MOST), atol=1e-6)
    assert (one.kl[:-1] > 0).all() and one.kl.mean(1)[0] > one.kl.mean(1)[3]
    stream = list(shipped.residual_stream(tokens[None]))
    log_p = shipped.logits(shipped.final_norm(stream[2][0, -3])).log_softmax(-1)  # by hand, one cell
    assert (
        int(one.rank[2, -3]) == log_p.sort(descending=True).indices.tolist().index(int(one.ids[-1, -3])) + 1
    )
    assert torch.equal(lens.cell_values(one, RANK), 1 / one.rank)


@torch.no_grad()
def test_switching_off_is_what_the_weights_would_say() -> None:
    model, tokens = drawn(bias=True), None
    for part in lens.removable(model)[1:]:
        one = lens.grid(model, CARD | {"experiment": "drawn"}, TEXT, part, LOGIT)
        tokens = lens.read(model, CARD, TEXT).tokens
        name, _, number = part.rpartition(" ")
        copy = drawn(bias=True)
        block = copy.blocks[int(number) - 1]
        if name == "skips of block":
            block.residual = "none"
        else:
            last = block.mixer.proj if name == "attention" else block.feedforward.down
            for p in last.parameters():
                p.zero_()
        p = copy(tokens[None])[0, -lens.MOST :].softmax(-1)
        assert torch.allclose(one.p[-1], p.max(-1).values, atol=1e-12), part


def test_scenes_say_what_is_so(shipped: GPT) -> None:
    whole = lens.grid(shipped, CARD, TEXT, WHOLE, LOGIT)
    tokens = lens.read(shipped, CARD, TEXT).tokens[-lens.MOST :]
    assert (whole.ids[0] == tokens).float().mean() > 0.8  # the embedding reads the token itself
    for scene, least in (("Attention off", 2), ("MLP off", 6), ("Skips off", 6)):
        other = lens.grid(shipped, CARD, TEXT, ROOM.scenes[scene].state.without, LOGIT)
        assert int((other.ids[-1] != whole.ids[-1]).sum()) >= least, scene
    state = ROOM.scenes["Letters"].state
    place = experiments.ZOO / state.model
    letters, card = weights.load(place), weights.read_card(place)
    assert isinstance(letters, GPT)
    one = lens.grid(letters, card, state.text, WHOLE, state.reader)
    names = spoken.named(one, card)
    assert [row[-1] for row in names][1:] == ["i"] * 4 and names[0][-1] != "i"
    plain = spoken.named(lens.grid(letters, card, state.text, WHOLE, LOGIT), card)
    assert [row[-1] for row in plain][1:] != ["i"] * 4  # by the logit lens one layer later
    state = ROOM.scenes["Words"].state
    place = experiments.ZOO / state.model
    words, card = weights.load(place), weights.read_card(place)
    assert isinstance(words, GPT)
    names = spoken.named(lens.grid(words, card, state.text, WHOLE, LOGIT), card)
    assert [row[-1].strip(" ␣") for row in names][2:] == ["street"] * 3
    assert "street" not in names[1][-1]
    parts = lens.contributions(shipped, CARD, TEXT, DIFFERENCE)
    assert float(parts.heads[-1].min()) < 0 < float(parts.mlp[-1].max())


@torch.no_grad()
def test_both_lenses_are_read_side_by_side(shipped: GPT) -> None:
    """The scene Tuned lens: KL at each cell by hand; nearer at every layer, in the mean of the text."""
    one = lens.grid(shipped, CARD, TEXT, WHOLE, TUNED)
    plain = lens.grid(shipped, CARD, TEXT, WHOLE, LOGIT)
    assert torch.equal(one.kls[LOGIT], plain.kl) and torch.equal(one.kls[TUNED], one.kl)
    assert torch.equal(one.ids[-1], plain.ids[-1]) and one.kl[-1].abs().max() == 0
    fitted = tuned_lens.find(CARD)
    assert fitted is not None
    tokens = lens.read(shipped, CARD, TEXT).tokens
    stream = [x[0, 2 - lens.MOST] for x in shipped.residual_stream(tokens[None])]  # the third that is drawn
    x = stream[1] + fitted.lens.weight[1] @ stream[1] + fitted.lens.bias[1]
    p, q = (shipped.logits(shipped.final_norm(y)).softmax(-1) for y in (stream[-1], x))
    assert float(one.kl[1, 2]) == pytest.approx(float((p * (p / q).log()).sum()), abs=1e-4)
    assert int(one.ids[1, 2]) == int(q.argmax())
    assert (one.kl[:-1].mean(1) < plain.kl[:-1].mean(1)).all()
    assert (one.kl[:-1, -1] < plain.kl[:-1, -1]).all()
    assert (plain.ids[0] == tokens[-lens.MOST :]).float().mean() > 0.8  # the token itself; tuned, the next
    assert (one.ids[0] == tokens[-lens.MOST :]).float().mean() < 0.5
    tree = figures.divergences(one.kls)
    assert len(tree["data"]) == 2 and tree["data"][1]["y"].values.shape == one.kl[:-1].T.shape
    latex = spoken.of_grid(one, lens.read(shipped, CARD, TEXT), spoken.named(one, CARD), TUNED)[1]
    assert f"{float(one.kl[-2, 0]):.3f}" in latex[0] and "W_l x_l" in latex[0]


def test_a_model_without_a_tuned_lens_is_read_by_the_logit_lens() -> None:
    place = experiments.ZOO / "leakygpt-shakespeare"
    model, card = weights.load(place), weights.read_card(place)
    assert isinstance(model, GPT) and not lens.tunable("Logit lens", card)
    assert lens.tunable("Logit lens", CARD)
    one = lens.grid(model, card, "First Citizen", WHOLE, TUNED)
    assert list(one.kls) == [LOGIT] and one.held_out == {} and torch.equal(one.kl, one.kls[LOGIT])
    at = open_page("transformer/residual", model="leakygpt-shakespeare", reader=TUNED)
    assert not at.exception


def test_figures_have_a_frame_for_each_token(shipped: GPT) -> None:
    one, text = lens.grid(shipped, CARD, TEXT, WHOLE, LOGIT), lens.read(shipped, CARD, TEXT)
    names = spoken.named(one, CARD)
    tree = figures.lens(one.p, names, text.pieces, "probability")
    assert len(tree["layout"]["shapes"][0]["x0"].values) == len(text.pieces) == lens.MOST
    assert list(tree["data"][0]["text"][-1]) == [figures.shortened(n) for n in names[0]]  # the lowest row
    assert figures.shortened("exception") == "exce…" and figures.shortened("raise") == "raise"


@pytest.mark.parametrize("text", ["a", "é🙂x", "\n", "word " * 200])
def test_own_text(text: str) -> None:
    at = open_page("transformer/residual", text=text, view=State().view)
    assert not at.error and not at.exception
