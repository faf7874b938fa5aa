"""The page Masked words: candidates and losses recomputed, scenes that hold, own text with a fault."""

import pytest
import torch
from opening import run_page

from lab import experiments, weights
from lab.errors import UserError
from pages.transformer.masked_words import lens, tuned
from pages.transformer.masked_words.room import MASKED, ROOM, SENTENCE, SPAN, TAGGED, WORDS

CARD = weights.read_card(experiments.ZOO / "bert-gazette")
FIRST = {"Both sides": "bought", "Left changed": "buys", "Right changed": "sold"}


def hidden(one: lens.Masked) -> list[str]:
    return ["" if target is None else one.vocabulary[target] for target in one.targets]


@pytest.mark.parametrize("name", FIRST)
def test_both_sides_decide_the_hidden_word(name: str) -> None:
    one = lens.masked(weights.load("bert-gazette").eval(), CARD, ROOM.scenes[name].state.text)
    words, p = one.top(0)
    assert words[0] == FIRST[name] == hidden(one)[0] and p[0] > 0.9
    assert one.words[one.places[0]] == "<mask>"
    assert torch.allclose(one.looks.sum(-1), torch.ones(1, 4), atol=1e-5)


def test_the_loss_has_a_term_for_each_hidden_word() -> None:
    model = weights.load("bert-gazette").eval()
    text = ROOM.scenes["Loss at masks"].state.text
    one = lens.masked(model, CARD, text)
    assert hidden(one) == ["yesterday", "kite", "in"] and len(one.words) - 2 == 11
    tokens, truths = lens.hide(tuned.CODER, text)
    assert tokens[0].tolist() == tuned.CODER.encode_parts(
        "<mask> anna bought a red <mask> from max <mask> oslo ."
    )
    targets = torch.full_like(tokens, -100)
    targets[0, one.places] = torch.tensor([tuned.CODER.tokens.index(word) for word in hidden(one)])
    assert truths == one.targets
    batch = (tokens, targets, torch.zeros(1).long(), torch.full_like(tokens, -100))
    expected = torch.tensor(one.known).log().neg().mean()
    nll = torch.nn.functional.cross_entropy(model.predict(tokens)[0], targets[0], ignore_index=-100)
    assert torch.allclose(nll, expected, atol=1e-4)
    assert lens.loss(one).endswith(f"= {float(expected):.3f}") and model.step(batch, "val") > nll
    assert "softmax" in lens.loss(lens.masked(model, CARD, "the <mask> was good ."))
    assert lens.masked(model, CARD, "anna [xylophones] it").targets == [None]


def test_heads_say_what_the_scenes_say() -> None:
    load = weights.load
    pair = load("bert-reviews").eval(), load("bert-frozen-reviews").eval()
    turned, twin = (tuned.judged(*pair, ROOM.scenes[n].state.review) for n in ("Negation", "Same bag"))
    assert sorted(turned.words) == sorted(twin.words)
    assert turned.p[0] > 0.9 and twin.p[0] < 0.1 and 0.2 < turned.p[1] < 0.8
    words, p = tuned.tagged(load("bert-names").eval(), load("bert-frozen-names").eval(), TAGGED)
    tags = dict(zip(words, [tuned.gazette.TAGS[i] for i in p[0].argmax(0).tolist()], strict=True))
    assert (tags["lincoln"], tags["jordan"], tags["chelsea"]) == ("organisation", "person", "place")
    model = load("bert-questions").eval()
    now = ROOM.scenes["Span"].state
    answer = tuned.answered(model, now.question, now.passage)
    assert answer.text == "a big red kite"
    n = len(answer.words)
    assert answer.scores.isnan().sum() == n * (n - 1) // 2
    s, e = answer.span
    assert answer.scores.nan_to_num(-1).max() == answer.scores[s, e]
    assert torch.allclose(answer.scores[s, e], answer.start[s] * answer.end[e])
    now = ROOM.scenes["Two in the past"].state
    wrong = tuned.answered(model, now.question, now.passage)
    assert wrong.text != "anna" and wrong.start.max() < 0.9


def test_text_that_cannot_be_used_gets_a_sentence() -> None:
    for text, words in (
        ("anna bought", "No word is hidden"),
        ("anna [bought", "bracket"),
        ("[two words] here", "bracket"),
        ("", "No word"),
    ):
        with pytest.raises(UserError, match=words):
            lens.masked_text(text)
    with pytest.raises(UserError, match="reads up to 60"):
        lens.masked(weights.load("bert-gazette"), CARD, "[a] " * 61)
    assert lens.masked_text("a [MASK]") == "a <mask>"
    with pytest.raises(UserError, match="no word"):
        tuned.plain_text(" ")
    with pytest.raises(UserError, match="together"):
        tuned.answered(weights.load("bert-questions"), "who " * 30, "anna " * 40)
    assert tuned.says("the xylophone was good .").endswith("xylophone.") and not tuned.says("[bought] <mask>")
    assert lens.unknown(CARD, "the xylophone [bought] <mask> .").endswith(": xylophone.")
    page = run_page("transformer/masked_words", text="anna bought")
    said = " ".join(each.value for each in [*page.warning, *page.error, *page.info])
    assert not page.exception and "No word is hidden" in said


@pytest.mark.parametrize("task", [MASKED, SENTENCE, WORDS, SPAN])
def test_each_task_opens(task: str) -> None:
    assert not run_page("transformer/masked_words", task=task).exception
