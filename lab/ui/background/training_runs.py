"""A training run as it goes: a part of the page that draws itself again, and samples of the last epoch."""

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st
import torch

from datamodules.base import DataModule
from lab import experiments, untrusted, weights
from lab.errors import UserError
from lab.figures import basic
from lab.ui.figures.plots import figure
from lab.ui.models.loading import file_stamp
from lab.ui.page.stage import guard, use_theme
from modules.base import Module, Sampler


def live(every: float | None) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """A part of the page that draws itself again `every` so many seconds; None draws it once.

    What fails in it is one sentence in its place.
    """

    def decorate(draw: Callable[[], None]) -> Callable[[], None]:
        @st.fragment(run_every=every)
        @functools.wraps(draw)
        def part() -> None:
            use_theme()  # a fragment runs in a thread of its own
            with guard():
                draw()

        return part

    return decorate


def action(label: str, do: Callable[[], Any], *, key: str, primary: bool = False, **options: Any) -> None:
    """A button that does something before the page is drawn again; what the user can mend is one sentence."""

    def clicked() -> None:
        try:
            do()
        except UserError as error:
            st.session_state[f"_said:{key}"] = str(error)

    st.button(label, key=key, on_click=clicked, type="primary" if primary else "secondary", **options)
    if text := st.session_state.pop(f"_said:{key}", None):
        st.warning(text, icon=":material/info:")


def setting(config: Mapping[str, Any], path: str, default: Any) -> Any:
    """The value at `path` ("trainer.max_epochs") of an experiment's settings."""
    value: Any = config
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return default if value is None else value


def samples(folder: Path, experiment: str, n: int = 16) -> None:
    """Draws of the run's last epoch, where its model generates pictures or text."""
    path = folder / "checkpoints" / "last.ckpt"
    if not path.is_file():
        return
    drawn = sample_model(*file_stamp(path), experiment, n)
    if isinstance(drawn, list):
        st.markdown("##### Samples of the last epoch")
        st.code("\n⋯\n".join(drawn), language=None, wrap_lines=True)
    elif drawn is not None:
        figure(
            basic.images(drawn, columns=8, title="Samples of the last epoch"),
            alt=f"{n} samples of {experiment} after its last epoch",
            key="live-samples",
        )


@st.cache_resource(show_spinner=False, max_entries=8)
def sample_model(
    path: str, stamp: int, size: int, inode: int, experiment: str, n: int
) -> torch.Tensor | list[str] | None:
    """Pictures (n, 1, H, W), up to four texts, or None where the model draws neither."""
    model, hparams = rebuild(Path(path))
    if not isinstance(model, Sampler):
        return None
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        if hparams.get("vocab_size"):
            tokenizer = datamodule(experiment).tokenizer
            return [tokenizer.decode(row) for row in model.sample(min(n, 4), generator=generator).tolist()]
        shape = hparams.get("image_shape") or getattr(datamodule(experiment), "sizes", {}).get("image_shape")
        return model.sample(n, generator=generator).reshape(n, *shape) if shape else None


def rebuild(path: Path) -> tuple[Module, dict[str, Any]]:
    """The model of a run's checkpoint with its weights, in evaluation mode, and its arguments. The checkpoint
    has the arguments, also those that came from the data; the run's `config.yaml` names the class.

    Raises:
        UserError: the run names no model of this project, or the checkpoint does not fit it.
    """
    checkpoint = weights.read_checkpoint(path)
    config = path.parents[1] / "config.yaml"
    name = experiments.class_path(experiments.read_yaml(config), "model", config)
    hparams = dict(checkpoint.get("hyper_parameters", {}))
    model = weights.build({"config": {"model": {"class_path": name, "init_args": hparams}}}, "checkpoint")
    model.load_state_dict(checkpoint["state_dict"])
    return model.eval(), hparams


@st.cache_resource(show_spinner=False, max_entries=4)
def datamodule(experiment: str) -> Any:
    """The experiment's data, as its file describes it."""
    config = experiments.find(experiment).config["data"]
    cls = untrusted.find_class(
        config["class_path"], DataModule, "datamodule of Lectern", experiment, ("datamodules",)
    )
    return cls(**config.get("init_args", {}))
