"""Chapter 6.  The KV cache: memory follows the sum of active tokens.

The reader guesses how many conversations fit beside the weights, fills in the three formulas and
the two mistakes that are made with them, lengthens the requests of a batch until they weigh more
than the model, walks through a run in which KV grows token by token, and sees why an idle server
looks nearly full from outside.
"""

from sim import scheduler, specs, workload
from sim.cost import Roofline
from sim.engine import Setup
from sim.kv import Paged, sizes
from sim.request import Request
from sim.views.growth import growth
from ui import lesson
from ui.lesson import Card, tr
from ui.practice import predict
from ui.results import runs
from ui.subjects.memory import growth_pictures, pictures
from ui.words.numbers import count, percent, plain
from ui.words.numbers import memory as in_bytes

OLD, NEW = "Llama-2-7B", "Llama-3.1-8B"
MODELS = (OLD, NEW)
FORMATS = {"bf16": "bf16", "fp8": "fp8"}
GPUS = ("RTX 4090", "L40S", "A100 80G SXM", "H100 SXM", "H200 SXM")
SMALL_GPU = specs.GPUS["RTX 4090"]
BLOCK_SIZE = sizes.BLOCK_SIZE

TALK_TOKENS = 4_096  # one long conversation; also the most that Llama-2 reads
MODEL_LENGTH = 8_192  # what a server lets a request grow to
LENGTHS = (256, 512, 1_024, 2_048, 4_096, 8_192)
NUMBERS = (1, 2, 4, 8, 16, 32)
LONG_LENGTHS = (256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768)
BATCHES: dict[str, dict[str, object]] = {
    "batch_grouped": {"model": NEW, "number": 8},
    "batch_over": {"number": 8, "long": 4096},
    "batch_full": {"number": 16, "long": 8192},
}

PAPER = specs.MODELS["OPT-13B"]  # the example of the PagedAttention paper
PAPER_TOKENS = 2_048
MEASURED = sizes.Division(specs.MODELS[NEW], SMALL_GPU)
MEASURED_BLOCKS = 2_588  # vLLM's log of a run on an RTX 4090

OUTPUTS = (5, 10, 20, 40, 60, 80)

RATES = (0.2, 0.5, 1, 2, 3, 4, 6, 8)
SHARES = (0.75, 0.8, 0.85, 0.9, 0.95)
ANSWERS = (100, 200, 400, 800)
VISITORS, VISITOR_PROMPT = 80, 500
SERVERS: dict[str, dict[str, object]] = {
    "idle_quiet": {"rate": 0.2, "output": 100},
    "idle_full": {"rate": 6, "output": 800},
    "idle_less": {"rate": 4, "share": 0.75},
}

chapter = lesson.open(__file__)
TOKENS = tr("token", "tokens")


def choose_model() -> specs.Model:
    return specs.MODELS[chapter.choose("model", tr("模型", "Model"), MODELS, start=OLD)]


@chapter.act("hook", tr("放得下几段", "How many fit"))
def hook() -> None:
    chapter.say("hook", gpu=SMALL_GPU.name, tokens=count(TALK_TOKENS))
    model = choose_model()
    label = tr("同时进行的对话", "Conversations at a time")
    asked = int(chapter.slide("talks", label, 0, 12, start=0, live=True))
    divisions = {name: sizes.Division(specs.MODELS[name], SMALL_GPU) for name in MODELS}
    fitting = {name: one.num_requests(TALK_TOKENS) for name, one in divisions.items()}
    division = divisions[model.name]
    running, waiting = sizes.admitted(asked, fitting[model.name])
    older, newer = divisions[OLD], divisions[NEW]

    guess = chapter.predict(
        "how_many",
        chapter.words("hook_question", tokens=count(TALK_TOKENS)),
        predict.Value(0, 40, tr("段", ""), truth=fitting[OLD]),
        outcome=chapter.words(
            "hook_outcome",
            pool=in_bytes(older.pool_bytes),
            one=in_bytes(sizes.request_bytes(older.model, TALK_TOKENS)),
            fit=fitting[OLD],
        ),
    )
    chapter.cards(
        [
            Card(tr("权重", "Weights"), in_bytes(model.memory_bytes)),
            Card(tr("留给 KV 的池", "Pool for KV"), in_bytes(division.pool_bytes)),
            Card(tr("正在进行", "Running"), count(running)),
            Card(tr("排队", "In the queue"), count(waiting)),
        ]
    )
    chapter.draw(
        pictures.conversations(
            division,
            TALK_TOKENS,
            running,
            waiting,
            guess=guess.value if model.name == OLD else None,
            large=chapter.large,
        ),
        "gpu",
        alt=tr(
            "显存条：权重、其他开销、每段对话的 KV、空着的池；下面是排队的",
            "The GPU's memory: weights, overhead, KV of each conversation, free pool; the queue",
        ),
    )
    chapter.leaves_out("hook_leaves_out")
    chapter.say(
        "hook_result",
        after=guess,
        one_older=in_bytes(sizes.request_bytes(older.model, TALK_TOKENS)),
        one_newer=in_bytes(sizes.request_bytes(newer.model, TALK_TOKENS)),
        fit_older=fitting[OLD],
        fit_newer=fitting[NEW],
        weights_older=in_bytes(older.model.memory_bytes),
        weights_newer=in_bytes(newer.model.memory_bytes),
    )


@chapter.act("formulas", tr("三个公式", "Three formulas"))
def formulas() -> None:
    chapter.say("formulas")
    kv = chapter.choose("kv", tr("KV 的数据类型", "Data type of KV"), FORMATS, start="bf16")
    model = choose_model().in_format(kv=kv)
    label = tr("长度 S", "Length S")
    tokens = int(chapter.pick("tokens", label, LENGTHS, start=2_048, unit=TOKENS, live=True))
    label = tr("请求数 B", "Requests B")
    number = int(chapter.pick("number", label, NUMBERS, start=8, live=True))
    lengths = sizes.staggered(number, tokens)
    one, equal, batch = (
        sizes.request_bytes(model, tokens),
        sizes.equal_bytes(model, number, tokens),
        sizes.batch_bytes(model, lengths),
    )
    twice, longest = (
        sizes.equal_bytes(model, number, number * tokens),
        sizes.equal_bytes(model, number, MODEL_LENGTH),
    )
    right = {
        tr("① 一个请求", "① one request"): one,
        tr("② B 个一样长", "② B of equal length"): equal,
        tr("③ B 个长短不一", "③ B of all lengths"): batch,
    }
    wrong = {
        tr("错：批乘两次", "wrong: batch twice"): twice,
        tr("错：按最大长度", "wrong: × maximum"): longest,
    }
    chapter.draw(
        pictures.formulas(right, wrong, large=chapter.large),
        "sizes",
        alt=tr(
            "三个公式各得多少 GiB；下面是两种算错的结果",
            "What the three formulas give, in GiB; below them two ways to get it wrong",
        ),
    )
    chapter.draw(
        pictures.heads(model, large=chapter.large),
        "heads",
        alt=tr(
            "每个 KV 头由几个查询头共用", "Which query heads share a KV head: the lines lead to it"
        ),
    )
    chapter.leaves_out("formulas_leaves_out", length=count(MODEL_LENGTH))
    chapter.say(
        "formulas_result",
        layers=model.layers,
        heads=model.kv_heads,
        dim=model.head_dim,
        element=plain(model.kv_element_bytes),
        per_token=in_bytes(model.kv_bytes_per_token),
        tokens=count(tokens),
        number=number,
        sum=count(sum(lengths)),
        one=in_bytes(one),
        equal=in_bytes(equal),
        batch=in_bytes(batch),
    )
    chapter.say(
        "traps",
        number=number,
        twice=in_bytes(twice),
        equal=in_bytes(equal),
        longest=in_bytes(longest),
        batch=in_bytes(batch),
        length=count(MODEL_LENGTH),
    )
    chapter.say(
        "heads", queries=model.q_heads, heads=model.kv_heads, shared=model.q_heads // model.kv_heads
    )
    chapter.explain(
        "real",
        per_token=in_bytes(PAPER.kv_bytes_per_token),
        request=in_bytes(sizes.request_bytes(PAPER, PAPER_TOKENS)),
        paper_tokens=count(PAPER_TOKENS),
        blocks=count(MEASURED.num_blocks),
        measured=count(MEASURED_BLOCKS),
        size=BLOCK_SIZE,
        gpu=MEASURED.gpu.name,
        model=MEASURED.model.name,
    )


@chapter.act("batch", tr("一批请求", "A batch"))
def batch() -> None:
    chapter.say("batch")
    chosen = chapter.choose("model", tr("模型", "Model"), MODELS, start=OLD, advanced=True)
    label = tr("KV 的数据类型", "Data type of KV")
    kv = chapter.choose("kv", label, FORMATS, start="bf16", advanced=True)
    gpu = chapter.choose("gpu", "GPU", GPUS, start="H100 SXM", advanced=True)
    label = tr("短对话的长度", "Length of the chats")
    short = int(chapter.pick("short", label, LONG_LENGTHS, start=512, live=True))
    label = tr("长对话的长度", "Length of the long ones")
    long = int(chapter.pick("long", label, LONG_LENGTHS, start=2_048, live=True))
    number = int(chapter.pick("number", tr("各几个", "Of each"), NUMBERS, start=4, live=True))
    division = sizes.Division(specs.MODELS[chosen].in_format(kv=kv), specs.GPUS[gpu])
    groups = {
        tr("短", "chats"): sizes.RequestGroup(number, short),
        tr("长", "long"): sizes.RequestGroup(number, long),
    }
    mix = sizes.Mix(division, tuple(groups.values()))
    chapter.cards(
        [
            Card(tr("权重", "Weights"), in_bytes(division.model.memory_bytes)),
            Card(
                tr("全部 KV", "KV in all"),
                in_bytes(mix.kv_bytes),
                tr(f"{count(mix.active_tokens)} 个 token", f"{count(mix.active_tokens)} tokens"),
            ),
            Card(tr("占池的", "Of the pool"), percent(mix.share_of_pool)),
            Card(tr("这样的请求放得下", "Of this mix fit"), count(mix.num_fitting)),
        ]
    )
    chapter.draw(
        pictures.shared_pool(division, groups, large=chapter.large),
        "gpu",
        alt=tr(
            "显存条；下面两条是短对话和长对话的 KV 在池里占的一段，池外的部分要排队",
            "The GPU's memory; below, what chats and long ones take of the pool",
        ),
    )
    chapter.draw(
        pictures.against_weights(division, mix.active_tokens, large=chapter.large),
        "weights",
        alt=tr(
            "KV 随活跃 token 总数直线上升，在某处超过权重",
            "KV rises in a straight line with the active tokens and passes the weights somewhere",
        ),
    )
    chapter.leaves_out("batch_leaves_out", share=percent(division.memory_utilization))
    chapter.say(
        "batch_result",
        tokens=count(mix.active_tokens),
        kv=in_bytes(mix.kv_bytes),
        weights=in_bytes(division.model.memory_bytes),
        cross=count(division.break_even_tokens),
        pool=count(division.pool_tokens),
        fit=count(mix.num_fitting),
    )
    chapter.say("batch_never" if division.pool_fills_first else "batch_passes", gpu=gpu)
    chapter.presets(BATCHES)


@chapter.act("growth", tr("一个 token 一个 token 地长", "Token by token"))
def grow() -> None:
    chapter.say("growth")
    model = choose_model()
    label = tr("B 写多少 token", "Tokens that B writes")
    output = int(chapter.pick("output", label, OUTPUTS, start=40, live=True))
    clock = Roofline(model, SMALL_GPU)
    requests = (
        Request(0, 0.0, 30, 30),
        Request(1, 0.1, 16, output),
        Request(2, 0.25, 60, 24),
    )
    setup = Setup(requests, scheduler.Chunked(8), Paged.beside(model, SMALL_GPU, BLOCK_SIZE), clock)
    steps = runs.steps(setup)
    grown = growth(steps, BLOCK_SIZE)
    alt = tr(
        "每个请求的 KV 叠在一起，随时间上升，谁写完就掉下一截",
        "The requests' KV upon each other: rises with every token, falls when somebody is done",
    )
    chapter.draw(
        growth_pictures.growth_curves(grown, model, large=chapter.large), "growth", alt=alt
    )
    alt = tr(
        "逐步播放：每个请求有多少 token，最下面是合计",
        "Step by step: how many tokens each request has, and the sum below",
    )
    chapter.play(growth_pictures.growth_timeline(steps, grown, model, alt), "growth_steps")
    chapter.leaves_out("growth_leaves_out", model=model.name, gpu=SMALL_GPU.name)
    chapter.say(
        "growth_result",
        peak=count(grown.peak_tokens),
        size=in_bytes(sizes.request_bytes(model, grown.peak_tokens)),
        longest=count(grown.longest_tokens),
        guess=in_bytes(sizes.request_bytes(model, grown.peak_guess_tokens)),
    )


@chapter.act("idle", tr("90% 是怎么回事", "Why 90%"))
def idle() -> None:
    chapter.say("idle", model=MEASURED.model.name, gpu=SMALL_GPU.name)
    label = tr("每秒到达的请求", "Arrivals per s")
    rate = chapter.pick("rate", label, RATES, start=2, live=True)
    label = tr("回答有多长", "Length of answers")
    output = int(chapter.pick("output", label, ANSWERS, start=200, unit=TOKENS, live=True))
    share = chapter.pick("share", "gpu_memory_utilization", SHARES, start=0.9)
    division = sizes.Division(MEASURED.model, SMALL_GPU, share)
    requests = runs.requests(
        workload.Workload(
            VISITORS,
            workload.PoissonArrivals(rate),
            workload.FixedLength(VISITOR_PROMPT),
            workload.FixedLength(output),
        )
    )
    memory_settings = Paged(division.num_blocks, BLOCK_SIZE)
    clock = Roofline(division.model, SMALL_GPU)
    setup = Setup(requests, scheduler.Chunked(256), memory_settings, clock)
    summary = runs.summary(setup)
    chapter.cards(
        [
            Card(
                "nvidia-smi",
                percent(division.occupied_share),
                in_bytes(division.occupied_bytes),
            ),
            Card(tr("KV 使用率，平均", "KV usage, mean"), percent(summary.mean_kv_usage)),
            Card(tr("KV 使用率，最高", "KV usage, peak"), percent(summary.peak_kv_usage)),
            Card(tr("池里的块", "Blocks in the pool"), count(division.num_blocks)),
        ]
    )
    chapter.draw(
        growth_pictures.two_gauges(runs.run(setup), division, large=chapter.large),
        "gauges",
        alt=tr(
            "上：nvidia-smi 的读数是一条平线，在用的 KV 随负载起落；下：运行和排队的请求数",
            "Above: what nvidia-smi reads is level, KV in use moves with the load; below: requests",
        ),
    )
    chapter.leaves_out("idle_leaves_out", requests=VISITORS, prompt=count(VISITOR_PROMPT))
    chapter.say(
        "idle_result",
        weights=in_bytes(division.model.memory_bytes),
        overhead=in_bytes(division.overhead_bytes),
        pool=in_bytes(division.pool_bytes),
        occupied=percent(division.occupied_share),
        mean=percent(summary.mean_kv_usage),
        peak=percent(summary.peak_kv_usage),
        preemptions=count(summary.num_preemptions),
    )
    chapter.presets(SERVERS)
    chapter.say("idle_knob")
    chapter.flags()


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


chapter.show()
