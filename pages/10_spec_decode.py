"""Chapter 10.  Speculative decoding: a small model proposes, the large one checks.

The reader watches a real draft and a real target write on their own text, turns acceptance, draft
cost and the number of proposals, compares with what has been measured, raises the load until
speculation makes the server slower, and sees by counting that the target's distribution stays.
"""

from sim import specs
from sim.cost import Roofline
from sim.engine import Tally
from sim.kv import sizes
from sim.studies.acceptance import (
    InRuns,
    UnderLoad,
    accepted_share,
    best_num_proposed,
    expected_tokens,
    round_steps,
    speedup,
    tally_of,
)
from ui import lesson, tiny_model
from ui.lesson import Card, tr
from ui.practice import predict
from ui.subjects.speculation import pictures, speculation_notes, written_rounds
from ui.words.numbers import count, percent, plain, seconds, significant

TEXT = "Continuous batching 连续批处理每一步都"
SEED = 15
NUM_PROPOSED = (1, 2, 3, 4, 6, 8)
TEMPERATURES = {"0": "0", "0.7": "0.7", "1": "1"}
ACCEPTANCES = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99)
COSTS = (0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
SAID = 3  # accepted in the question, of
ASKED = 4
MOST = pictures.MOST_PROPOSED
IN_RUNS = InRuns((0.95, 0.55), num_proposed=7)

OTHER_TEXTS = {
    "poem": "床前明月光，疑是地上霜。举头望明月，低头思故乡。",
    "play": "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer",
    "code": "def speculate(target, draft, tokens):\n    for i in range(4):\n        print(i)",
    "copy": "A A A A A A A A A A A A A A A A A A A A A A A A",
}
COURSE = "连续批处理每一步都重新决定批里有谁：完成的立刻离开，等待的立刻补上。"

MODEL = specs.MODELS["Llama-3.1-8B"]
GPUS = ("RTX 4090", "A100 80G SXM", "H100 SXM")
BATCHES = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 448, 512)
CONTEXTS = (256, 512, 1_024, 2_048, 4_096)
LARGEST_BATCH = 512
USUAL: dict[str, object] = {"gpu": "H100 SXM", "context": 512, "k": 4, "a": 0.7, "cost": 0.1}
LOADS: dict[str, dict[str, object]] = {
    "load_turns": USUAL | {"batch": 256},
    "load_small_gpu": USUAL | {"gpu": "RTX 4090", "context": 256, "batch": 96},
    "load_long": USUAL | {"context": 4096, "batch": 64},
    "load_greedy_k": USUAL | {"k": 8, "batch": 96},
}
WRITTEN: dict[str, object] = {"text": TEXT, "k": ASKED, "temperature": "0.7", "seed": SEED}
TEXTS: dict[str, dict[str, object]] = {
    "hook_english": WRITTEN | {"text": "Sampling follows prefill at once;", "seed": 2},
    "hook_greedy": WRITTEN | {"temperature": "0"},
    "hook_foreign": WRITTEN | {"text": "😎 مرحبا <b>1 + 1 =</b>"},
}

chapter = lesson.open(__file__)
TOKENS = tr("token", "tokens")


def choose_text(label: str) -> str:
    text = chapter.write(label, start=TEXT)
    chapter.problem(speculation_notes.left_out(tiny_model.left_out(text)))
    return text


def choose_temperature(**more: bool) -> float:
    label = tr("温度", "Temperature")
    return float(chapter.choose("temperature", label, TEMPERATURES, start="0.7", **more))


def choose_k(**more: bool) -> int:
    label = tr("每轮提议 k", "Proposals k")
    return int(chapter.pick("k", label, NUM_PROPOSED, start=ASKED, **more))


def choose_acceptance() -> float:
    label = tr("接受率 a", "Acceptance a")
    return chapter.pick("a", label, ACCEPTANCES, start=0.7, live=True)


def choose_cost(**more: bool) -> float:
    label = tr("draft 一步的代价 c", "Cost c of a draft step")
    return chapter.pick("cost", label, COSTS, start=0.1, **more)


@chapter.act("hook", tr("试稿", "A draft"))
def hook() -> None:
    chapter.say("hook")
    text = choose_text(tr("接着这段文字往下写", "Go on from this text"))
    num_proposed = choose_k()
    temperature = choose_temperature(advanced=True)
    seed = int(chapter.slide("seed", tr("随机种子", "Seed"), 0, 50, start=SEED, advanced=True))
    rounds = written_rounds.rounds(text, num_proposed, temperature, seed)
    tally = tally_of(rounds)

    guess = chapter.predict(
        "abcd",
        chapter.words("hook_question"),
        predict.Value(0, 8, TOKENS, truth=Tally(1, ASKED, SAID).num_tokens),
        outcome=chapter.words("hook_outcome"),
    )
    alt = tr(
        "逐步播放：draft 提议的 token、target 的判定、两边的概率条",
        "Step by step: tokens that the draft proposes, what becomes of them, both probabilities",
    )
    chapter.play(written_rounds.as_tape(text, rounds, alt), "tape")
    chapter.leaves_out("hook_leaves_out")
    chapter.say("hook_result", after=guess)
    chapter.say(
        "hook_numbers",
        passes=count(tally.num_rounds),
        tokens=count(tally.num_tokens),
        each=significant(tally.tokens_per_round),
        proposed=count(tally.num_proposed),
        accepted=count(tally.num_accepted),
        rate=percent(tally.accepted_share),
    )
    chapter.say("hook_heads", hidden_by=guess)
    chapter.presets(TEXTS)


@chapter.act("worth", tr("划算吗", "Is it worth it"))
def worth() -> None:
    chapter.say("worth")
    a = choose_acceptance()
    num_proposed = choose_k(live=True)
    cost = choose_cost(live=True)
    best = best_num_proposed(a, cost, MOST)
    tokens, gain = expected_tokens(a, num_proposed), speedup(a, num_proposed, cost)
    share = accepted_share(a, num_proposed)
    chapter.cards(
        [
            Card(tr("每轮的 token", "Tokens per round"), significant(tokens)),
            Card(tr("加速比", "Speed-up"), f"{significant(gain)}×"),
            Card(tr(f"最好的 k（≤ {MOST}）", f"Best k (≤ {MOST})"), count(best)),
            Card(tr("这时的加速比", "Speed-up there"), f"{significant(speedup(a, best, cost))}×"),
        ]
    )
    chapter.draw(
        pictures.speedup_over_k(a, cost, num_proposed, best, large=chapter.large),
        "speedup",
        alt=tr(
            "加速比随每轮提议数先升后降；虚线是不花时间的 draft",
            "The speed-up rises with the proposals and then falls; dashed: a draft that is free",
        ),
    )
    chapter.draw(
        pictures.tokens_over_acceptance(a, num_proposed, large=chapter.large),
        "tokens",
        alt=tr(
            "每轮产出的 token 随接受率上升：公式的曲线和抽签模拟的点",
            "Tokens per round rise with acceptance: the formula's curve and points drawn by lot",
        ),
    )
    chapter.leaves_out("worth_leaves_out", rounds=count(pictures.NUM_ROUNDS))
    chapter.say(
        "worth_none" if best == 0 else "worth_result",
        a=plain(a),
        k=num_proposed,
        cost=plain(cost),
        tokens=significant(tokens),
        gain=significant(gain),
        share=percent(share),
        best=best,
        most=MOST,
    )
    chapter.explain(
        "worth_formula",
        a=plain(a),
        k=num_proposed,
        cost=plain(cost),
        tokens=significant(tokens),
        gain=significant(gain),
        share=percent(share),
        misread=significant(speedup(share, num_proposed, cost)),
    )
    chapter.presets(
        {
            "worth_high": {"a": 0.85, "cost": 0.5, "k": 8},
            "worth_many": {"a": 0.5, "cost": 0.05, "k": 8},
            "worth_free": {"a": 0.5, "cost": 0, "k": 8},
        }
    )


@chapter.act("measured", tr("量出来的", "As measured"), deeper=True)
def measured() -> None:
    chapter.say("measured")
    text = choose_text(tr("你的文字", "Your text"))
    temperature = choose_temperature()
    names = {
        "poem": tr("唐诗", "a Chinese poem"),
        "play": tr("莎士比亚", "Shakespeare"),
        "code": tr("代码", "code"),
        "copy": tr("重复的 A", "A A A A ..."),
    }
    texts = {
        tr("本课程", "this course"): COURSE,
        **{names[code]: other for code, other in OTHER_TEXTS.items()},
        tr("你的文字", "your text"): text,
    }
    shares = {
        name: written_rounds.mean_acceptance(each, temperature) for name, each in texts.items()
    }
    rounds = written_rounds.rounds(text, ASKED, temperature, SEED)
    tally, cost = tally_of(rounds), written_rounds.draft_cost()
    a = shares[tr("你的文字", "your text")]
    formula = expected_tokens(a, ASKED)
    chapter.cards(
        [
            Card(tr("你的文字：a", "Your text: a"), percent(a)),
            Card(
                tr("每轮的 token", "Tokens per round"),
                significant(tally.tokens_per_round),
                tr(f"公式：{significant(formula)}", f"by formula {significant(formula)}"),
            ),
            Card(tr("draft 的代价 c", "Cost of the draft, c"), significant(cost)),
            Card(tr("加速比", "Speed-up"), f"{significant(tally.speedup(cost))}×"),
        ]
    )
    chapter.draw(
        pictures.by_text(shares, large=chapter.large),
        "texts",
        alt=tr(
            "同一对模型在各种文字上的接受率", "Acceptance of the same two models by kind of text"
        ),
    )
    chapter.draw(
        pictures.published(large=chapter.large),
        "published",
        alt=tr(
            "论文里的十二次实测：加速比与公式给出的每轮 token 数",
            "Twelve measurements of the paper: speed-up against tokens per round by the formula",
        ),
    )
    chapter.leaves_out("measured_leaves_out", "measured", "leviathan-table")
    chapter.say(
        "measured_result",
        course=percent(shares[tr("本课程", "this course")]),
        code=percent(shares[names["code"]]),
        copy=percent(shares[names["copy"]]),
        cost=significant(cost),
        k=ASKED,
        steps=significant(round_steps(ASKED, cost), 2),
        gain=significant(tally.speedup(cost)),
        formula=significant(formula),
        tokens=significant(tally.tokens_per_round),
    )
    chapter.say(
        "measured_paper",
        k=IN_RUNS.num_proposed,
        easy=plain(max(IN_RUNS.stretches)),
        hard=plain(min(IN_RUNS.stretches)),
        runs=significant(IN_RUNS.tokens_per_round),
        alike=significant(IN_RUNS.tokens_if_alike),
    )


@chapter.act("load", tr("忙起来", "Under load"))
def load() -> None:
    chapter.say("load")
    label = tr("批大小", "Batch")
    batch = int(chapter.pick("batch", label, BATCHES, start=16, live=True))
    num_proposed = choose_k(live=True)
    a = choose_acceptance()
    label = tr("每个请求的上下文", "Context of each")
    context = int(chapter.pick("context", label, CONTEXTS, start=512, unit=TOKENS, live=True))
    cost = choose_cost(advanced=True)
    gpu = specs.GPUS[chapter.choose("gpu", "GPU", GPUS, start="H100 SXM", advanced=True)]
    fitting = min(sizes.Division(MODEL, gpu).num_requests(context), LARGEST_BATCH)
    batches = pictures.up_to(fitting, BATCHES)
    batch = min(batch, batches[-1])
    here = UnderLoad(Roofline(MODEL, gpu), context, num_proposed, cost)
    turns = here.first_batch_that_loses(a, fitting)
    chapter.cards(
        [
            Card(tr("普通一步", "Plain step"), seconds(here.plain_seconds(batch))),
            Card(tr("投机一轮", "Round"), seconds(here.round_seconds(batch))),
            Card(tr("加速比", "Speed-up"), f"{significant(here.speedup(a, batch))}×"),
            Card(
                tr("从这里起更慢", "Slower from"),
                speculation_notes.batch_or_none(turns),
            ),
        ]
    )
    chapter.draw(
        pictures.speedup_over_batch(here, a, batch, batches, large=chapter.large),
        "gain",
        alt=tr(
            "加速比随批大小下降，降到 1 以下就比不投机更慢",
            "The speed-up falls with the batch; below 1 plain decoding is faster",
        ),
    )
    chapter.draw(
        pictures.steps_over_batch(here, batch, batches, large=chapter.large),
        "steps",
        alt=tr(
            "普通一步、一次验证、整轮各要多久，随批大小",
            "How long a plain step, a verification and a round take, by batch",
        ),
    )
    chapter.leaves_out("load_leaves_out", model=MODEL.name, gpu=gpu.name, fitting=count(fitting))
    chapter.say(
        "load_result",
        batch=count(batch),
        rows=speculation_notes.product(num_proposed, batch),
        plain=seconds(here.plain_seconds(batch)),
        verify=seconds(here.verify_seconds(batch)),
        round=seconds(here.round_seconds(batch)),
        gain=significant(here.speedup(a, batch)),
    )
    if turns is None:
        chapter.say("load_never", fitting=count(fitting))
    else:
        chapter.say("load_slower", turns=count(turns))
    chapter.say("load_cure")
    chapter.presets(LOADS)
    chapter.say("load_others")
    why = tr("为什么请求少时受带宽限制", "Why few requests are memory-bound")
    whole = tr("在整台服务器里打开（“更多”里）", "Turn it on in a whole server (under “More”)")
    chapter.leads({why: "02_prefill_decode", whole: "17_workbench"})
    chapter.flags()


@chapter.act("proof", tr("分布没变", "The same distribution"), deeper=True)
def proof() -> None:
    chapter.say("proof", draws=count(pictures.NUM_DRAWS))
    text = choose_text(tr("你的文字", "Your text"))
    seed = int(chapter.slide("draw", tr("换一批抽签", "Another series of draws"), 0, 20, start=0))
    before, right, wrong = pictures.both_rules(text, 1.0, seed)
    chapter.cards(
        [
            Card(tr("对的规则：p 值", "Right rule: p-value"), significant(right.p_value, 2)),
            Card(
                tr("错的规则：p 值", "Wrong rule: p-value"), speculation_notes.tiny(wrong.p_value)
            ),
        ]
    )
    chapter.draw(
        pictures.counted(right, wrong, large=chapter.large),
        "counted",
        alt=tr(
            "每个 token 应有的次数、两种规则抽到的次数",
            "How often each token should come, and how often it came by either rule",
        ),
    )
    chapter.leaves_out("proof_leaves_out", draws=count(pictures.NUM_DRAWS))
    chapter.say(
        "proof_result" if right.holds else "proof_unlucky",
        before=speculation_notes.in_markdown(before),
        right=significant(right.p_value, 2),
    )
    chapter.say(
        "proof_close" if wrong.holds else "proof_wrong",
        wrong=speculation_notes.tiny(wrong.p_value),
    )
    chapter.prove("greedy_speculation", text)
    chapter.prove("sampled_speculation", text)
    chapter.explain("proof_why")


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


chapter.show()
