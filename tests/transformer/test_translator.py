"""The encoder–decoder: what sees what, padding, caches, and the peer of torch."""

import contracts
import pytest
import torch

from datamodules.spanish import AlignedPairs, sentences, tokenizer
from lab import weights
from lab.lenses import translations
from modules.language.beam import beam_search
from modules.transformer.recorder import record_attention
from modules.transformer.translator import Translator


def tiny(**kwargs) -> Translator:
    sizes = {"vocab_size": 7, "encoder_layers": 2, "decoder_layers": 2, "heads": 2, "width": 8, "length": 12}
    return contracts.exact(Translator(**(sizes | kwargs)))


def tokens(*shape, seed=0):
    return torch.randint(2, 7, shape, generator=contracts.seeded(seed))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_equals_torchs_own_transformer(norm):
    """torch.nn.Transformer with the same weights; it ends each stack in a norm, which pre-norm needs."""
    model = tiny(norm=norm, activation="relu")
    first = norm == "pre"
    settings = {"nhead": 2, "dim_feedforward": 32, "dropout": 0.0, "batch_first": True, "norm_first": first}
    encoder = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(8, **settings),
        2,
        norm=torch.nn.LayerNorm(8) if first else None,
        enable_nested_tensor=False,
    )
    decoder = torch.nn.TransformerDecoder(
        torch.nn.TransformerDecoderLayer(8, **settings), 2, norm=torch.nn.LayerNorm(8) if first else None
    )

    encoder, decoder = encoder.double().train(), decoder.double().train()  # train: the plain path

    def copy_attention(theirs, ours):
        theirs.in_proj_weight.copy_(ours.qkv.weight)
        theirs.in_proj_bias.copy_(ours.qkv.bias)
        theirs.out_proj.load_state_dict(ours.proj.state_dict())

    with torch.no_grad():
        for peer, stack in ((encoder, model.encoder), (decoder, model.decoder)):
            for theirs, ours in zip(peer.layers, stack.blocks, strict=True):
                copy_attention(theirs.self_attn, ours.mixer)
                theirs.linear1.load_state_dict(ours.feedforward.up.state_dict())
                theirs.linear2.load_state_dict(ours.feedforward.down.state_dict())
                norms = [ours.mixer_norm, ours.feedforward_norm]
                if ours.cross is not None:
                    copy_attention(theirs.multihead_attn, ours.cross)
                    norms.insert(1, ours.cross_norm)
                for i, own in enumerate(norms):
                    getattr(theirs, f"norm{i + 1}").load_state_dict(own.state_dict())
            if first:
                peer.norm.load_state_dict(stack.final_norm.state_dict())
    source, target, lengths = tokens(2, 5), tokens(2, 4, seed=1), torch.tensor([5, 3])
    padding = torch.arange(5) >= lengths[:, None]
    x, y = model.source_embedding(source) * 8**0.5, model.embedding(model.inputs(target)) * 8**0.5
    x, y = model.encoder.positions(x), model.decoder.positions(y)
    mask = torch.ones(4, 4, dtype=torch.bool).triu(1)
    H = encoder(x, src_key_padding_mask=padding)
    expected = decoder(y, H, tgt_mask=mask, memory_key_padding_mask=padding) @ model.head.weight.T
    torch.testing.assert_close(model(source, target, lengths), expected, atol=1e-10, rtol=0)


def test_a_target_sees_all_of_its_source_and_only_its_own_past():
    model, source, target = tiny(), tokens(1, 5), tokens(1, 4, seed=1)
    before = model(source, target)
    for s in range(5):
        changed = source.clone()
        changed[0, s] = (source[0, s] + 1) % 7
        assert (model(changed, target) - before).abs().amax(-1).min() > 1e-6
    for t in range(4):
        changed = target.clone()
        changed[0, t] = (target[0, t] + 1) % 7
        after = model(source, changed)
        assert torch.equal(after[:, : t + 1], before[:, : t + 1])
        if t < 3:
            assert not torch.allclose(after[:, t + 1 :], before[:, t + 1 :])


def test_padding_of_a_source_changes_nothing_and_gets_no_weight():
    model, source, target = tiny(), tokens(2, 6), tokens(2, 4, seed=1)
    lengths = torch.tensor([6, 4])
    with record_attention() as seen:
        logits = model(source, target, lengths)
    alone = model(source[1:, :4], target[1:])
    torch.testing.assert_close(logits[1:], alone, atol=1e-12, rtol=0)
    for block in model.decoder.blocks:
        gamma = seen.calls[block.cross][0].weights
        assert gamma.shape == (2, 2, 4, 6) and not gamma[1, ..., 4:].any()
        torch.testing.assert_close(gamma.sum(-1), torch.ones(2, 2, 4, dtype=torch.float64))


@torch.no_grad()
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "relative", "alibi", "untied"])
def test_written_token_by_token_with_the_encoder_run_once(positions):
    model, source, target = tiny(positions=positions), tokens(2, 5), tokens(2, 4, seed=1)
    lengths, calls = torch.tensor([5, 3]), []
    model.encoder.register_forward_hook(lambda *_: calls.append(1))
    expected = model(source, target, lengths).log_softmax(-1)
    calls.clear()
    decoder = model.incremental_decoder()
    log_p, state = decoder.start(source, model.padding(source, lengths))
    steps = [log_p]
    for token in target[:, :-1].unbind(1):
        log_p, state = decoder.step(state, token)
        steps.append(log_p)
    torch.testing.assert_close(torch.stack(steps, 1), expected, atol=1e-12, rtol=0)
    assert calls == [1] and state.cache[0].length == 4


@torch.no_grad()
def test_a_state_can_be_gone_on_from_twice_and_by_rows():
    model, source = tiny(), tokens(2, 5)
    decoder = model.incremental_decoder()
    _, state = decoder.start(source)
    a, b = tokens(2), tokens(2, seed=3)
    first, after = decoder.step(state, a)
    second, _ = decoder.step(state, b)  # leaves what `after` has in its memory alone
    third, _ = decoder.step(after, b)
    expected = model(source, torch.stack([a, b, b], 1)).log_softmax(-1)
    torch.testing.assert_close(third, expected[:, 2], atol=1e-12, rtol=0)
    again, _ = decoder.step(state, a)
    torch.testing.assert_close(again, first, atol=1e-12, rtol=0)
    assert not torch.allclose(first, second)
    turned, _ = decoder.step(after[torch.tensor([1])], a[1:])
    torch.testing.assert_close(turned, decoder.step(after, a)[0][1:], atol=1e-12, rtol=0)


@torch.no_grad()
def test_a_beam_of_one_is_greedy():
    model, source = tiny(), tokens(1, 5)
    greedy = model.translate(source, length=6)[0].tolist()
    best = beam_search(model, source, 6, 1, eos=model.eos)[0].tokens
    cut = greedy.index(model.eos) + 1 if model.eos in greedy else 6
    assert list(best)[:cut] == greedy[:cut]


def test_smoothing_moves_the_loss_of_training_alone():
    batch = tokens(2, 5), torch.tensor([5, 5]), tokens(2, 4, seed=1), tokens(2, 4, seed=2)
    plain, smooth = tiny(), tiny(label_smoothing=0.2)
    smooth.load_state_dict(plain.state_dict())
    assert torch.equal(plain.step(batch, "val"), smooth.step(batch, "val"))
    log_p = plain.target_logits(batch[0], batch[2], batch[1]).log_softmax(-1)
    own = log_p.gather(-1, batch[3][..., None])[..., 0]
    expected = -(0.8 * own + 0.2 * log_p.mean(-1)).mean()
    torch.testing.assert_close(smooth.step(batch, "train"), expected, atol=1e-12, rtol=0)


def test_parameters_are_those_of_the_recurrent_translator():
    model = Translator(4000, encoder_layers=3, decoder_layers=4, heads=4, width=128, tied=True)
    assert model.num_parameters == 4000 * 128 + 3 * 198_272 + 4 * (198_272 + 66_048 + 256) + 2 * 256
    assert abs(model.num_parameters / 2_170_496 - 1) < 0.05


def test_bad_input_gets_a_sentence():
    with pytest.raises(ValueError, match="share all 5 tokens"):
        Translator(5, source_vocab_size=6, tied=True)
    with pytest.raises(ValueError, match="label_smoothing"):
        Translator(5, label_smoothing=1.0)
    with pytest.raises(ValueError, match="eos is 5"):
        Translator(5, eos=5)


def test_exact_at_the_lengths_it_has_seen_and_at_no_longer_ones():  # TF-X3
    """Trained on one to four clauses: 100 of 100 sentences of each, with pairs of words that are new to it,
    too; .14 of those of five clauses, and none of six."""
    model = weights.load("translator-spanish")
    assert isinstance(model, Translator)
    right = {
        (k, held_out): translations.exact(
            model,
            AlignedPairs(sentences(100, (k, k), None if held_out else "test", held_out, seed=3), tokenizer()),
        )
        for k, held_out in ((1, True), (4, True), (1, False), (4, False), (5, False), (6, False))
    }
    assert min(right[k, held_out] for k in (1, 4) for held_out in (False, True)) == 1
    assert right[5, False] < 0.3 and right[6, False] == 0
