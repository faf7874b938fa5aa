"""What pages send to the browser in each of their scenes: dumped, and compared with a dump made before.

    python tests/payloads.py dump OUT flow/log_det graph/messages     a file a page: OUT/flow/log_det.npz
    python tests/payloads.py compare OUT LATER [graph/messages …]     exit status 1 where something differs
    python tests/payloads.py check OUT graph/messages                 the page as it is now, with its dump

The pages are those of the folder in which this is called. What the reader cannot see is no difference: the
order and the names of keys, None or nothing, a list or an array, frames that all are what the figure shows
at rest. Seconds, stamps and the texts for CSV are left out.
"""

import argparse
import base64
import importlib
import io
import json
import math
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

# Of what a component is sent: clocks, names of files, and what is saved as CSV.
VOLATILE = {"seq", "stamp", "reel", "name", "csv", "tidy"}
ROUNDING = 1e-6  # a difference that is no more of the largest value is one of rounding
WORK = 60.0  # seconds of work between two drawings of what takes longer: few, within the time that a run has
WIDGETS = ("button_group", "multiselect", "number_input", "radio", "select_slider", "selectbox", "slider",
           "text_area", "text_input", "toggle")  # fmt: skip


# --- What a page sends ----------------------------------------------------------------------------


def page_payloads(topic: Any) -> dict[str, Any]:
    """What a page (by its name, or a function that draws one) sends with every control where it stands at
    first, and in each of its scenes: name -> all of it, as dicts, lists, texts, numbers and arrays."""
    import opening

    first, sent = opened(topic, 0)
    results = {"0 at first": sent}
    for number, name in enumerate(opening.scenes(first), 1):
        results[f"{number} {name}"] = opened(topic, name)[1]
    return results


def opened(topic: Any, scene: int | str) -> tuple[Any, dict[str, Any]]:
    """A page in a scene, its work done, and what it has sent."""
    import opening
    from checking import watched

    rewind, jobs = (importlib.import_module(f"lab.ui.background.{name}") for name in ("rewind", "jobs"))
    with watched() as checks, patch.object(jobs, "FRAME", WORK), patch.object(rewind, "CHUNK", WORK):
        page = opening.run_page(topic, scene=scene)
        while any(button.label in ("Cancel", "Pause") for button in page.button):
            page.run()
    return page, {**payload(page), "checks": plain([vars(check) for check in checks[-1:]])}


def payload(page: Any) -> dict[str, Any]:
    """All that a page shows that has run."""
    import opening

    texts = page.session_state["_program"][1] if "_program" in page.session_state else None
    sent: dict[str, Any] = {
        "equations": [equation.value for equation in page.latex],
        "metrics": [[metric.label, metric.value] for metric in page.metric],
        "warnings": [warning.value for warning in page.warning],
        "failures": opening.failures(page),
        "captions": [caption.value for caption in page.caption],
        "words": [text.value for text in [*page.markdown, *page.info]],
        "tables": [table.value.to_dict("list") for table in page.dataframe],
        "controls": [[kind, w.label, w.value, getattr(w, "options", None)]
                     for kind in WIDGETS for w in page.get(kind)],
        "link": {key: page.query_params[key] for key in page.query_params},
        "result": texts,
    }  # fmt: skip
    for element in page.get("bidi_component"):
        kind = element.proto.component_name.removeprefix("lectern_")
        sent.setdefault(kind, []).append(component(element.proto))
    return plain(sent)


def component(proto: Any) -> dict[str, Any]:
    """What one of our components is sent: its header, with the frames of a figure by their paths, and its
    arrays."""
    from lab.ui.browser import wire

    header, arrays = wire.unpack(proto.bytes) if proto.bytes else (json.loads(proto.json), {})
    sent = {key: value for key, value in header.items() if key not in VOLATILE}
    if "figure" not in sent:
        return {**sent, "arrays": arrays}
    sent["figure"]["layout"].pop("template", None)
    for trace in sent["figure"]["data"]:
        trace.setdefault("type", "scatter")
    return {**sent, "frames": {**arrays, **sent.pop("texts")}}


def plain(value: Any) -> Any:
    """The same without what tells the forms of equal values apart: numbers in lists, in Plotly's bytes and in
    pictures become arrays, and what is None in a dict goes."""
    if isinstance(value, dict):
        if "bdata" in value:
            numbers = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
            return numbers.reshape([int(n) for n in str(value.get("shape", len(numbers))).split(",")])
        results = {str(key): plain(v) for key, v in value.items()}
        return {key: v for key, v in results.items() if v is not None and not (isinstance(v, dict) and not v)}
    if isinstance(value, list | tuple):
        parts = [plain(v) for v in value]
        if parts and all(v is None or isinstance(v, int | float) for v in parts):
            return np.array([math.nan if v is None else v for v in parts])
        if parts and all(isinstance(v, np.ndarray) and v.shape == parts[0].shape for v in parts):
            return np.stack(parts)
        return parts
    if isinstance(value, str) and (picture := re.match(r"data:image/\w+;base64,", value)):
        from PIL import Image

        return np.asarray(Image.open(io.BytesIO(base64.b64decode(value[picture.end() :]))).convert("RGBA"))
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.generic):
        return value.item()
    return value if value is None or isinstance(value, str | int | float | np.ndarray) else repr(value)


# --- Kept in a file -------------------------------------------------------------------------------


def save(path: Path, payloads: dict[str, Any]) -> None:
    """One file: a header of JSON, and each array once."""
    arrays: dict[str, np.ndarray] = {}

    def named(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            name = sha256(f"{value.dtype}{value.shape}".encode() + value.tobytes()).hexdigest()[:24]
            arrays[name] = value
            return {"npz": name}
        if isinstance(value, dict):
            return {key: named(v) for key, v in value.items()}
        return [named(v) for v in value] if isinstance(value, list) else value

    header = json.dumps(named(payloads)).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez_compressed(file, header=np.frombuffer(header, np.uint8), **arrays)
    part.replace(path)


def load(path: Path) -> dict[str, Any]:
    """What `save` has kept."""
    with np.load(path) as kept:
        arrays = {name: kept[name] for name in kept.files}
    return json.loads(
        arrays["header"].tobytes(), object_hook=lambda d: arrays[d["npz"]] if set(d) == {"npz"} else d
    )


# --- Compared -------------------------------------------------------------------------------------


class Difference(NamedTuple):
    """Where two payloads differ, what each has there, and by how much of the largest value."""

    path: str
    before: str
    after: str
    share: float = math.inf


def differences(a: Any, b: Any, path: str = "") -> Iterator[Difference]:
    """Where two payloads, or parts of them, differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        if isinstance(a.get("figure"), dict) and isinstance(b.get("figure"), dict):
            a, b = ({**sent, "frames": moving(sent)} for sent in (a, b))
        for key in sorted({*a, *b}):
            yield from differences(a.get(key), b.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            yield Difference(path, f"{len(a)} items", f"{len(b)} items")
        for i, (x, y) in enumerate(zip(a, b, strict=False)):
            yield from differences(x, y, f"{path}.{i}")
    elif isinstance(a, np.ndarray | int | float) and isinstance(b, np.ndarray | int | float):
        yield from apart(np.asarray(a), np.asarray(b), path)
    elif type(a) is not type(b) or a != b:
        texts = zip(a, b, strict=False) if isinstance(a, str) and isinstance(b, str) else ()
        same = next((i for i, (x, y) in enumerate(texts) if x != y), 0)
        yield Difference(path, shown(a, same), shown(b, same))


def apart(a: np.ndarray, b: np.ndarray, path: str) -> Iterator[Difference]:
    """Where two arrays differ most, if they do."""
    if a.shape != b.shape:
        yield Difference(path, shown(a), shown(b))
        return
    x, y = a.astype(float), b.astype(float)
    with np.errstate(invalid="ignore"):
        gap = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.abs(x - y))
    gap = np.where(np.isnan(gap), math.inf, gap)
    if gap.any():
        at = np.unravel_index(gap.argmax(), gap.shape)
        largest = max(np.abs(x[np.isfinite(x)]).max(initial=0), np.abs(y[np.isfinite(y)]).max(initial=0))
        share = float(gap[at] / largest) if largest else math.inf
        where = f"[{', '.join(map(str, at))}], {(gap > 0).sum()} of {gap.size} values" if a.shape else ""
        yield Difference(path + where, f"{a[at]}", f"{b[at]}", share)


def moving(sent: dict[str, Any]) -> dict[str, Any]:
    """The frames of a figure that are not all what it shows at rest."""
    return {
        path: frames
        for path, frames in sent.get("frames", {}).items()
        if any(
            d.share > ROUNDING for frame in frames for d in differences(at_rest(sent["figure"], path), frame)
        )
    }


def at_rest(figure: Any, path: str) -> Any:
    """What a figure has at a path ("data.0.z"); None if nothing."""
    for part in path.split("."):
        try:
            figure = figure[int(part) if isinstance(figure, list | np.ndarray) else part]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return figure


def shown(value: Any, begin: int = 0) -> str:
    """A value in a line, of a long text what follows `begin`."""
    if isinstance(value, np.ndarray):
        return f"array{list(value.shape)}" if value.size > 4 else str(value.tolist())
    text = " ".join(value[max(0, begin - 20) :].split()) if isinstance(value, str) else repr(value)
    return "nothing" if value is None else text if len(text) < 90 else text[:87] + "…"


def partner(before: dict[str, Any], after: dict[str, Any]) -> dict[str, str]:
    """For each scene of a page the one of its name, wherever it stands now, or else of its state; else ""."""

    def title(name: str) -> str:
        return name.partition(" ")[2]

    named = {title(name): name for name in after}
    known = {title(name) for name in before}
    others = [name for name in after if title(name) not in known]
    results = {}
    for old, sent in before.items():
        same = (name for name in others if after[name].get("link") == sent.get("link"))
        results[old] = named.get(title(old)) or next(same, "")
    return results


def report(topic: str, before: dict[str, Any], after: dict[str, Any], most: int) -> bool:
    """Print how each scene of a page compares; whether all are equal."""
    equal, partners = True, partner(before, after)
    for new in (name for name in after if name not in partners.values()):
        print(f"{topic}: {new}: a new scene")
        equal = False
    for old, new in partners.items():
        result = list(differences(before[old], after.get(new)))
        if old != new:
            result.insert(0, Difference("scene", shown(old), shown(new or None)))
        results = [d for d in result if d.share > ROUNDING]
        within = max((d.share for d in result), default=0.0)
        print(f"{topic}: {old}:", f"{len(results)} differ" if results else "EQUAL",
              f"(within {within:.1g})" if result and not results else "")  # fmt: skip
        for d in results[:most]:
            print(f"    {d.path}: {d.before} ≠ {d.after}")
        equal &= not results
    return equal


# --- The command ----------------------------------------------------------------------------------


def timed(topic: str) -> tuple[dict[str, Any], float]:
    began = time.monotonic()
    return page_payloads(topic), time.monotonic() - began


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("do", choices=("dump", "compare", "check"))
    parser.add_argument("folder", type=Path, help="of the dumps")
    parser.add_argument("rest", nargs="*", help="the other folder, if two are compared; and names of pages")
    parser.add_argument("--most", type=int, default=6, help="differences that are named, of each scene")
    parser.add_argument("--jobs", type=int, default=1, help="pages at a time")
    asked = parser.parse_args(arguments)
    if asked.do == "compare":
        later, *topics = asked.rest
        topics = topics or sorted(str(p.relative_to(asked.folder))[:-4] for p in asked.folder.rglob("*.npz"))
        pairs = ((t, *(load(Path(f) / f"{t}.npz") for f in (asked.folder, later))) for t in topics)
        return 0 if all([report(*pair, asked.most) for pair in pairs]) else 1
    known = {t: load(asked.folder / f"{t}.npz") for t in asked.rest} if asked.do == "check" else {}
    sys.path[:0] = [str(Path.cwd()), str(Path.cwd() / "tests")]
    well = True
    # a process a page, so that none finds what another has left; own runs would be options of its controls
    with (
        tempfile.TemporaryDirectory() as runs,
        patch.dict(os.environ, OMP_NUM_THREADS="1", LECTERN_RUNS=runs),
        ProcessPoolExecutor(asked.jobs, get_context("spawn"), max_tasks_per_child=1) as pool,
    ):
        works = {pool.submit(timed, topic): topic for topic in asked.rest}
        for work in as_completed(works):
            topic = works[work]
            try:
                result, seconds = work.result()
            except Exception as error:
                print(f"{topic}: FAILED: {type(error).__name__}: {error}", flush=True)
                well = False
                continue
            if asked.do == "check":
                well &= report(topic, known[topic], result, asked.most)
            else:
                save(asked.folder / f"{topic}.npz", result)
                failed = [name for name, sent in result.items() if sent["failures"]]
                print(f"{topic}: {len(result)} states in {seconds:.0f} s",
                      f"with failures in {failed}" if failed else "", flush=True)  # fmt: skip
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
