"""Train the tiny model and its draft on the course's own prose, and write assets/model/.

    python -m tools.train_tiny_model

Needs what the app needs, numpy.  The same prose gives the same tokenizer, held-out paragraphs and
draws; weights agree to rounding, which is the machine's.  Prints the loss on trained and held-out
paragraphs as it goes, and samples at the end.  Some of the logits, computed by the forward pass of
the training code, go into tests/golden/tiny_model.json, where the model in `sim` is held to them.
"""

import argparse
import json
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import numpy as np

from sim.model import tokenizer
from sim.model.generation import Decoder, generate
from sim.model.sampling import GREEDY
from sim.model.tokenizer import Tokenizer
from sim.model.transformer import Array
from tools import corpus, gradients
from tools.gradients import Parameters

FOLDER = corpus.ROOT / "assets" / "model"
GOLDEN = corpus.ROOT / "tests" / "golden" / "tiny_model.json"
VOCAB = 2048
WINDOW = 256  # tokens
NUM_WINDOWS = 4  # per step
PEAK_RATE = 3e-3
WARMUP_STEPS = 40
BETAS = (0.9, 0.98)
WEIGHT_DECAY = 0.1  # of matrices
LONGEST_GRADIENT = 1.0
REPORT_EVERY = 50  # steps
PROMPTS = (
    "连续批处理每一步",
    "第一个 token",
    "显存用满之后",
    "Continuous batching decides",
    "The first token",
    "When KV memory",
)
GOLDEN_TEXTS = ("显存不够的时候，", "The KV cache of a request ", "🙂 ok?")
GOLDEN_TOKENS = 8  # logits kept of each last position: the largest ones


@dataclass(frozen=True)
class Size:
    """What a model is, by the names of `specs.Model`, and how often it reads the prose."""

    layers: int
    hidden: int
    q_heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    passes: int


SIZES = {
    "target": Size(layers=4, hidden=128, q_heads=4, kv_heads=2, head_dim=32, ffn=512, passes=30),
    "draft": Size(layers=2, hidden=96, q_heads=3, kv_heads=1, head_dim=32, ffn=320, passes=20),
}


def start(size: Size, rng: np.random.Generator) -> Parameters:
    """Normal weights, those that add to the residual stream smaller; norms are one."""

    def normal(*shape: int, deviation: float = 0.05) -> Array:
        return rng.normal(0, deviation, shape).astype(np.float32)

    depth = size.layers
    small = 0.05 / np.sqrt(2 * depth)
    return {
        "embedding": normal(VOCAB, size.hidden),
        "attention_norm": np.ones((depth, size.hidden), np.float32),
        "query": normal(depth, size.hidden, size.q_heads, size.head_dim),
        "key": normal(depth, size.hidden, size.kv_heads, size.head_dim),
        "value": normal(depth, size.hidden, size.kv_heads, size.head_dim),
        "output": normal(depth, size.q_heads, size.head_dim, size.hidden, deviation=small),
        "ffn_norm": np.ones((depth, size.hidden), np.float32),
        "gate": normal(depth, size.hidden, size.ffn),
        "up": normal(depth, size.hidden, size.ffn),
        "down": normal(depth, size.ffn, size.hidden, deviation=small),
        "final_norm": np.ones(size.hidden, np.float32),
    }


class Adam:
    """AdamW (Loshchilov and Hutter 2019) with warm-up, cosine decay and clipped gradients."""

    def __init__(self, parameters: Parameters, steps: int):
        self.steps, self.step = steps, 0
        self.mean = {name: np.zeros_like(array) for name, array in parameters.items()}
        self.square = {name: np.zeros_like(array) for name, array in parameters.items()}

    def update(self, parameters: Parameters, gradient: Parameters) -> None:
        self.step += 1
        rate = PEAK_RATE * min(1, self.step / WARMUP_STEPS)
        rate *= 0.525 + 0.475 * np.cos(np.pi * self.step / self.steps)
        length = np.sqrt(sum(float((g * g).sum()) for g in gradient.values()))
        clip = min(1.0, LONGEST_GRADIENT / length)
        for name, array in parameters.items():
            change = gradient[name] * clip
            for kept, beta, new in (
                (self.mean[name], BETAS[0], change),
                (self.square[name], BETAS[1], change * change),
            ):
                kept *= beta
                kept += (1 - beta) * new
            mean = self.mean[name] / (1 - BETAS[0] ** self.step)
            square = self.square[name] / (1 - BETAS[1] ** self.step)
            decay = 0 if name.endswith("norm") else WEIGHT_DECAY
            array -= (rate * (mean / (np.sqrt(square) + 1e-8) + decay * array)).astype(array.dtype)


def train(
    size: Size, trained: list[Array], held_out: Array, seed: int, teacher: Parameters | None
) -> Parameters:
    """`trained` are paragraphs, `held_out` are windows; the teacher is whom a draft imitates."""
    rng = np.random.default_rng(seed)
    parameters = start(size, rng)
    steps = size.passes * sum(map(len, trained)) // (NUM_WINDOWS * WINDOW)
    adam = Adam(parameters, steps)
    print(f"{sum(array.size for array in parameters.values()):,} parameters, {steps} steps")
    for step in range(1, steps + 1):
        windows = np.stack([some_window(trained, rng) for _ in range(NUM_WINDOWS)])
        value, gradient = gradients.loss_and_gradients(parameters, windows, teacher)
        adam.update(parameters, gradient)
        if step % REPORT_EVERY == 0 or step == steps:
            unseen = gradients.loss(parameters, held_out)
            print(f"step {step}: loss {value:.3f}, held out {unseen:.3f}", flush=True)
    return {name: array.astype(np.float16).astype(np.float32) for name, array in parameters.items()}


def some_window(paragraphs: list[Array], rng: np.random.Generator) -> Array:
    """[WINDOW + 1] tokens of paragraphs in any order, so that none needs another before it."""
    picked: list[Array] = []
    while sum(map(len, picked)) <= WINDOW:
        picked.append(paragraphs[rng.integers(len(paragraphs))])
    return np.concatenate(picked)[: WINDOW + 1]


def all_windows(paragraphs: list[Array]) -> Array:
    """[num_windows, WINDOW + 1], one after another; what is left at the end is dropped."""
    stream = np.concatenate(paragraphs)
    starts = np.arange((len(stream) - 1) // WINDOW) * WINDOW
    return stream[starts[:, None] + np.arange(WINDOW + 1)]


def continued(parameters: Parameters, encoder: Tokenizer, prompt: str, num_tokens: int) -> str:
    """The prompt and its greedy continuation, up to the end of the paragraph."""
    decoder = Decoder.with_room(gradients.as_weights(parameters), WINDOW)
    steps = generate(decoder, encoder.prompt(prompt), num_tokens, GREEDY)
    return prompt + encoder.decode(takewhile(lambda t: t != encoder.end, (s.token for s in steps)))


def golden(parameters: Parameters, encoder: Tokenizer) -> list[dict[str, object]]:
    """The largest logits after some texts, from the forward pass of the training code."""
    rows: list[dict[str, object]] = []
    for text in GOLDEN_TEXTS:
        tokens = encoder.prompt(text)
        last = gradients.logits(parameters, np.array([tokens]))[0, -1]  # [vocab]
        top = np.argsort(-last, kind="stable")[:GOLDEN_TOKENS]
        values = [round(float(last[token]), 4) for token in top]
        rows.append({"tokens": tokens, "top": top.tolist(), "logits": values})
    return rows


def write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    FOLDER.mkdir(exist_ok=True)

    everything = corpus.paragraphs()
    held_out = [paragraph for paragraph in everything if corpus.is_held_out(paragraph.text)]
    texts = [paragraph.text for paragraph in everything if not corpus.is_held_out(paragraph.text)]
    encoder = tokenizer.train(texts, VOCAB - tokenizer.NUM_BYTES - 1)
    encoder.save(FOLDER / "tokenizer.json")
    write_json(FOLDER / "held_out.json", [paragraph._asdict() for paragraph in held_out])
    trained = [np.array(encoder.prompt(text)) for text in texts]
    unseen = all_windows([np.array(encoder.prompt(paragraph.text)) for paragraph in held_out])
    num_tokens = sum(map(len, trained))
    print(f"{len(texts)} paragraphs, {num_tokens:,} tokens; held out {len(held_out)} paragraphs")

    rows: dict[str, object] = {}
    teacher: Parameters | None = None
    for name, size in SIZES.items():
        print(f"\n{name}: ", end="")
        parameters = train(size, trained, unseen, seed, teacher)
        gradients.as_weights(parameters).save(FOLDER / f"{name}.npz")
        losses = {
            "trained": gradients.loss(parameters, all_windows(trained)),
            "held_out": gradients.loss(parameters, unseen),
        }
        print(", ".join(f"{which} {value:.3f} nats/token" for which, value in losses.items()))
        for prompt in PROMPTS:
            print(f"  {continued(parameters, encoder, prompt, num_tokens=60)}".replace("\n", " / "))
        rows[name] = golden(parameters, encoder)
        teacher = parameters  # the draft is there to guess what the target will say
    write_json(GOLDEN, rows)


if __name__ == "__main__":
    main()
