"""Inside the U-Net: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Inside the U-Net",
    idea="One network serves every level of noise: see what it does at each.",
    place=90,
    minutes=6,
    words="U-Net; skip connections; time embedding; UNet; feature maps; receptive field",
    references=(
        "Ronneberger, Fischer, Brox 2015, arXiv:1505.04597; [UDL] §11.5.3 (U-Net)",
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239 (with time and attention)",
        "Luo et al. 2016, arXiv:1701.04128 (the effective receptive field)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=(
        "attention",
        "receptive_field",
    ),
    machine="diffusion",
)
