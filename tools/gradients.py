"""Loss and gradients of the transformer, written out by hand; the forward pass is `sim`'s.

For training only: whole windows without a KV cache.  Each backward function stands below the
forward one it belongs to and takes the gradient of its result.
"""

from dataclasses import fields

import numpy as np

from sim.model.transformer import EPSILON, ROTARY_BASE, Array, Weights, silu, softmax

Parameters = dict[str, Array]  # by the names of `Weights`


def loss(parameters: Parameters, tokens: Array) -> float:
    """Mean cross-entropy in nats of tokens[:, 1:], each predicted from those before it."""
    logits, _ = _forward(parameters, tokens[:, :-1])
    probabilities = softmax(logits)
    return _cross_entropy(probabilities, tokens[:, 1:])


def loss_and_gradients(
    parameters: Parameters, tokens: Array, teacher: Parameters | None = None
) -> tuple[float, Parameters]:
    """`tokens` is [num_windows, length + 1]; gradients have the names and shapes of parameters.

    With a teacher, its probabilities are learned instead of the tokens (Hinton et al. 2015); the
    loss that is returned is that of the tokens all the same.
    """
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    logits, tape = _forward(parameters, inputs)
    d_logits = softmax(logits)  # [num_windows, length, vocab]
    value = _cross_entropy(d_logits, targets)
    if teacher is None:
        np.subtract.at(d_logits, (*np.indices(targets.shape), targets), 1)
    else:
        d_logits -= softmax(_forward(teacher, inputs)[0])
    d_logits /= targets.size
    return value, _backward(parameters, inputs, tape, d_logits)


def logits(parameters: Parameters, tokens: Array) -> Array:
    """[num_windows, length, vocab]."""
    return _forward(parameters, tokens)[0]


def _cross_entropy(probabilities: Array, targets: Array) -> float:
    return float(-np.log(np.take_along_axis(probabilities, targets[..., None], -1)).mean())


def _forward(w: Parameters, tokens: Array) -> tuple[Array, list[tuple]]:
    """Logits, and what the way back needs of each layer."""
    tape: list[tuple] = []
    turn = _turn(tokens.shape[1], w["query"].shape[-1], w["query"].dtype)
    x = w["embedding"][tokens]  # [num_windows, length, hidden]
    for layer in range(len(w["query"])):
        a, a_norm = _norm(x, w["attention_norm"][layer])
        q = _rotate(np.tensordot(a, w["query"][layer], 1), turn)  # [.., length, q_heads, head_dim]
        k = _rotate(np.tensordot(a, w["key"][layer], 1), turn)  # [.., length, kv_heads, head_dim]
        v = np.tensordot(a, w["value"][layer], 1)
        mixed, seen = _attend(q, k, v)
        x = x + np.tensordot(mixed, w["output"][layer], 2)
        f, f_norm = _norm(x, w["ffn_norm"][layer])
        gate, up = f @ w["gate"][layer], f @ w["up"][layer]  # [num_windows, length, ffn]
        x = x + (silu(gate) * up) @ w["down"][layer]
        tape.append((a, a_norm, q, k, v, mixed, seen, f, f_norm, gate, up))
    x, final_norm = _norm(x, w["final_norm"])
    tape.append((x, final_norm, turn))
    return x @ w["embedding"].T, tape


def _backward(w: Parameters, tokens: Array, tape: list[tuple], d_logits: Array) -> Parameters:
    grads = {name: np.zeros_like(array) for name, array in w.items()}
    x, final_norm, turn = tape.pop()
    grads["embedding"] += _outer(d_logits, x)
    d_x, grads["final_norm"] = _norm_back(d_logits @ w["embedding"], w["final_norm"], final_norm)
    for layer in reversed(range(len(w["query"]))):
        a, a_norm, q, k, v, mixed, seen, f, f_norm, gate, up = tape.pop()
        sigmoid = 0.5 + 0.5 * np.tanh(0.5 * gate)
        d_hidden = d_x @ w["down"][layer].T
        d_up = d_hidden * gate * sigmoid
        d_gate = d_hidden * up * sigmoid * (1 + gate * (1 - sigmoid))
        grads["down"][layer] = _outer(gate * sigmoid * up, d_x)
        grads["gate"][layer], grads["up"][layer] = _outer(f, d_gate), _outer(f, d_up)
        d_f = d_gate @ w["gate"][layer].T + d_up @ w["up"][layer].T
        d_f, grads["ffn_norm"][layer] = _norm_back(d_f, w["ffn_norm"][layer], f_norm)
        d_x = d_x + d_f

        grads["output"][layer] = _outer(mixed, d_x)
        d_mixed = np.tensordot(d_x, w["output"][layer], ((2,), (2,)))
        d_q, d_k, d_v = _attend_back(d_mixed, q, k, v, seen)
        back = (turn[0], -turn[1])  # the inverse of a rotation turns the other way
        d_q, d_k = _rotate(d_q, back), _rotate(d_k, back)
        d_a = np.zeros_like(a)
        for name, d_head in (("query", d_q), ("key", d_k), ("value", d_v)):
            grads[name][layer] = _outer(a, d_head)
            d_a += np.tensordot(d_head, w[name][layer], ((2, 3), (1, 2)))
        d_a, grads["attention_norm"][layer] = _norm_back(d_a, w["attention_norm"][layer], a_norm)
        d_x = d_x + d_a
    np.add.at(grads["embedding"], tokens, d_x)
    return grads


def _outer(left: Array, right: Array) -> Array:
    """The gradient of a matrix: sum over all tokens of left x right."""
    return np.tensordot(left, right, ((0, 1), (0, 1)))


def _norm(x: Array, scale: Array) -> tuple[Array, tuple[Array, Array]]:
    inverse = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + EPSILON)
    unit = x * inverse
    return unit * scale, (unit, inverse)


def _norm_back(d_out: Array, scale: Array, kept: tuple[Array, Array]) -> tuple[Array, Array]:
    unit, inverse = kept
    d_unit = d_out * scale
    d_x = inverse * (d_unit - unit * np.mean(d_unit * unit, axis=-1, keepdims=True))
    return d_x, (d_out * unit).sum(axis=(0, 1))


def _turn(length: int, head_dim: int, dtype: np.dtype) -> tuple[Array, Array]:
    half = head_dim // 2
    angle = np.arange(length)[:, None, None] * ROTARY_BASE ** (-np.arange(half) / half)
    return np.cos(angle).astype(dtype), np.sin(angle).astype(dtype)  # [length, 1, head_dim / 2]


def _rotate(x: Array, turn: tuple[Array, Array]) -> Array:
    first, second = np.split(x, 2, axis=-1)
    cos, sin = turn
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def _heads_first(x: Array, kv_heads: int) -> Array:
    """[windows, length, heads, head_dim] -> [windows, kv_heads, group, length, head_dim]."""
    windows, length, _, head_dim = x.shape
    return x.reshape(windows, length, kv_heads, -1, head_dim).transpose(0, 2, 3, 1, 4)


def _heads_last(x: Array) -> Array:
    windows, _, _, length, head_dim = x.shape
    return x.transpose(0, 3, 1, 2, 4).reshape(windows, length, -1, head_dim)


def _attend(q: Array, k: Array, v: Array) -> tuple[Array, Array]:
    kv_heads, length = k.shape[2], q.shape[1]
    q, k, v = (_heads_first(x, kv_heads) for x in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.dtype.type(q.shape[-1]))
    scores[..., np.triu(np.ones((length, length), bool), 1)] = -np.inf
    seen = softmax(scores)  # [windows, kv_heads, group, length, length]
    return _heads_last(seen @ v), seen


def _attend_back(d_mixed: Array, q: Array, k: Array, v: Array, seen: Array) -> tuple[Array, ...]:
    kv_heads = k.shape[2]
    d_mixed, q, k, v = (_heads_first(x, kv_heads) for x in (d_mixed, q, k, v))
    d_v = (seen.swapaxes(-1, -2) @ d_mixed).sum(axis=2, keepdims=True)  # over the group
    d_seen = d_mixed @ v.swapaxes(-1, -2)
    d_scores = seen * (d_seen - (d_seen * seen).sum(axis=-1, keepdims=True))
    d_scores /= np.sqrt(q.dtype.type(q.shape[-1]))
    d_k = (d_scores.swapaxes(-1, -2) @ q).sum(axis=2, keepdims=True)
    return _heads_last(d_scores @ k), _heads_last(d_k), _heads_last(d_v)


def as_weights(parameters: Parameters) -> Weights:
    return Weights(**{field.name: parameters[field.name] for field in fields(Weights)})
