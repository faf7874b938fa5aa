"""The eight machines: what is declared of them, and what is read from models."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import members
import pytest
import torch
from torch import nn

from lab import experiments, ui, weights
from lab.lenses import machine
from lab.lenses.machine import Readings
from lab.machines import MACHINES
from lab.room import load
from modules.adversarial.dcgan import DCGAN
from modules.adversarial.gan import GAN
from modules.base import Module
from modules.convolution.cnn2d import CNN2d
from modules.diffusion.ddpm import DDPM, ImageDDPM
from modules.flow.coupling import RealNVP
from modules.graph.gat import GAT
from modules.graph.gcn import GCN
from modules.latent.text_vae import TextVAE
from modules.latent.vae import VAE
from modules.recurrent.labelling import Tagger
from modules.recurrent.seq2seq import Seq2Seq
from modules.transformer.gpt import GPT

FAMILIES = {"adversarial", "convolution", "diffusion", "flow", "graph", "latent", "recurrent", "transformer"}
UNDRAWN = (
    *("modules.recurrent.grid_features.", "modules.recurrent.captioning."),  # a convolution reads first
    "modules.convolution.hourglass.",  # its outputs are maps of joints, no logits
    "modules.convolution.detection.",  # its outputs are boxes of cells, no logits
    "modules.graph.graph_rnn.",  # rows of edges, by two recurrences
    # nodes are pooled, for which there is no part
    *("modules.graph.gin.", "modules.graph.pooled_gcn.", "modules.graph.relations."),
    "modules.graph.mixture.",  # a message has several maps
    "modules.transformer.associative.",  # mixers and nothing else
    "modules.transformer.in_context.",  # reads numbers, has no tokens
)
LONGEST = 22  # letters of what a part shows: two thirds of a row would hold no more


def shapes(readings: Readings) -> dict[str, str]:
    return {part: reading.shape for part, reading in readings.items()}


def test_a_machine_has_at_most_six_parts_with_words_and_pages_that_exist() -> None:
    pages = {page.url for page in ui.pages()}
    for result in MACHINES.values():
        assert 2 <= len(result.parts) <= 6
        assert len({part.name for part in result.parts.values()}) == len(result.parts)
        assert len(result.arrows(result.parts)) == len(result.parts) - 1
        assert result.back <= set(result.parts)
        for part in result.parts.values():
            assert 0 < len(part.name) <= 12 and part.says.endswith(".") and 20 < len(part.says) <= 110
            assert part.page in pages, f"{result.title}: {part.name} leads to {part.page}, which is no page"


def test_the_machines_of_rooms_are_among_them() -> None:
    named = {url: room.machine for url in (page.url for page in ui.pages()) if (room := load(url))}
    assert {machine for machine in named.values() if machine} <= set(MACHINES), named


def test_declarations_need_no_framework() -> None:
    text = "import sys, lab.machines; print(*sorted({'torch', 'streamlit', 'plotly'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", text], text=True).strip() == ""


def test_an_arrow_leads_past_a_part_that_a_model_lacks() -> None:
    vae, gan = MACHINES["vae"], MACHINES["gan"]
    assert ("encoder", "z") in vae.arrows(["x", "encoder", "z", "decoder", "p"])
    assert gan.arrows(gan.parts)[-2:] == [("made", "D"), ("x", "D")]


def gpt(width: int, heads: int, layers: int, context: int) -> GPT:
    return GPT(vocab_size=11, width=width, heads=heads, layers=layers, context=context)


# Two of each machine, and what their parts measure: part -> both shapes.
PAIRS: dict[str, tuple[Callable[[], Module], Callable[[], Module], dict[str, tuple[str, str]]]] = {
    "gan": (
        lambda: GAN(latent_dim=3, hidden=(8,)),
        lambda: DCGAN(image_shape=(1, 8, 8), latent_dim=5, channels=(6, 4)),
        {"z": ("3", "5"), "G": ("3→8→2", "3 layers, 617"), "made": ("2", "1×8×8"), "x": ("2", "1×8×8")},
    ),
    "vae": (
        lambda: VAE(event_shape=(16,), latent_dim=2, hidden=(8,)),
        lambda: VAE(event_shape=(64,), latent_dim=5, hidden=(12,)),
        {"encoder": ("16→8→4", "64→12→10"), "q": ("μ, σ: 2 each", "μ, σ: 5 each"), "z": ("2", "5"),
         "decoder": ("2→8→16", "5→12→64"), "p": ("16", "64")},
    ),
    "diffusion": (
        lambda: DDPM(width=8, blocks=1, embedding=8),
        lambda: ImageDDPM(image_shape=(1, 16, 16), widths=(8, 8, 16), embedding=8),
        {"xt": ("2", "1×16×16"), "net": ("7 layers, 474", "3 levels, 34.9 k"), "x0": ("2", "1×16×16")},
    ),
    "flow": (
        lambda: RealNVP(event_shape=(2,), layers=2, hidden=(8,)),
        lambda: RealNVP(event_shape=(6,), layers=4, hidden=(10,)),
        {"z": ("2", "6"), "net": ("1→8→2", "3→10→6"), "x": ("2", "6"),
         "layer": ("2 × coupling", "4 × coupling")},
    ),
    "transformer": (
        lambda: gpt(8, 2, 1, 16),
        lambda: gpt(16, 4, 3, 32),
        {"tokens": ("≤ 16", "≤ 32"), "embedding": ("11→8", "11→16"), "mlp": ("8→32→8", "16→64→16"),
         "attention": ("1 × 2 heads", "3 × 4 heads")},
    ),
    "recurrent": (
        lambda: Tagger(vocab_size=7, num_classes=3, embedding=4, hidden=5),
        lambda: Seq2Seq(vocab_size=6, source_vocab_size=9, embedding=3, hidden=8, cell="lstm", layers=2),
        {"x": ("7", "9"), "embedding": ("7→4", "9→3"), "cell": ("GRU 5, 2 ways", "2 × LSTM 8"),
         "logits": ("3", "6")},
    ),
    "message passing": (
        lambda: GCN(num_features=5, hidden=(4,), num_classes=3),
        lambda: GAT(num_features=9, hidden=(4, 3), heads=(2, 2, 1), num_classes=2),
        {"h": ("5", "9"), "message": ("5→4→3", "9→8→6→2"), "update": ("4", "8→6"), "logits": ("3", "2")},
    ),
    "convolution": (
        lambda: CNN2d(image_shape=(1, 8, 8), channels=(4, 6), num_classes=3),
        lambda: CNN2d(image_shape=(2, 16, 16), channels=(4, 6, 8), kernel_sizes=(5,)),
        {"x": ("1×8×8", "2×16×16"), "convolution": ("2 layers, 3×3", "3 layers, 5×5"),
         "pool": ("1 layer, 2×2", "2 layers, 2×2"), "maps": ("6×4×4", "8×4×4"), "dense": ("96→3", "128→10")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", MACHINES)
def test_a_model_of_other_sizes_gives_another_strip(which: str) -> None:
    *result, wanted = PAIRS[which]
    for number, make in enumerate(result):
        model = make()
        assert machine.machine_of(model) == which
        assert machine.sample_of(model) in (None, *MACHINES[which].parts)
        text = shapes(machine.read(model))
        assert {part: text[part] for part in wanted} == {part: both[number] for part, both in wanted.items()}


def test_sizes_come_from_the_network_that_runs_and_not_from_its_settings() -> None:
    model = GAN(latent_dim=3, hidden=(8,), ema=0)
    model.generator = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2))
    assert machine.read(model)["G"].shape == "3→5→2"


def test_a_recurrent_layer_is_one_of_the_layers_of_an_encoder() -> None:
    text = machine.read(TextVAE(event_shape=(5,), vocab_size=4, embedding=3, width=6, latent_dim=2))
    assert text["encoder"].more.startswith("3 layers") and text["decoder"].more.startswith("4 layers")


def test_reading_leaves_the_model_as_it_was() -> None:
    model = CNN2d(image_shape=(1, 8, 8), channels=(4, 6))
    before = {name: t.clone() for name, t in model.state_dict().items()}
    random = torch.get_rng_state()
    machine.read(model)
    assert model.training and all(m.training for m in model.layers)
    assert not any(m._forward_hooks for m in model.modules())
    assert all(torch.equal(t, before[name]) for name, t in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), random)


def test_a_model_without_a_machine_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="Linear is none of the machines"):
        machine.read(nn.Linear(2, 2))  # type: ignore[arg-type]


def check_or_none(model: Any) -> None:
    """Every part that is read is one of the machine's, and says something short; what is no machine has no
    networks, but counts and closed forms."""
    which = machine.machine_of(model)
    if which is None:
        assert not any(isinstance(module, nn.Linear | nn.Conv2d) for module in model.modules())
        return
    result = machine.read(model)
    assert set(result) <= set(MACHINES[which].parts) and len(result) >= 3
    for reading in result.values():
        assert 0 < len(reading.shape) <= LONGEST, reading


@pytest.mark.parametrize("path", members.MEMBERS)
def test_every_class_of_model_is_a_machine_or_has_no_networks(path: str) -> None:
    if path.split(".")[1] not in FAMILIES or path.startswith(UNDRAWN):
        pytest.skip("of a family without a machine")
    for number in range(len(members.MEMBERS[path])):
        check_or_none(members.make(path, number))


SHIPPED = [e for e in experiments.catalog().values() if e.family in FAMILIES and e.weights is not None]
SHIPPED = [e for e in SHIPPED if not e.module.startswith(UNDRAWN)]
ONE_OF_A_CLASS = {e.module: e for e in SHIPPED}


@pytest.mark.parametrize("name", [e.name for e in ONE_OF_A_CLASS.values()])
def test_a_trained_model_of_every_class_is_read(name: str) -> None:
    check_or_none(weights.load(name))


@pytest.mark.soak
@pytest.mark.parametrize("name", [e.name for e in SHIPPED])
def test_every_trained_model_is_read(name: str) -> None:
    check_or_none(weights.load(name))
