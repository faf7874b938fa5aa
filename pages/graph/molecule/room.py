"""Molecule: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Fixed, Frame, Model, Number, Room, Scene, Text, Toggle, late

VIEWS = ATOMS, BONDS, ISOMERS, TRAINING = "Atoms", "Cut a bond", "Two molecules", "Training"
LEARNERS = MEANS, SUMS, ALONE = "GCN, mean", "GIN, sum", "atoms alone"
EPOCHS = range(25)
CLICKS = ADDS, CHANGES, REMOVES = "adds an atom to it", "changes its element", "removes it"
ELEMENTS = "C", "N", "O", "F", "Cl", "Br", "I"
GCN, GIN, BAG = "gcn-mutag", "gin-mutag", "atoms-mutag"
NITROPYRENE = "O=N(=O)c1ccc2ccc3cccc4ccc1c2c34"
ETHANOL, ETHER = "CCO", "COC"
BUTYL_ETHER, OCTANOL = "CCCCOCCCC", "CCCCCCCCO"
DECALIN, BICYCLOPENTYL = "C1CCC2CCCCC2C1", "C1CCCC1C2CCCC2"
NITRO_1, NITRO_2 = "O=N(=O)c1cccc2ccccc12", "O=N(=O)c1ccc2ccccc2c1"
MOLECULES = {
    "1-Nitropyrene": NITROPYRENE, "Nitrobenzene": "O=N(=O)c1ccccc1", "Ethanol": ETHANOL, "Methanol": "CO",
    "1-Propanol": "CCCO", "Dimethyl ether": ETHER, "Dibutyl ether": BUTYL_ETHER, "Decalin": DECALIN,
}  # fmt: skip
OTHERS = {
    "Dimethyl ether": ETHER, "2-Nitronaphthalene": NITRO_2, "Bicyclopentyl": BICYCLOPENTYL,
    "1-Octanol": OCTANOL,
}  # fmt: skip


def by_atoms(state: Any) -> bool:
    return bool(state.view == ATOMS)


def by_bonds(state: Any) -> bool:
    return bool(state.view == BONDS)


def compares(state: Any) -> bool:
    return bool(state.view == ISOMERS)


def trains(state: Any) -> bool:
    return bool(state.view == TRAINING)


def predicts(state: Any) -> bool:
    return not trains(state)


def pairs(state: Any) -> bool:
    return compares(state) or trains(state)


def tested(state: Any) -> bool:
    return bool(state.test) and predicts(state)


def typed(state: Any) -> bool:
    return not tested(state)


def edits(state: Any) -> bool:
    return by_atoms(state) and typed(state)


def chooses(state: Any) -> bool:
    return edits(state) and bool(state.click != REMOVES)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = ATOMS
    model: Annotated[
        str, Model("Model", family="graph", only=late("lens", "fits"), as_list=True, when=by_atoms)
    ] = GCN
    test: Annotated[bool, Toggle("A test molecule of MUTAG", when=predicts)] = False
    learner: Annotated[str, Choice("Network", LEARNERS, as_list=True, when=trains)] = MEANS
    seed: Annotated[int, Number("Seed", 0, 99, when=trains, help="Of first weights and batches.")] = 0
    which: Annotated[int, Number("Its number", 0, late("lens", "last"), when=tested)] = 0
    molecule: Annotated[
        str,
        Text("Molecule", 300, reads=late("reading", "parse"), area=False, examples=MOLECULES, when=typed,
             says=late("reading", "says"),
             help="SMILES without H, such as CCO; or atoms and bonds, C0 C1 O2 0-1 1-2."),
    ] = NITROPYRENE  # fmt: skip
    other: Annotated[
        str,
        Text("Other molecule", 300, reads=late("reading", "parse"), area=False, examples=OTHERS,
             when=pairs),
    ] = ETHER  # fmt: skip
    click: Annotated[str, Choice("A click on an atom", CLICKS, as_list=True, when=edits)] = ADDS
    element: Annotated[str, Choice("Element", ELEMENTS, as_list=True, when=chooses)] = "C"
    gcn: Fixed = GCN
    gin: Fixed = GIN
    bag: Fixed = BAG
    atom: Annotated[int | None, Frame("Atom", seconds=0.6, when=by_atoms)] = None
    bond: Annotated[int, Frame("Bond", seconds=0.8, when=by_bonds)] = 0
    epoch: Annotated[int | None, Frame("Epoch", EPOCHS, seconds=0.3, when=trains)] = None


ROOM = Room(
    title="Molecule",
    idea="Layers pass messages along bonds; the mean of what atoms have found out is the answer.",
    place=20,
    minutes=6,
    words="molecule; graph classification; mutagenicity; MUTAG; mean pooling; readout; isomers; SMILES; "
    "atoms; bonds; contribution of an atom; graph-level task; ethanol; GIN; bag of atoms; "
    "epochs; training; ether; alcohol",
    references=("[UDL] §13.3.1, §13.4.1, §13.5", "Debnath et al. 1991 (MUTAG)",
                "Xu et al. 2019, arXiv:1810.00826"),
    state=State,
    symbols={
        r"\beta": "bias of the last layer", r"\omega": "weights of the last layer", "h": "state of an atom",
        "n": "an atom", "N": "number of atoms", "z": "logit", r"\sigma": "logistic function",
        "p": "probability of mutagenic, or of an ether", "p'": "that of the second molecule",
        "c_n": "contribution of an atom to the logit",
    },
    scenes={
        "Contributions": Scene(
            "Blue atoms raise the logit, orange ones lower it; all of them and β add up to it.",
            State(),
        ),
        "Atom by atom": Scene(
            "Half-way through the sum: the logit so far is where the last full bar ends.",
            State(atom=10),
        ),
        "Sum of all layers": Scene(
            "GIN sums over atoms and layers: contributions are larger, and they still add up to the logit.",
            State(model=GIN),
        ),
        "Atoms alone": Scene(
            "Without bonds all carbons have one state, and one contribution, wherever they are.",
            State(model=BAG),
        ),
        "Cut a bond": Scene(
            "Without the bond between the rings' middles two networks are less sure; atoms alone see no cut.",
            State(view=BONDS, bond=22),
        ),
        "Isomers": Scene(
            "Ethanol and dimethyl ether have the same atoms: atoms alone give both one probability.",
            State(view=ISOMERS, molecule=ETHANOL, other=ETHER),
        ),
        "Nitronaphthalenes": Scene(
            "The nitro group one place further: two probabilities by bonds, one by atoms.",
            State(view=ISOMERS, molecule=NITRO_1, other=NITRO_2),
        ),
        "Epochs": Scene(
            "An ether and an alcohol, the same atoms: one answer before the first epoch, two soon after.",
            State(view=TRAINING, molecule=BUTYL_ETHER, other=OCTANOL, epoch=12),
        ),
        "Twins": Scene(
            "Decalin and bicyclopentyl: not the same, but no layer of messages tells them apart.",
            State(view=ISOMERS, molecule=DECALIN, other=BICYCLOPENTYL),
        ),
    },
)  # fmt: skip
