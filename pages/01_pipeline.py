"""Chapter 1.  The pipeline: a sentence travels through the server, and a real tiny model reads it.

The reader guesses how many passes an answer takes and follows a text of their own from station to
station, looks into the prefill, bends the distribution that a token is drawn from, sees half a
character wait, and sends many requests through the same stations.
"""

from sim import scheduler, workload
from sim.cost import SimpleClock
from sim.engine import Setup
from sim.kv import Paged, sizes
from sim.model.sampling import Sampling
from ui import lesson, tiny_model
from ui.lesson import Card, tr
from ui.practice import predict
from ui.results import runs
from ui.subjects.pipeline import model_pictures, pictures, text_so_far
from ui.words.numbers import count, memory, percent, plain, seconds, significant

MODEL = tiny_model.target().model
OUTPUTS = (1, 2, 4, 8, 12)
LAYERS = tuple(range(1, MODEL.layers + 1))
HEADS = tuple(range(1, MODEL.q_heads + 1))
FEW = 4  # tokens written where the prefill is what is looked at
SHOWN = 5  # tokens that have come, to begin with
TOP_K = (0, 1, 2, 5, 20, 100)  # 0: all
DRAWS = {"0": tr("不抽", "none"), "1": tr("1 次", "once"), "100": tr("100 次", "100 times")}
SAMPLERS: dict[str, dict[str, object]] = {
    "sampler_greedy": {"temperature": 0},
    "sampler_hot": {"temperature": 2},
    "sampler_nucleus": {"temperature": 1, "top_p": 0.5},
    "sampler_few": {"temperature": 2, "top_k": 2},
}
SCRIPTS: dict[str, dict[str, object]] = {
    "bytes_plain": {"text": "The queue is short.", "came": 4},
    "bytes_rare": {"text": "龘是一个字", "came": 2},
    "bytes_arabic": {"text": "مرحبا", "came": 3},
}
SAME_STEPS = SimpleClock(prefill_tokens_per_second=64_000, decode_seconds_per_step=1 / 64)
POOL = Paged(num_blocks=65)
REAL_POOL = Paged.beside(pictures.REAL.model, pictures.REAL.gpu)
# The first request is the reader's: its prompt is their text.
PROMPTS = (0, 40, 12, 90, 25, 60, 18, 33, 75, 20, 50, 15)
ANSWERS = (8, 14, 6, 10, 18, 8, 12, 5, 16, 9, 7, 11)
MOST = len(ANSWERS)

chapter = lesson.open(__file__)


def write() -> str:
    return chapter.write(tr("你的文字", "Your text"))


@chapter.act("hook", tr("一句话的旅程", "A sentence travels"))
def hook() -> None:
    chapter.say("hook")
    chapter.presets(
        {
            "try_batching": {"text": tr("连续批处理每一步都", "Continuous batching"), "tokens": 12},
            "try_prefill": {"text": tr("预填充", "The first token"), "tokens": 12},
        }
    )
    text = write()
    label = tr("写几个 token", "Tokens to write")
    tokens = int(chapter.pick("tokens", label, OUTPUTS, start=8))
    way = pictures.passage(text, tokens)
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
    chapter.play(pictures.frames(text, way, alt), "stations")
    chapter.leaves_out("hook_leaves_out")
    chapter.say(
        "hook_result",
        after=guess,
        prompt=count(len(way.prompt)),
        passes=count(passes),
        decodes=count(passes - 1),
        prefill=pictures.time(way.turns[0].times.forward),
        rows=count(len(way.prompt)),
    )
    if way.is_held:
        chapter.say("hook_held", least=pictures.MIN_TOKENS)
    real = pictures.AtRealScale(way, tokens)
    asked = workload.of_lengths([tokens], real.prompt_tokens)
    alone = Setup(asked, scheduler.Chunked(), REAL_POOL, pictures.REAL)
    summary = runs.summary(alone)
    chapter.explain(
        "hook_real",
        model=pictures.REAL.model.name,
        gpu=pictures.REAL.gpu.name,
        template=pictures.TEMPLATE_TOKENS,
        prompt=count(real.prompt_tokens),
        tokens=count(tokens),
        per_token=memory(pictures.REAL.model.kv_bytes_per_token),
        kv=memory(real.kv_bytes),
        prefill=seconds(summary.ttft.mean),
        decode=seconds(real.decode_seconds),
        end=seconds(summary.e2e.mean),
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


@chapter.act("prefill", tr("预填充里面", "Inside the prefill"))
def prefill() -> None:
    chapter.say("prefill")
    text = write()
    layer = int(chapter.pick("layer", tr("层", "Layer"), LAYERS, start=2, live=True))
    head = int(chapter.pick("head", tr("头", "Head"), HEADS, start=1, live=True))
    way = pictures.passage(text, FEW)
    size = len(way.prompt)
    chapter.cards(
        [
            Card(tr("预填充的行数", "Rows of the prefill"), count(size)),
            Card(tr("每步解码的行数", "Rows of a decode"), count(way.turns[-1].num_new)),
            Card(tr("每 token 的 KV", "KV per token"), memory(MODEL.kv_bytes_per_token)),
            Card(
                tr("预填充写下的 KV", "KV of the prefill"), memory(sizes.request_bytes(MODEL, size))
            ),
        ]
    )
    chapter.draw(
        model_pictures.attention(way, layer, head, large=chapter.large),
        "attention",
        alt=tr(
            "一行一个 token，一列一个被看的 token，颜色越浓看得越多；右上角空着，后面的看不见",
            "A row per token, a column per token it looks at, the stronger the more; "
            "the upper right is empty",
        ),
    )
    chapter.leaves_out("prefill_leaves_out")
    chapter.say(
        "prefill_result",
        rows=count(size),
        layers=MODEL.layers,
        heads=MODEL.kv_heads,
        per_token=memory(MODEL.kv_bytes_per_token),
    )
    chapter.explain(
        "prefill_formula",
        layers=MODEL.layers,
        heads=MODEL.kv_heads,
        dim=MODEL.head_dim,
        element=plain(MODEL.kv_element_bytes),
        per_token=memory(MODEL.kv_bytes_per_token),
        rows=count(size),
    )
    chapter.prove("cached", text)
    chapter.prove("paged", text)


@chapter.act("sampler", tr("采样", "The sampler"))
def sampler() -> None:
    chapter.say("sampler")
    text = write()
    label = tr("温度", "Temperature")
    temperature = chapter.slide("temperature", label, 0.0, 2.0, start=1.0, step=0.1, live=True)
    top_k = int(chapter.pick("top_k", "top-k", TOP_K, start=0, live=True))
    top_p = chapter.slide("top_p", "top-p", 0.05, 1.0, start=1.0, step=0.05, live=True)
    one = model_pictures.choice(pictures.passage(text, 1), Sampling(temperature, top_k, top_p))
    chapter.cards(
        [
            Card(tr("还可能来的 token", "Tokens left"), count(one.num_left)),
            Card(tr("最可能的占", "Most probable"), percent(one.most_probable)),
            Card(tr("留下的原有概率", "Kept of the model's"), percent(one.kept)),
        ]
    )
    label = tr("抽一抽", "Draw")
    times = int(chapter.choose("draws", label, DRAWS, start="0"))
    seed = int(chapter.number("seed", tr("第几回", "Try number"), 1, 99, start=1))
    came = model_pictures.drawn(one, times, seed)
    chapter.draw(
        model_pictures.candidates(one, came, large=chapter.large),
        "candidates",
        alt=tr(
            "最可能的几个 token：灰的是模型给的概率，红的是抽的时候用的",
            "The most probable tokens: grey as the model has it, red as they are drawn",
        ),
    )
    chapter.leaves_out("sampler_leaves_out")
    chapter.say("sampler_result", left=count(one.num_left), most=percent(one.most_probable))
    if came:
        (token, how_often), *_ = came
        shown, share = tiny_model.in_prose(token), percent(one.share(token))
        if times == 1:
            chapter.say("sampler_drawn_once", token=shown, share=share)
        else:
            chapter.say(
                "sampler_drawn",
                times=count(times),
                kinds=count(len(came)),
                token=shown,
                how_often=count(how_often),
                share=share,
            )
    chapter.explain(
        "sampler_formula", temperature=plain(temperature), most=percent(one.most_probable)
    )
    chapter.presets(SAMPLERS)
    chapter.say("sampler_order")


@chapter.act("bytes", tr("半个字", "Half a character"), deeper=True)
def half_a_character() -> None:
    chapter.say("bytes")
    text = write()
    came = text_so_far.arrivals(text)
    label = tr("到了几个 token", "Tokens that have come")
    most = max(1, len(came))
    number = int(chapter.slide("came", label, 0, most, start=min(SHOWN, most), live=True))
    here = text_so_far.so_far(came, number)
    chapter.cards(
        [
            Card("token", count(here.num_tokens)),
            Card(tr("字节", "Bytes"), count(here.num_bytes)),
            Card(tr("屏幕上的字符", "Characters on screen"), count(here.num_characters)),
            Card(tr("等着的字节", "Bytes waiting"), count(here.num_waiting)),
        ]
    )
    chapter.draw(
        text_so_far.bytes_and_characters(came, number, large=chapter.large),
        "bytes",
        alt=tr(
            "上：token；中：字节；下：已经完整、到了屏幕上的字符",
            "Tokens above, bytes in the middle, below them the characters on the screen",
        ),
    )
    chapter.leaves_out("bytes_leaves_out")
    chapter.say("bytes_result", tokens=count(here.num_tokens), waits=count(here.num_held_up))
    chapter.presets(SCRIPTS)
    chapter.say("bytes_why")


@chapter.act("many", tr("许多人一起走", "Many at once"))
def many() -> None:
    chapter.say("many")
    text = write()
    number = int(chapter.slide("requests", tr("请求数", "Requests"), 1, MOST, start=8))
    slots = int(chapter.slide("slots", tr("同时最多几个", "At a time"), 1, 8, start=4))
    prompts = (len(tiny_model.prompt(text)), *PROMPTS[1:number])
    requests = workload.of_lengths(ANSWERS[:number], prompts)
    setup = Setup(requests, scheduler.Chunked(slots), POOL, SAME_STEPS)
    summary = runs.summary(setup)
    chapter.cards(
        [
            Card(tr("模型跑几遍", "Passes"), count(summary.num_steps)),
            Card(tr("写出的 token", "Tokens written"), count(summary.output_tokens)),
            Card(tr("平均几个同跑", "Running, mean"), significant(summary.mean_running)),
        ]
    )
    alt = tr(
        "各站此刻有哪些请求：队列、预填充、解码、写完；最下面是用掉的 KV 块",
        "Which requests are where: queue, prefill, decode, done; below, the KV blocks in use",
    )
    chapter.play(pictures.crowd(setup, alt), "crowd")
    chapter.leaves_out("many_leaves_out")
    passes, tokens = count(summary.num_steps), count(summary.output_tokens)
    if summary.num_steps < summary.output_tokens:
        chapter.say("many_result", requests=count(number), passes=passes, tokens=tokens)
    else:
        chapter.say("many_alone", passes=passes, tokens=tokens)
    chapter.say("many_where")
    chapter.leads(
        {
            tr("谁先上，谁让位", "who goes, who makes room"): "05_batching",
            tr("KV 块", "KV blocks"): "07_fragmentation",
            tr("相同的开头", "what begins alike"): "08_prefix_cache",
            tr("一个长提示词", "one long prompt"): "09_chunked_prefill",
        }
    )
    chapter.flags()


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


chapter.show()
