"""`lab sample`: draw from trained weights and write a picture, a text or a table."""

import csv
import inspect
import io
import math
import os
import re
import sys
from argparse import ArgumentError, Namespace
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import torch
from jsonargparse import ArgumentParser
from torch import Tensor

from lab import complaints, files, untrusted, weights
from lab.errors import UserError
from lab.experiments import find
from lab.parser import Parser
from lab.seeding import seeded
from modules.base import Sampler

MOST = 10**6  # of any parameter
MOST_EXAMPLES = 10_000
SEEDS = 2**63


def run(args: list[str]) -> None:
    """Parse `lab sample <experiment> [-n 16] [--seed 0] [--out FILE] [--temperature 0.8 …]`.

    Raises:
        UserError: no weights, a model that does not generate, an unknown parameter or a wrong value.
    """
    parser = Parser(
        prog="lab sample", description="Draw from trained weights; further --PARAMETER VALUE go to the model."
    )
    parser.add_argument("experiment")
    parser.add_argument("-n", type=int, default=16, help="how many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out",
        type=Path,
        help=".png for images, .txt for text, .csv for numbers; text and numbers are printed without",
    )
    parser.add_argument(
        "--trust", action="append", default=[], metavar="FILE.py", help="a file whose classes may be imported"
    )
    options, rest = parser.parse_known_args(args)
    if not 1 <= options.n <= MOST_EXAMPLES:
        raise UserError(f"-n is {options.n}: draw at least one, at most {MOST_EXAMPLES:,}.")
    if not 0 <= options.seed < SEEDS:
        raise UserError(f"--seed is {options.seed}: it must be a whole number from 0 to {SEEDS - 1}.")
    with untrusted.trusting(options.trust):
        draw(options, rest)


def draw(options: Namespace, rest: list[str]) -> None:
    """Draw what was parsed, and write it; `rest` are options of the model."""
    name = options.experiment
    folder = Path(name) if os.path.isfile(os.path.join(name, "card.json")) else find(name).newest
    if folder is None:
        raise UserError(f"{name} has no trained weights yet: run `lab fit {name}` first.")
    card, model = weights.read_card(folder), weights.load(folder)
    print(weights.taken(folder, card["config"]["data"]), file=sys.stderr)
    if not isinstance(model, Sampler):
        raise UserError(
            f"{name} is of class {type(model).__name__}, which does not generate: choose a generative model."
        )
    with torch.no_grad():
        params = sampling_params(model, rest)
        if "generator" in inspect.signature(model.sample).parameters:
            params["generator"] = torch.Generator().manual_seed(options.seed)
        try:
            drawn = seeded(lambda: model.sample(options.n, **params), options.seed)
        except ValueError as error:
            raise UserError(f"{name}: {error}") from None
    if "tokenizer" in card["data"]:
        write_texts(drawn, card, options.out)
    elif (options.out and options.out.suffix == ".csv") or not is_picture(drawn[0], card):
        write_numbers(drawn, card, options.out)
    else:
        top = int(getattr(model, "num_categories", 2)) - 1
        drawn = drawn / top if top > 1 else drawn  # numbers of grey levels
        write_images(drawn, options.out or Path(f"{folder.name}.png"))


def sampling_params(model: Any, args: list[str]) -> dict[str, Any]:
    """`--temperature 0.8` as a keyword of the model's own `sample`, of the type that it says there.

    Raises:
        UserError: no such parameter, a value of another type, or a number beyond any use.
    """
    parser = ArgumentParser(prog="lab sample", exit_on_error=False, allow_abbrev=False)
    hints = get_type_hints(model.sample)
    if "y" in hints:  # the name of earlier versions
        args = [re.sub(r"^--label(?==|$)", "--y", arg) for arg in args]
    for name, parameter in inspect.signature(model.sample).parameters.items():
        several = get_origin(hints[name]) in (Union, UnionType)
        kinds = get_args(hints[name]) if several else (hints[name],)
        kinds = tuple(kind for kind in kinds if kind not in (Tensor, NoneType))  # nobody types tensors in
        if name not in ("n", "generator", "seed") and kinds and parameter.kind != parameter.VAR_KEYWORD:
            parser.add_argument(f"--{name}", type=Union[kinds], default=parameter.default)  # noqa: UP007
    try:
        values = vars(parser.parse_args(args))
    except ArgumentError as error:
        known = ", ".join(sorted(vars(parser.get_defaults()))) or "none"
        raise UserError(
            f"{type(model).__name__}: {complaints.sentence(error)}. Its parameters: {known}."
        ) from None
    for name, value in values.items():
        if isinstance(value, int | float) and not 0 <= value <= MOST:
            raise UserError(f"--{name} is {value}: it must be from 0 to {MOST:,}.")
    return values


def write_texts(tokens: Tensor, card: dict[str, Any], out: Path | None) -> None:
    from datamodules.tokenizer import Tokenizer

    tokenizer = Tokenizer.from_dict(card["data"]["tokenizer"])
    text = f"\n{'-' * 40}\n".join(tokenizer.decode(row).rstrip("\n") for row in tokens)
    if out is None:
        print(text)
        return
    if out.suffix != ".txt":
        raise UserError(f"{out} is to hold text: name it .txt.")
    files.write(out, f"{text}\n".encode())
    print(f"Saved {out}")


def is_picture(x: Tensor, card: dict[str, Any]) -> bool:
    """Check whether a draw is a square image, grey or in colour; a row of a table is none."""
    side = math.isqrt(x.numel() // channels(x))
    return side > 2 and x.numel() == channels(x) * side * side and "columns" not in card["data"]


def channels(x: Tensor) -> int:
    return 3 if x.ndim == 3 and x.shape[0] == 3 else 1


def write_numbers(x: Tensor, card: dict[str, Any], out: Path | None) -> None:
    """Draws as CSV, one a row; those of a time series one time step a row. A table's are in its own units."""
    data = card["data"]
    rows = x.reshape(-1, x.shape[-1]) if x.ndim > 1 else x[:, None]
    if "deviation" in data:
        rows = rows * torch.tensor(data["deviation"]) + torch.tensor(data["mean"])
    names = data.get("columns") or [f"x{i}" for i in range(1, rows.shape[1] + 1)]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([names, *rows.tolist()])
    if out is None:
        print(text.getvalue(), end="")
        return
    if out.suffix != ".csv":
        raise UserError(f"{out} is to hold numbers: name it .csv.")
    files.write(out, text.getvalue().encode())
    print(f"Saved {out}")


def write_images(x: Tensor, out: Path) -> None:
    """A square grid of images, grey or in colour (N, 3, side, side), white margins of one pixel, enlarged so
    that pixels can be seen."""
    from PIL import Image

    if out.suffix != ".png":
        raise UserError(f"{out} is to hold images: name it .png.")
    colours = channels(x[0])
    side = math.isqrt(x[0].numel() // colours)
    images = torch.nn.functional.pad(x.reshape(-1, colours, side, side), (1, 1, 1, 1), value=1.0)
    columns = math.ceil(math.sqrt(len(images)))
    rows = math.ceil(len(images) / columns)
    blank = images.new_ones(rows * columns - len(images), colours, side + 2, side + 2)
    grid = torch.cat([images, blank]).reshape(rows, columns, colours, side + 2, side + 2)
    # (rows, columns, C, H, W) -> (rows, H, columns, W, C)
    grid = grid.permute(0, 3, 1, 4, 2).reshape(rows * (side + 2), columns * (side + 2), colours)
    picture = Image.fromarray((grid.clamp(0, 1) * 255).byte().numpy().squeeze(-1 if colours == 1 else ()))
    scale = max(1, 96 // side)
    buffer = io.BytesIO()
    picture.resize((picture.width * scale, picture.height * scale), Image.Resampling.NEAREST).save(
        buffer, "PNG"
    )
    files.write(out, buffer.getvalue())
    print(f"Saved {out}")
