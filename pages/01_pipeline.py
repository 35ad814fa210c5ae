"""Chapter 1.  The pipeline: a sentence travels through the server, and a real tiny model reads it.

The reader guesses how many passes an answer takes and follows a text of their own from station to
station, looks into the prefill, bends the distribution that a token is drawn from, sees half a
character wait, and sends many requests through the same stations.
"""

from ui import lesson, pipeline, predict
from ui.lesson import tr
from ui.numbers import count

OUTPUTS = (1, 2, 4, 8, 12)

chapter = lesson.open(__file__)


def write() -> str:
    return chapter.write(tr("你的文字", "Your text"))


@chapter.act("hook", tr("一句话的旅程", "A sentence travels"))
def hook() -> None:
    chapter.say("hook")
    text = write()
    label = tr("写几个 token", "Tokens to write")
    tokens = int(chapter.pick("tokens", label, OUTPUTS, start=8))
    way = pipeline.passage(text, tokens)
    passes = len(way.turns)

    guess = chapter.predict(
        "passes",
        chapter.words("hook_question", tokens=count(passes)),
        predict.Value(0, 30, tr("遍", ""), truth=passes),
        outcome=chapter.words("hook_outcome", passes=count(passes), decodes=count(passes - 1)),
    )
    alt = tr(
        "一段文字逐站走过服务器：分词、队列、预填充、采样、还原，再一圈圈解码",
        "A text at one station after another: tokenize, queue, prefill, sample, detokenize, decode",
    )
    chapter.play(pipeline.frames(text, way, alt), "stations")
    chapter.leaves_out("hook_leaves_out")
    chapter.say(
        "hook_result",
        after=guess,
        prompt=count(len(way.prompt)),
        passes=count(passes),
        decodes=count(passes - 1),
        prefill=pipeline.time(way.turns[0].times.forward),
        rows=count(len(way.prompt)),
    )
    chapter.say("hook_stations")
    chapter.leads(
        {
            tr("队列与批", "queue and batch"): "05_batching",
            tr("预填充与解码", "prefill and decode"): "02_prefill_decode",
            tr("KV 缓存", "KV cache"): "06_kv_cache",
            tr("每一站的时间", "time at each station"): "03_latency",
        }
    )
    chapter.prove("first_token", text)


chapter.show()
