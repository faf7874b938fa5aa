"""Say what the page's checks say of an answer."""

from collections.abc import Mapping

from torch import Tensor

from lab.lenses.attention import CROSS, DECODER, ENCODER
from modules.transformer.bert import BERT
from modules.transformer.mixer_tagger import MixerTagger
from modules.transformer.translator import Translator
from pages.transformer.attention.subjects import Model


def settled(layer: int) -> str:
    """Say why the likeliest next token is settled from this layer on, counted from 0."""
    if layer:
        return "The model's own head, applied after an earlier layer, reads another token there."
    return "The likeliest token after the first layer is that after the last one too."


def unsettled(settled: int, layers: int) -> dict[str, str]:
    """Say why the likeliest token does not settle after this layer: "layer 1" -> a sentence."""
    early = "After layer {} it is not settled: there, or after a later layer, another token is likelier."
    late = "It is settled before layer {}: no later layer changes it."
    return {f"layer {l + 1}": (early if l < settled else late).format(l + 1) for l in range(layers)}


def unheard(row: Tensor, options: Mapping[int, str], hidden: bool) -> dict[str, str]:
    """Say why tokens, by place, do not get the largest weight: name -> a sentence. row: (T,), the weights."""
    why = "steps and matrices of the tokens decide" if hidden else "query times key decides"
    return {
        name: f"The weight of {name} is {float(row[place]):.3f}: {why}, not distance."
        for place, name in options.items()
    }


ROWS = "Each row is a distribution: its weights sum to 1"
ABLATION = "A weight says where a head attends, not what the model needs: ablation shows that."


def about(model: Model, stack: str) -> str:
    """Say what the maps of a model are."""
    if isinstance(model, MixerTagger):
        return (
            "Mamba has neither queries nor keys, and its record says so. Its output is a weighted sum all "
            "the same, y = Σ M u in each channel, with weights M of any sign that its steps and matrices "
            "make; drawn is the share of each token in Σ |M| over all channels. A gate multiplies the output "
            "afterwards."
        )
    if isinstance(model, BERT):
        return (
            f"{ROWS}, left and right of the diagonal: an encoder predicts no next token, so nothing need be "
            f"hidden but the words that it is asked for. {ABLATION}"
        )
    if isinstance(model, Translator):
        what = {
            ENCODER: "The encoder sees the whole sentence, before and behind each word.",
            DECODER: "The decoder sees what it has written, and nothing right of the diagonal.",
            CROSS: "Queries are of the decoder, keys and values of the encoder: there is no diagonal.",
        }
        return f"{ROWS}. {what[stack]} {ABLATION} Search, alignment and cache are on a page of their own."
    return (
        f"{ROWS}, and with the mask nothing lies right of the diagonal. {ABLATION} Without the mask later "
        "tokens reach earlier predictions."
    )
