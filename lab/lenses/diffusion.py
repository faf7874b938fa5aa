"""What the rooms of diffusion share: the note on the texts, and the stops of a long walk."""

BEYOND = "Beyond the texts, which only name this family: [GM] §3.12; [UDL] §14.3, fig. 14.3"
SAID = "The texts only name this family; what is here goes beyond them."


def stops(count: int, most: int = 41) -> list[int]:
    """At most so many of 0 … count − 1, evenly spread, both ends among them."""
    if count <= most:
        return list(range(count))
    return [round(i * (count - 1) / (most - 1)) for i in range(most)]
