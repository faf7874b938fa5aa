"""Packages of other projects that stand where ours should: `modules` and `pages` are names that many use."""

from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("lab", "modules", "datamodules", "pages")


def shadowed(packages: tuple[str, ...] = PACKAGES) -> str:
    """A sentence on the first package that is found elsewhere than beside `lab`; "" where there is none."""
    for name in packages:
        spec = find_spec(name)
        places = [Path(place).resolve() for place in (spec and spec.submodule_search_locations) or ()]
        if ROOT / name in places:
            continue
        result = (spec.origin or ", ".join(map(str, places))) if spec else "nothing"
        return (
            f"`import {name}` finds {result}, not Lectern's {ROOT / name}: uninstall or rename the other, "
            "take it off PYTHONPATH, or give Lectern a virtual environment of its own."
        )
    return ""


def other_app(script: Path) -> str:
    """A sentence where another project's `app.py` was installed over ours; "" where it is ours."""
    if "Lectern" in script.read_text(encoding="utf-8", errors="replace"):
        return ""
    return f"{script} is not Lectern's: another package has overwritten it. Install Lectern again, by itself."
