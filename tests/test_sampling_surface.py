"""One surface of sampling of autoregressive and language models, former calls, and what models print."""

import inspect
from typing import Any

import contracts
import pytest
import torch
from members import MEMBERS, make

from lab import renames
from modules.autoregressive.gated_pixelcnn import GatedPixelCNN
from modules.autoregressive.made import MADE
from modules.autoregressive.nade import NADE
from modules.autoregressive.orders import named, resolve_order
from modules.base import Sampler
from modules.language.bengio import Bengio
from modules.language.ngram import NGram
from modules.language.table import TableLM
from modules.language.word2vec import SkipGram
from modules.transformer.gpt import GPT

FAMILIES = ("modules.autoregressive.", "modules.language.", "modules.transformer.")
OURS = [
    (name, number)
    for name, rows in MEMBERS.items()
    if name.startswith(FAMILIES)
    for number, row in enumerate(rows)
    if Sampler in row.offers
]
HEAD = ["y", "temperature", "generator"]  # in this order wherever they exist
TEXTS = {
    "GPT": lambda: GPT(3, context=6, layers=1, heads=2, width=8),
    "Bengio": lambda: Bengio(3, context=2, dim=4, hidden=5),
    "n-gram": lambda: counted(),
    "table": lambda: TableLM.from_joint(torch.rand(3, 3, 3, 3, generator=contracts.seeded(1))),
}
texts = pytest.mark.parametrize("make_text", TEXTS.values(), ids=TEXTS)


def counted() -> NGram:
    model = NGram(vocab_size=3, order=2, smoothing="add")
    model.fit(torch.randint(3, (20, 9), generator=contracts.seeded()))
    return model


@pytest.mark.parametrize(("name", "number"), OURS)
@pytest.mark.parametrize("method", ["sample", "sample_trace"])
def test_arguments_have_the_same_names_in_the_same_order(name: str, number: int, method: str) -> None:
    parameters = inspect.signature(getattr(make(name, number), method)).parameters
    names = [key for key in parameters if key != "n"]
    assert [key for key in names if key in HEAD] == names[: sum(key in HEAD for key in names)]
    assert [key for key in HEAD if key in names] == [key for key in names if key in HEAD]
    assert all(parameters[key].kind is inspect.Parameter.KEYWORD_ONLY for key in names)
    assert not {"seed", "label", "params"} & set(names) and ("n" in parameters) == (method == "sample")


def test_language_models_take_the_same_arguments() -> None:
    every = [inspect.signature(model.sample) for model in (GPT, Bengio, NGram, TableLM)]
    assert len({str(signature) for signature in every}) == 1
    of_trace = [inspect.signature(model.sample_trace) for model in (GPT, Bengio, NGram, TableLM)]
    assert len({str(signature) for signature in of_trace}) == 1


@texts
def test_texts_have_the_length_that_is_asked_for(make_text: Any) -> None:
    """Also behind a prompt, which is not returned; a trace draws the same text."""
    model = make_text().double() if make_text is not TEXTS["n-gram"] else make_text()
    prompt = torch.tensor([1, 2])
    for start in (None, prompt):
        knobs = {"length": 2, "prompt": start, "temperature": 0.7, "top_k": 2}
        drawn = model.sample(1, generator=contracts.seeded(3), **knobs)
        assert drawn.shape == (1, 2)
        trace = model.sample_trace(generator=contracts.seeded(3), **knobs)
        assert torch.equal(trace.result[:, -2:], drawn)
        if start is not None:
            assert torch.equal(trace.result[0, :2], prompt)
    assert model.sample(5, generator=contracts.seeded()).shape == (5, model.sample_length)


def test_behind_an_end_there_are_only_ends() -> None:
    """Also where all texts end before their length: every draw has the same shape."""
    model = Bengio(3, context=2, dim=4, hidden=5, eos=1)
    with torch.no_grad():
        model.output.bias[1] = 50.0  # the end comes at once
    assert model.sample(4, length=6).tolist() == [[1] * 6] * 4


@pytest.mark.parametrize(
    ("model", "former", "now"),
    [
        (lambda: NADE((6,), 3), (4, None, "reversed", 0.5), {"order": "reversed", "temperature": 0.5}),
        (TEXTS["GPT"], (4, 5, 0.7, 2), {"length": 5, "temperature": 0.7, "top_k": 2}),
        (TEXTS["Bengio"], (4, 5, 0.7, None, 0.9), {"length": 5, "temperature": 0.7, "top_p": 0.9}),
        (TEXTS["n-gram"], (4, 5, 0.7), {"length": 5, "temperature": 0.7}),
    ],
    ids=["NADE", "GPT", "Bengio", "n-gram"],
)
def test_calls_of_earlier_versions_give_the_same_draws(model: Any, former: Any, now: Any) -> None:
    model = model()
    expected = model.sample(4, generator=contracts.seeded(2), **now)
    with pytest.warns(DeprecationWarning, match="by name"):
        assert torch.equal(model.sample(*former, seed=2), expected)


def test_traces_of_earlier_versions_give_the_same_draws() -> None:
    model, given = NADE((4,), 3), torch.tensor([1.0, torch.nan, torch.nan, torch.nan])
    with pytest.warns(DeprecationWarning):
        former = model.sample_trace(given, None, 0.5, 3)
    now = model.sample_trace(given=given, temperature=0.5, generator=contracts.seeded(3))
    assert former.digest() == now.digest()
    text = counted()
    with pytest.warns(DeprecationWarning):
        former = text.sample_trace(torch.tensor([1]), length=4, seed=3)
    now = text.sample_trace(prompt=torch.tensor([1]), length=4, generator=contracts.seeded(3))
    assert former.digest() == now.digest()


def test_classes_are_one_for_all_or_one_each() -> None:
    model = GatedPixelCNN((1, 2, 2), channels=2, layers=1, conditional=True, num_classes=3)
    x = model.sample(3, y=[2, 2, 2], generator=contracts.seeded())
    assert torch.equal(x, model.sample(3, y=2, generator=contracts.seeded()))
    each = torch.stack([model.log_prob(x, y=k) for k in range(3)])
    assert torch.equal(model.log_prob(x, y=[0, 1, 2]), each.diagonal())
    for y, sentence in ((3, "from 0 to 2"), ([0, 1], "give one class"), (0.5, "whole numbers")):
        with pytest.raises(ValueError, match=sentence):
            model.sample(3, y=y)
    with pytest.raises(ValueError, match="knows no classes"):
        GatedPixelCNN((1, 2, 2), channels=2, layers=1).sample(3, y=0)


def test_models_print_their_orders_masks_and_sizes() -> None:
    made = MADE((4,), [3], order=[2, 0, 1, 3])
    assert "order=[2, 0, 1, 3]" in str(made) and "num_orders=1" in str(made)
    assert f"connections={int(made.masks()[0].sum())} of 12" in str(made)
    assert named(resolve_order("reversed", 9)) == "reversed" and named(torch.arange(9)) == "raster"
    assert named(torch.tensor([1, 0, 2, 3, 4, 5, 6])) == "[1, 0, 2, 3, 4, 5, …]"
    gpt = str(TEXTS["GPT"]())
    assert "context=6" in gpt and "heads=2" in gpt and "length=6, width=8" in gpt
    assert "order=2, smoothing=add" in str(counted())


def test_tensors_and_arguments_of_earlier_versions_are_read() -> None:
    model = SkipGram(vocab_size=3, dim=2)
    state = {("seen" if k == "target_frequency" else k): v + 1 for k, v in model.state_dict().items()}
    model.load_state_dict(state)
    assert torch.equal(model.target_frequency, state["seen"])
    former = {
        "class_path": "modules.autoregressive.gaussian_chain.GaussianChain",
        "init_args": {"least_variance": 0.5, "memory": 2},
    }
    assert renames.upgrade(former)["init_args"] == {"min_variance": 0.5, "memory": 2}
