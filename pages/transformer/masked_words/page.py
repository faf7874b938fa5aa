"""Masked words and fine-tuning: an encoder predicts hidden words, and layers on it label and find."""

from typing import Any

from datamodules.gazette import TAGS
from lab import ui
from modules.transformer.bert import BERT
from modules.transformer.bert_heads import SentenceClassifier, SpanExtractor, TokenClassifier, best_span
from pages.transformer.masked_words import figures, lens, tuned
from pages.transformer.masked_words.room import MASKED, ROOM, SENTENCE, WORDS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    if now.task == MASKED and (sentence := ui.compute(lens.unknown, now)):
        ui.caption(sentence)


def said(name: str) -> str:
    """Share of right labels on the test split, of a card."""
    return f"{100 * float(ui.card(name)['metrics']['test/acc']):.1f} %"


sources: tuple[Any, ...]
code: str
shown: Any
if now.task == MASKED:
    one = ui.compute(lens.masked, now)
    film = ui.film_of(now, len(one.places), names=[f"mask {k + 1}" for k in range(len(one.places))])
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(figures.looks(one), key="looks", share=1.0, film=film,
                      alt="Where the mask looks in each layer, to both sides")  # fmt: skip
        with right:
            ui.figure(figures.candidates(one), key="candidates", share=1.0, film=film,
                      alt="The likeliest words for the mask")  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(one), equations=[lens.loss(one)] * film.count)
    code = f"lens.masked(model, card, lens.masked_text({now.text!r})).p.max(1).values"
    shown, notice = one.p.max(1).values, ui.compute(lens.about, now)
    model, sources = now.bert, (lens.masked, BERT.step)
elif now.task == SENTENCE:
    judged = ui.compute(tuned.judged, now)
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(figures.cls_looks(judged), key="cls", share=1.0,
                      alt="Where cls looks in each layer")  # fmt: skip
        with right:
            ui.figure(figures.verdicts(judged), key="verdicts", share=1.0,
                      alt="Probability that the review recommends, fine-tuned and frozen")  # fmt: skip
    z, p = judged.z, judged.p[0]
    stage.equation(rf"\Pr(y = 1) = \sigma(w \cdot h_{{\text{{cls}}}} + b) = \sigma({z:.3f}) = {p:.3f}")
    code, shown = f"tuned.judged(model, model, {now.review!r}).p[0]", judged.p[0]
    notice = (
        "Each review has a twin with the same words and the opposite verdict: a bag of words is right on "
        f"50 %. With 1,000 labels the fine-tuned encoder is right on {said(now.reviews)} of 1,000 test "
        f"reviews, a new layer on the frozen one on {said(now.frozen_reviews)}: one training each."
    )
    model, sources = now.reviews, (SentenceClassifier.logit,)
elif now.task == WORDS:
    words, tags = ui.compute(tuned.tagged, now)
    with stage.picture:
        left, right = ui.columns(2)
        for k, (column, title) in enumerate(((left, "fine-tuned"), (right, "frozen encoder"))):
            with column:
                ui.figure(figures.tags(words, tags[k], title), key=title, share=1.0,
                          alt=f"Probabilities of the tags of each word, {title}")  # fmt: skip
    top = tags[0, :, 0].max(0)
    stage.equation(
        rf"\Pr(y_t) = \text{{softmax}}(W h_t + b), \quad t = 1: \; "
        rf"\Pr(\text{{{TAGS[int(top.indices)]}}}) = {float(top.values):.3f}"
    )
    code, shown = f"tuned.tagged(model, model, {now.news!r})[1][0].amax(0)", tags[0].amax(0)
    notice = (
        "The label is read from the output embedding of a word, which knows its context, not from the input "
        f"embedding. On 1,000 test sentences {said(now.names)} of the words are right, fine-tuned, and "
        f"{said(now.frozen_names)} with the encoder frozen: hidden words have taught it already what a name "
        "stands for."
    )
    model, sources = now.names, (TokenClassifier.predict,)
else:
    answer = ui.compute(tuned.answered, now)
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(figures.ends(answer), key="ends", share=1.0,
                      alt="Probability of each word to begin and to end the answer")  # fmt: skip
        with right:
            ui.figure(figures.spans(answer), key="spans", share=1.0,
                      alt="Score of each span; those that end before they begin are grey")  # fmt: skip
    s, e = answer.span
    stage.equation(
        rf"p_s({s + 1}) \, p_e({e + 1}) = {float(answer.start[s]):.3f} \cdot {float(answer.end[e]):.3f} = "
        rf"{float(answer.scores[s, e]):.3f}, \quad s \le e: \; \text{{{answer.text}}}"
    )
    code = f"tuned.answered(model, {now.question!r}, {now.passage!r}).start"
    shown = answer.start
    notice = (
        f"The answer is “{answer.text}”. Of 1,000 test questions {said(now.questions)} are answered by "
        "exactly the right span, after 4,000 labelled ones: it often takes the wrong one of several sales in "
        "one tense. Start and end are two softmaxes; the best pair is searched among the valid spans."
    )
    model, sources = now.questions, (SpanExtractor.predict, best_span)

with stage.below:
    ui.notice(notice)
    ui.check(
        "Of 100 words 15 are hidden. At how many places has the loss of masked words a term?",
        ["15", "85", "100"], "15", "What was not hidden is not predicted: most of the text teaches nothing.",
        wrong=("", "These are what the encoder reads, and what it need not predict.",
               "So it is for a language model, which predicts every word from those before it."), veils=(),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import experiments, weights
        from pages.transformer.masked_words import lens, tuned

        place = {ui.spelled(model)}
        model, card = weights.load(place).eval(), weights.read_card(place)
        result = {code}
        """,
        shows=shown,
    )
    ui.source(*sources, references=ROOM.references)
