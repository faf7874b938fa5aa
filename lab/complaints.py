"""Say in one sentence of ours what parsers and constructors object to in settings."""

import re

KINDS = {
    "int": "a whole number", "float": "a number", "bool": "true or false", "str": "text", "dict": "a mapping",
    "Mapping": "a mapping", "NoneType": "",
}  # fmt: skip
NOISE = ("Given value", "Subtypes:", "Errors:", "Does not validate", "Expected a <class 'NoneType'>")
LONGEST = 60  # letters of a value that is quoted


def sentence(error: BaseException) -> str:
    """The innermost complaint, in words that know nothing of the parser.

    'Parser key "trainer.max_epochs": Expected a <class 'int'>. Got value: x' becomes
    "trainer.max_epochs is x: it must be a whole number".
    """
    if str(error).startswith("Call to compute_fn") and error.__cause__:
        error = error.__cause__
    text = str(error)
    place, problem = innermost(text)
    if isinstance(error, KeyError):
        return f"there is no {text}"
    if missing := re.search(r"unrecognized arguments: (.*)", problem, re.DOTALL):
        return f"there is no option {short(missing[1])}"
    if missing := re.search(r"(?:argument (\S+): )?expected one argument", problem):
        return f"{missing[1] or 'an option'} has no value: give it one"
    if unknown := re.search(r"Option '(.*?)' is not accepted", problem):
        return f"{place or 'it'} takes no {unknown[1]}"
    if words := re.search(r"string value for the `(\w+)` parameter .* one of \[(.*)\]", problem):
        return f"trainer.{words[1]} must be one of {words[2].replace(chr(39), '')}"
    if clipped := re.search(r"`gradient_clip_algorithm` (.*) is invalid", problem):
        return f"trainer.gradient_clip_algorithm is {short(clipped[1])}: it must be value or norm"
    if own := re.search(r"not supported for manual optimization. Remove `Trainer\((\w+)=(.*?)\)`", problem):
        return f"trainer.{own[1]} is {own[2]}: leave it out, as this model steps in a way of its own"
    if rare := re.search(r"`val_check_interval` \((\d+)\) must be .* training batches \((\d+)\)", problem):
        return (
            f"trainer.val_check_interval is {rare[1]}: it must be at most {rare[2]}, the batches of an epoch"
        )
    if several := re.search(r"Multiple subclasses with name .*? ambiguity: (.*)\.", problem):
        return f"{place} may be {several[1].replace(', ', ' or ')}: name one of them whole"
    if needed := re.search(r"'([\w.]+)':\s+the following arguments are required: (.*)", text):
        return f"{place}: {needed[1].rpartition('.')[2]} needs {needed[2]}"
    values = re.findall(r"Given value: (?!NestedArg)(.*?)(?:\. Got value: .*)?$", problem, re.MULTILINE)
    values += re.findall(r"Got value: (.*)", problem) + re.findall(
        r"NestedArg\(key='.*?', val='?(.*?)'?\)$", text
    )
    texts = f" is {short(values[0])}" if values and values[0] else ""
    names_class = re.search(
        "Expected a dot import path|Expected an import path|Not a valid subclass|no attribute|unhashable",
        problem,
    )
    if wanted := kinds(problem):
        wanted += ["the name of a class"] if names_class else []
        *others, last = wanted
        return f"{place}{texts}: it must be {', '.join(others)}{' or ' if others else ''}{last}"
    if names_class:
        return f"{place}{texts}: it must name a class, with its arguments in init_args"
    if "Expected a path but" in problem:
        return f"{place}{texts}: it must be a file of settings, or what such a file holds"
    lines = [line.strip(" -.") for line in problem.splitlines()]
    rest = "; ".join(line for line in lines if line and not line.startswith(NOISE))
    return f"{place}: {rest}" if place else rest


def innermost(text: str) -> tuple[str, str]:
    """The place of which the parser complains, "model.hidden", and what it says there."""
    *before, problem = re.split(r'Parser key "([^"]*)":', text)
    place = ""
    for key in before[1::2]:
        place = key if key.startswith(place) else f"{place}.{key}"
    return place, re.sub(r"^\s*Problem with given class_path '.*?':", "", problem)


def kinds(problem: str) -> list[str]:
    """List in words what the parser would have taken, each once."""
    names: list[str] = []
    for name, literals in re.findall(r"Expected an? (?:<class '(.*?)'>|typing\.Literal\[(.*?)\])", problem):
        names += (
            [KINDS.get(name.rpartition(".")[2], "a list")] if name else literals.replace("'", "").split(", ")
        )
    return [kind for kind in dict.fromkeys(names) if kind]


def short(value: str) -> str:
    """A value as it was typed, cut where it is long."""
    value = " ".join(value.split())
    return value if len(value) <= LONGEST else f"{value[:LONGEST]} …"
