"""`lab sample`: draw from trained weights and write a picture or a text."""

import inspect
import io
import json
import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lab import weights
from lab.commands import Parser
from lab.errors import UserError
from lab.experiments import find
from modules.base import Generator


def run(args: list[str]) -> None:
    """Parse `lab sample <experiment> [-n 16] [--seed 0] [--out FILE] [--temperature 0.8 …]`.

    Raises:
        UserError: no weights, a model that does not generate, an unknown knob or a wrong value.
    """
    parser = Parser(
        prog="lab sample", description="Draw from trained weights; further --knob VALUE go to the model."
    )
    parser.add_argument("experiment")
    parser.add_argument("-n", type=int, default=16, help="how many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help=".png for images, .txt for text; text is printed without")
    options, rest = parser.parse_known_args(args)
    if options.n < 1:
        raise UserError(f"-n is {options.n}: draw at least one.")
    name = options.experiment
    folder = Path(name) if (Path(name) / "card.json").is_file() else find(name).weights
    if folder is None:
        raise UserError(f"{name} has no trained weights yet: run `lab fit {name}` first.")
    card, model = weights.read_card(folder), weights.load(folder)
    if not isinstance(model, Generator):
        raise UserError(
            f"{name} is a {type(model).__name__}, which does not generate: choose a generative model."
        )
    with torch.no_grad():
        generator = torch.Generator().manual_seed(options.seed)
        try:
            drawn = model.sample(options.n, generator=generator, **knobs(model, rest))
        except ValueError as error:
            raise UserError(f"{name}: {error}") from None
    if "tokenizer" in card["data"]:
        write_texts(drawn, card, options.out)
    else:
        top = int(getattr(model, "values", 2)) - 1
        drawn = drawn / top if top > 1 else drawn  # numbers of grey levels
        write_images(drawn, card, options.out or Path(f"{folder.name}.png"))


def knobs(model: Any, args: list[str]) -> dict[str, Any]:
    """`--temperature 0.8` as a keyword of the model's own `sample`."""
    known = set(inspect.signature(model.sample).parameters) - {"n", "generator", "seed"}
    values: dict[str, Any] = {}
    words = [part for arg in args for part in (arg.split("=", 1) if arg.startswith("--") else [arg])]
    for key, value in zip(words[::2], [*words[1::2], ""], strict=False):
        knob = key.removeprefix("--").replace("-", "_")
        if knob not in known:
            raise UserError(
                f"There is no knob {key!r}: {type(model).__name__} has {', '.join(sorted(known))}."
            )
        try:
            values[knob] = json.loads(value)
        except ValueError:
            raise UserError(f"{key} needs a number, not {value!r}.") from None
    return values


def write_texts(tokens: Tensor, card: dict[str, Any], out: Path | None) -> None:
    from datamodules.tokenizer import Tokenizer

    tokenizer = Tokenizer.from_dict(card["data"]["tokenizer"])
    text = f"\n{'-' * 40}\n".join(tokenizer.decode(row) for row in tokens)
    if out is None:
        print(text)
        return
    if out.suffix != ".txt":
        raise UserError(f"{out} is to hold text: name it .txt.")
    weights.write(out, f"{text}\n".encode())
    print(f"Saved {out}")


def write_images(x: Tensor, card: dict[str, Any], out: Path) -> None:
    """A square grid of grey images, white margins of one pixel, enlarged so that pixels can be seen."""
    from PIL import Image

    if out.suffix != ".png":
        raise UserError(f"{out} is to hold images: name it .png.")
    side = card["data"].get("image_size") or math.isqrt(x[0].numel())
    if x[0].numel() != side * side:
        raise UserError(f"{card['experiment']} draws no square images, so there is no picture to write.")
    images = torch.nn.functional.pad(x.reshape(-1, side, side), (1, 1, 1, 1), value=1.0)
    columns = math.ceil(math.sqrt(len(images)))
    rows = math.ceil(len(images) / columns)
    blank = images.new_ones(rows * columns - len(images), side + 2, side + 2)
    grid = torch.cat([images, blank]).reshape(rows, columns, side + 2, side + 2)
    grid = grid.permute(0, 2, 1, 3).reshape(rows * (side + 2), columns * (side + 2))
    picture = Image.fromarray((grid.clamp(0, 1) * 255).byte().numpy(), mode="L")
    scale = max(1, 96 // side)
    buffer = io.BytesIO()
    picture.resize((picture.width * scale, picture.height * scale), Image.Resampling.NEAREST).save(
        buffer, "PNG"
    )
    weights.write(out, buffer.getvalue())
    print(f"Saved {out}")
