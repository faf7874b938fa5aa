"""Collapse clinic: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Collapse clinic",
    idea="A spoiled game holds few modes; beside it the same game, with a cure.",
    place=70,
    minutes=5,
    words=(
        "mode collapse; mode dropping; minibatch discrimination; minibatch standard deviation; PacGAN; "
        "label smoothing; unrolled GAN; missing modes; VEEGAN"
    ),
    references=(
        "Lin et al. 2018, PacGAN, arXiv:1712.04086; Karras et al. 2018, arXiv:1710.10196 (minibatch std)",
        "Srivastava et al. 2017, arXiv:1705.07761 (modes and high-quality share)",
        (
            "Mao et al. 2019, arXiv:1903.05628 (mode seeking); "
            "Srivastava et al. 2017 (noise found again: VEEGAN)"
        ),
        (
            "Ghosh et al. 2018, arXiv:1704.02906 (several generators: MAD-GAN); "
            "Sinha et al. 2020, arXiv:2002.06224"
        ),
        "Salimans et al. 2016, arXiv:1606.03498 (smoothed labels); Shrivastava et al. 2017, arXiv:1612.07828",
        "[UDL] §15.1.3, §15.2.3 (mode dropping and collapse), notes",
    ),
    machine="gan",
)
