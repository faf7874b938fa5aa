"""Codes of noise: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Codes of noise",
    idea="Run upwards, DDIM gives every digit a code, and codes can be joined.",
    place=120,
    minutes=5,
    words="DDIM inversion; latent interpolation; slerp; DDIM; encoding",
    references=(
        "Song, Meng, Ermon 2021, arXiv:2010.02502 (encoding by DDIM)",
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239 (mixing under noise)",
        "Shoemake 1985 (slerp)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=(
        "latent",
        "sampling",
    ),
    machine="diffusion",
)
