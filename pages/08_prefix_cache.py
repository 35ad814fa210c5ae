"""Chapter 8.  The prefix cache: the same beginning is computed once.

The reader guesses what a cache makes faster, edits a prompt and watches every later hash change,
watches blocks being shared, left and evicted, and finds out how large a cache must be.
"""

from sim import scheduler, specs
from sim.cost import Roofline
from sim.engine import Setup
from sim.kv import Paged
from sim.kv.chain import Lookup, chain
from sim.metrics import computed_tokens, reused_tokens
from ui import lesson, predict, prefix, prompts, runs
from ui.hash_chain import walk
from ui.lesson import Card, tr
from ui.numbers import count, percent, seconds

MODEL, GPU = specs.MODELS["Llama-3.1-8B"], specs.GPUS["RTX 4090"]
CLOCK = Roofline(MODEL, GPU)
GAP_SECONDS = 2.0  # one prompt after the other: nobody waits for anybody
SCENES = {
    "document": tr("文档", "Document"),
    "system": tr("系统提示", "System"),
    "shots": tr("示例", "Examples"),
    "chat": tr("对话", "Chat"),
}
EDITS = {
    "same": tr("原样", "The same"),
    "append": tr("末尾加一句", "Append a sentence"),
    "word": tr("改一个词", "Change one word"),
    "time": tr("开头加时间", "Put the time first"),
    "time_last": tr("时间放末尾", "Put the time last"),
    "own": tr("自己写", "Write my own"),
}
BLOCK_SIZES = (4, 8, 16, 32)

chapter = lesson.open(__file__)
TOKENS = tr("token", "tokens")
OFF, ON = tr("没有缓存", "without"), tr("有缓存", "with")


def one_after_another(scene: str, caching: bool) -> Setup:
    memory = Paged.beside(MODEL, GPU, prefix_caching=caching)
    return Setup(prompts.requests(scene, GAP_SECONDS), scheduler.Chunked(8), memory, CLOCK)


@chapter.act("hook", tr("有缓存，没缓存", "With and without"))
def hook() -> None:
    chapter.say("hook", model=MODEL.name, gpu=GPU.name)
    scene = chapter.choose("scene", tr("场景", "Scene"), SCENES, start="document")
    is_on = chapter.toggle("cache", tr("前缀缓存", "Prefix cache"))
    setups = {OFF: one_after_another(scene, False), ON: one_after_another(scene, True)}
    off, on = runs.summary(setups[OFF]), runs.summary(setups[ON])
    shown = setups[ON] if is_on else setups[OFF]
    now, run = runs.summary(shown), runs.run(shown)

    metrics = {
        "ttft": tr("TTFT（均值）", "TTFT (mean)"),
        "itl": tr("ITL（均值）", "ITL (mean)"),
        "whole": tr("整个回答的用时", "Time of a whole answer"),
    }
    truth = {
        "ttft": predict.trend(off.ttft.mean, on.ttft.mean),
        "itl": predict.trend(off.itl.mean, on.itl.mean),
        "whole": predict.trend(off.e2e.mean, on.e2e.mean),
    }
    measured = {
        "ttft_off": seconds(off.ttft.mean),
        "ttft_on": seconds(on.ttft.mean),
        "itl_off": seconds(off.itl.mean),
        "itl_on": seconds(on.itl.mean),
        "whole_off": seconds(off.e2e.mean),
        "whole_on": seconds(on.e2e.mean),
    }
    guess = chapter.predict(
        "faster",
        chapter.words("hook_question"),
        predict.Trends(metrics, truth),
        outcome=chapter.words("hook_outcome", **measured),
    )
    chapter.cards(
        [
            Card(tr("要算的提示词 token", "Prompt tokens computed"), count(computed_tokens(run))),
            Card(tr("命中率", "Hit rate"), percent(now.prefix_hit_rate)),
            Card(metrics["ttft"], seconds(now.ttft.mean)),
            Card(metrics["itl"], seconds(now.itl.mean)),
        ]
    )
    chapter.draw(
        prefix.computed_and_reused(run, large=chapter.large),
        "prompts",
        alt=tr(
            "每个提示词一条：命中的一段、要算的一段，后面写着它的 TTFT",
            "A bar for each prompt: what was cached, what is computed, and its TTFT",
        ),
    )
    chapter.draw(
        prefix.first_and_others(
            {name: runs.run(setup) for name, setup in setups.items()}, large=chapter.large
        ),
        "time",
        alt=tr(
            "有缓存和没缓存各一条：首 token 之前的时间，之后的时间",
            "A bar with and one without the cache: the time until the first token, and after it",
        ),
        after=guess,
    )
    chapter.leaves_out("hook_leaves_out", gap=seconds(GAP_SECONDS))
    chapter.say(
        "hook_result",
        after=guess,
        all=count(computed_tokens(runs.run(setups[OFF]))),
        computed=count(computed_tokens(runs.run(setups[ON]))),
        saved=count(reused_tokens(runs.run(setups[ON]))),
        ttft_off=measured["ttft_off"],
        ttft_on=measured["ttft_on"],
        itl_on=measured["itl_on"],
    )
    chapter.say("hook_limits", hidden_by=guess, floor=seconds(CLOCK.decode_floor_seconds))


@chapter.act("chain", tr("哈希链", "The hash chain"))
def hash_chain() -> None:
    chapter.say("chain")
    edit = chapter.choose("edit", tr("新提示词", "The new prompt"), EDITS, start="word")
    label = tr("块大小", "Block size")
    size = int(chapter.pick("size", label, BLOCK_SIZES, start=8, unit=TOKENS, live=True))
    cached = prompts.edited("same")
    if edit == "own":
        asked = prompts.typed(chapter.write(tr("你的提示词", "Your prompt"), start=cached))
    else:
        asked = prompts.tokens(prompts.edited(edit))
    lookup = Lookup(chain(asked, size), chain(prompts.tokens(cached), size))
    alt = tr(
        "逐步播放：上面是缓存里的块，下面是新提示词的块，一块一块查",
        "Step by step: cached blocks above, those of the new prompt below, looked up one by one",
    )
    chapter.play(walk(lookup, alt), "lookup")
    chapter.leaves_out("chain_leaves_out")
    chapter.say("chain_result", found=lookup.num_found, computed=count(lookup.computed_tokens))


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()
    chapter.flags()


chapter.show()
