"""Chapter 3.  Latency: where the first token's time goes, and what the gaps after it tell.

The reader guesses what TTFT is made of and follows one request through its stations, turns up the
load until TTFT is nothing but queueing, lets long prompts stall an answer and looks for the metric
that shows it, and puts one answer on the scales of several tools.
"""

from sim import metrics, scheduler, specs, workload
from sim.cost import Roofline
from sim.engine.server import Server
from sim.kv import Paged
from sim.request import Request
from sim.views import stations, streaming
from ui import lesson
from ui.controls.traffic import Traffic
from ui.lesson import Card, tr
from ui.practice import predict
from ui.results import runs
from ui.subjects.latency import journeys, pictures
from ui.words.numbers import count, percent, plain, seconds, significant

CLOCK = Roofline(specs.MODELS["Llama-3.1-8B"], specs.GPUS["H100 SXM"])
MEMORY = Paged.beside(CLOCK.model, CLOCK.gpu)
BUDGET = 8192  # vLLM's default on this GPU
HOST = stations.HostTimes()
PROMPTS = (50, 200, 500, 1000, 2000, 4000, 8000)
LONG_TOKENS = 100_000  # of which tokenizing is told
ANSWER_TOKENS = 4
NEIGHBOUR = Request(0, 0.0, prompt_tokens=200, output_tokens=60)  # on the GPU before we come
ARRIVES = 0.02
RATES = (1, 2, 4, 6, 8, 9, 10, 11, 12, 14, 16, 20)
OUTPUTS = (1, 50, 100, 200, 400)
SLOTS = 16
ROOMY = Server(scheduler.Chunked(64, BUDGET), MEMORY, CLOCK)
CROWDED = Server(scheduler.Chunked(SLOTS, BUDGET), MEMORY, CLOCK)
NUM_REQUESTS = 120
LOADS: dict[str, dict[str, object]] = {
    "load_quiet": {"rate": 2, "output": 200},
    "load_busy": {"rate": 10, "output": 200},
    "load_over": {"rate": 16, "output": 200},
    "load_long": {"rate": 8, "output": 400},
}
MOSTLY = 0.5  # the share of TTFT from which it counts as queueing
LENGTHS = (1, 2, 11, 41, 81, 161, 321)
LONG_PROMPTS = (1000, 2000, 4000, 8000)
STALLS: dict[str, dict[str, object]] = {
    "gaps_one": {"tokens": 81, "stalls": 1, "long": 4000},
    "gaps_rare": {"tokens": 321, "stalls": 1, "long": 4000},
    "gaps_none": {"tokens": 1, "stalls": 1},
}
INTERVALS = (1, 2, 5, 10, 20)
STREAMED_TOKENS = 21

chapter = lesson.open(__file__)


@chapter.act("hook", tr("第一个 token", "The first token"))
def hook() -> None:
    chapter.say("hook")
    label = tr("B 的提示词有多少 token", "Tokens in B's prompt")
    prompt = int(chapter.pick("prompt", label, PROMPTS, start=1000))
    request = Request(1, ARRIVES, prompt, ANSWER_TOKENS)
    setup = ROOMY.serving((NEIGHBOUR, stations.tokenized(request, HOST)))
    journey = stations.journey(request, runs.steps(setup), HOST)
    prefill, decode = journey.seconds_of("prefill"), journey.seconds_of("decode", token=2)
    parts = {
        "tokenize": seconds(journey.seconds_of("tokenize")),
        "queue": seconds(journey.seconds_of("queue")),
        "prefill": seconds(prefill),
        "sample": seconds(journey.seconds_of("sample")),
        "detokenize": seconds(journey.seconds_of("detokenize")),
    }

    truth = predict.Choice(
        {
            "prefill": tr("只有预填充", "prefill alone"),
            "plus_decode": tr("预填充 + 一步解码", "prefill + one decode step"),
            "all_stations": tr(
                "分词 + 排队 + 预填充 + 采样 + 还原成文字",
                "tokenize + queue + prefill + sample + detokenize",
            ),
            "all_and_decode": tr("上面这些，再加一步解码", "all of these + one decode step"),
        },
        truth="all_stations",
    )
    guess = chapter.predict(
        "first_token",
        chapter.words("hook_question"),
        truth,
        outcome=chapter.words("hook_outcome", decode=seconds(decode)),
    )
    alt = tr(
        "请求 B 从到达到第 4 个 token 的时间线", "Request B on a timeline, to its fourth token"
    )
    words = tr("天 真 热 ！", "It is hot !").split()
    chapter.play(journeys.journey_timeline(journey, words, alt, guess.value), "stations")
    chapter.leaves_out("hook_leaves_out", model=CLOCK.model.name, gpu=CLOCK.gpu.name)
    ttft = seconds(journey.ttft)
    chapter.say(
        "hook_result",
        after=guess,
        ttft=ttft,
        prefill=parts["prefill"],
        long=count(LONG_TOKENS),
        tokenize_long=seconds(HOST.tokenize(LONG_TOKENS)),
    )
    chapter.explain("hook_formula", ttft=ttft, decode=seconds(decode), **parts)


@chapter.act("load", tr("负载", "Load"))
def load() -> None:
    chapter.say("load", slots=SLOTS)
    label = tr("每秒到达", "Arrivals per s")
    rate = chapter.pick("rate", label, RATES, start=4, live=True)
    label = tr("输出均长", "Output tokens")
    output = chapter.pick("output", label, OUTPUTS, start=200, live=True)
    traffic = Traffic(NUM_REQUESTS, prompt_tokens=500, output_tokens=output, spread=4)
    setups = CROWDED.serving_each(traffic.at_each(RATES))
    here = runs.summary(setups[rate])

    chapter.cards(
        [
            Card(tr("TTFT 均值", "TTFT, mean"), seconds(here.ttft.mean)),
            Card(tr("其中排队", "Of it queueing"), percent(here.queue_share)),
            Card("TTFT p50", seconds(here.ttft.p50)),
            Card("TTFT p99", seconds(here.ttft.p99)),
            Card(tr("平均在跑", "Running, mean"), significant(here.mean_running), f"≤ {SLOTS}"),
        ]
    )
    chapter.draw(
        pictures.ttft_split(runs.run(setups[rate]), large=chapter.large),
        "split",
        alt=tr("每个请求的 TTFT：排队与预填充", "TTFT of each request: queue and prefill"),
    )
    points = runs.summaries(setups)
    chapter.draw(
        pictures.ttft_by_rate(points, rate, large=chapter.large),
        "rates",
        alt=tr("排队、预填充与 TTFT p99 随到达率的变化", "Queue, prefill and p99 against the rate"),
    )
    chapter.leaves_out("load_leaves_out", requests=NUM_REQUESTS)
    chapter.say(
        "load_result",
        rate=plain(rate),
        prefill=seconds(here.ttft.mean - here.queue_time.mean),
        queue=seconds(here.queue_time.mean),
        share=percent(here.queue_share),
        p99=seconds(here.ttft.p99),
    )
    quiet, full = points[RATES[0]], points[RATES[-1]]
    chapter.say(
        "load_takes_off" if full.queue_share > MOSTLY else "load_stays_low",
        slowest=RATES[0],
        fastest=RATES[-1],
        quiet=seconds(quiet.ttft.mean),
        full=seconds(full.ttft.mean),
    )
    chapter.presets(LOADS)
    chapter.explain("load_formula", slots=SLOTS)
    chapter.explain("good")


@chapter.act("gaps", tr("间隔", "Gaps"))
def gaps() -> None:
    chapter.say("gaps")
    stalls = chapter.slide("stalls", tr("长提示词", "Long prompts"), 0, 4, start=1, live=True)
    label = tr("每个多少 token", "Tokens in each")
    long_prompt = int(chapter.pick("long", label, LONG_PROMPTS, start=4000))
    label = tr("A 写多少 token", "Tokens that A writes")
    tokens = int(chapter.pick("tokens", label, LENGTHS, start=81))
    writer = Request(0, 0.0, prompt_tokens=200, output_tokens=tokens)
    alone = metrics.e2e(runs.run(ROOMY.serving((writer,))).records[0])
    visitors = workload.evenly(stalls, alone, long_prompt, first_id=1)
    run = runs.run(ROOMY.serving((writer, *visitors)))
    record = run.records[0]
    itl, tpot = metrics.Distribution.of(metrics.itl(record)), metrics.tpot(record)
    stalled = metrics.beside_prefill(run, record)

    chapter.cards(
        [
            Card("ITL p50", seconds(itl.p50)),
            Card("TPOT", seconds(tpot), tr("= ITL 均值", "= mean ITL")),
            Card("ITL p99", seconds(itl.p99)),
            Card(tr("ITL 最大", "ITL, max"), seconds(itl.max)),
        ]
    )
    chapter.draw(
        pictures.gaps(record, stalled, large=chapter.large),
        "gaps",
        alt=tr(
            "A 的每一个 token 间隔，及其 p50、均值、p99、最大值", "Every gap of A, its statistics"
        ),
    )
    chapter.leaves_out("gaps_leaves_out")
    if tokens > 1:
        chapter.say(
            "gaps_result",
            gaps=count(len(itl)),
            stalls=count(stalled.sum()),
            p50=seconds(itl.p50),
            tpot=seconds(tpot),
            p99=seconds(itl.p99),
            max=seconds(itl.max),
        )
        if tokens == 2:
            chapter.say("gaps_only_one")
        elif stalled.any():
            chapter.say("gaps_spread", p50=seconds(itl.p50), tpot=seconds(tpot))
        else:
            chapter.say("gaps_calm")
    else:
        chapter.say("gaps_single", ttft=seconds(metrics.ttft(record)))
    chapter.presets(STALLS)
    chapter.explain(
        "gaps_formula",
        e2e=seconds(metrics.e2e(record)),
        ttft=seconds(metrics.ttft(record)),
        n=tokens,
        tpot=seconds(tpot),
    )


@chapter.act("tools", tr("谁的尺子", "Whose ruler"), deeper=True)
def tools() -> None:
    chapter.say("tools")
    label = tr("每条消息的 token 数", "Tokens per message")
    interval = int(chapter.pick("interval", label, INTERVALS, start=5, live=True))
    label = tr("提示词 token", "Prompt tokens")
    prompt = int(chapter.pick("ask", label, PROMPTS, start=4000))
    request = Request(0, 0.0, prompt, STREAMED_TOKENS)
    record = runs.run(ROOMY.serving((request,))).records[0]
    answer = streaming.stream(record, interval)
    reported = streaming.reported(answer)

    alt = tr("上：引擎产出的 token；下：客户端收到的消息", "Above: tokens; below: messages")
    chapter.play(journeys.message_timeline(record, answer, alt), "messages")
    chapter.draw(
        pictures.by_tool(reported, large=chapter.large),
        "tools",
        alt=tr("同一个回答，各工具报出的数", "What each tool reports of the same answer"),
    )
    chapter.leaves_out("tools_leaves_out")
    chapter.say(
        "tools_result",
        ttft=seconds(answer.ttft),
        e2e=seconds(answer.e2e),
        after_first=seconds(streaming.after_first(answer)),
        over_all=seconds(streaming.over_all(answer)),
        mean_gap=seconds(streaming.mean_gap(answer)),
    )
    chapter.say("tools_table")
    chapter.say("tools_same")
    chapter.flags()


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


chapter.show()
