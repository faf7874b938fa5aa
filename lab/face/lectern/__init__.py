"""Lectern as a library, under one name: models, trained weights, the catalog.

    from lectern import MAF, VAE, GPT, load

    model = load("made-digits")

A name is imported when it is first asked for, so `import lectern` needs no torch. Which module has which name
stands in `__init__.pyi` beside this file, for editors and for this file alike.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any


def _names() -> dict[str, str]:
    """Name -> the module that has it, as the stub imports them."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = (node for node in stub.body if isinstance(node, ast.ImportFrom))
    return {alias.name: str(node.module) for node in imports for alias in node.names}


_MODULES = _names()
__all__ = [*_MODULES]


def __getattr__(name: str) -> Any:
    """Import what is asked for, once.

    Raises:
        AttributeError: there is no such name.
        ImportError: another installed package has the name of one of ours.
    """
    if name not in _MODULES:
        raise AttributeError(f"lectern has no {name!r}: dir(lectern) names all that it has.")
    try:
        from lab.shadowed import shadowed
    except ImportError as error:
        raise ImportError(f"`import lab` finds another package than Lectern's: {error}.") from None
    if sentence := shadowed():
        raise ImportError(sentence)
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
