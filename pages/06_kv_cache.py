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
from sim.kv.groups import Groups
from sim.kv.hits import window_blocks
from sim.kv.pool import RELEASES
from sim.request import Request
from sim.studies.fitting import EVERYWHERE, FRACTION, SHARE, Wish
from sim.views.growth import growth
from ui import lesson
from ui.lesson import Card, tr
from ui.practice import predict
from ui.results import runs
from ui.subjects.memory import growth_pictures, pictures, starting
from ui.words.numbers import count, off_by, percent, plain, significant
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
MEASURED = sizes.Division(specs.MODELS[NEW], SMALL_GPU, release=RELEASES["0.17"])
MEASURED_BLOCKS = 2_588  # the log of a run with vLLM 0.19 on an RTX 4090

OUTPUTS = (5, 10, 20, 40, 60, 80)

FULL, WINDOWED, STATED, LATENT = (
    specs.MODELS[name]
    for name in ("Llama-3.1-70B", "Gemma-3-27B", "Qwen3-Next-80B-A3B", "DeepSeek-V3")
)
KINDS = {
    f"{FULL.name} (GQA)": FULL,
    f"{WINDOWED.name} (5:1)": WINDOWED,
    f"{LATENT.name} (MLA)": LATENT,
    f"{STATED.name} (3:1)": STATED,
}
COMPARED = (*(specs.MODELS[name] for name in MODELS), FULL, WINDOWED, LATENT, STATED)
WINDOW = 1_024  # of Gemma 3
LATENT_NUMBERS = 576  # 512 of the vector, 64 of the position
REQUEST_LENGTHS = (512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072)

LONGEST = (4_096, 8_192, 16_384, 32_768, 65_536, 131_072)
WISHES: dict[str, dict[str, object]] = {
    "fit_long": {"wish": "Llama-3.1-8B", "card": "RTX 4090", "cards": 1, "longest": 131_072},
    "fit_large": {"wish": "Llama-3.1-405B", "card": "H100 SXM", "cards": 8, "weights": "fp8"},
    "fit_windows": {"wish": "gpt-oss-120b", "card": "H100 SXM", "cards": 1, "longest": 131_072},
    "fit_latent": {"wish": "DeepSeek-V3", "card": "H200 SXM", "cards": 8, "longest": 131_072},
}

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
    if number > 1:
        chapter.say("traps", number=number, twice=in_bytes(twice), equal=in_bytes(equal))
    else:
        chapter.say("traps_alone")
    chapter.say(
        "trap_longest",
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
        off=off_by(MEASURED.num_blocks, MEASURED_BLOCKS),
        measured=count(MEASURED_BLOCKS),
        size=BLOCK_SIZE,
        gpu=MEASURED.gpu.name,
        model=MEASURED.model.name,
    )


@chapter.act("batch", tr("一批请求", "A batch"), deeper=True)
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


@chapter.act("idle", tr("90% 是怎么回事", "Why 90%"), deeper=True)
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


@chapter.act("kinds", tr("层记住什么", "What a layer keeps"), deeper=True)
def kinds() -> None:
    chapter.say("kinds", full=FULL.name, windowed=WINDOWED.name, latent=LATENT.name)
    label = tr("请求有多长", "Length of the request")
    tokens = int(chapter.pick("long", label, REQUEST_LENGTHS, start=8_192, unit=TOKENS, live=True))
    chapter.cards(
        [
            Card(model.name, in_bytes(model.kv_bytes(tokens)), in_bytes(model.kv_bytes(1)))
            for model in (FULL, WINDOWED, LATENT, STATED)
        ]
    )
    chapter.draw(
        starting.kept_curves(KINDS, tokens, large=chapter.large),
        "kinds",
        alt=tr(
            "一个请求的 KV 随长度增长：带窗口的先陡后缓，全注意力一路上升，MLA 和带状态的平得多",
            "KV of one request along its length: windows rise first and level off, full attention "
            "rises all the way, MLA and states are much flatter",
        ),
    )
    chapter.leaves_out("kinds_leaves_out")
    chapter.say(
        "kinds_result",
        tokens=count(tokens),
        full=FULL.name,
        full_size=in_bytes(FULL.kv_bytes(tokens)),
        windowed=WINDOWED.name,
        windowed_size=in_bytes(WINDOWED.kv_bytes(tokens)),
        early=in_bytes(WINDOWED.kv_bytes_per_token),
        late=in_bytes(WINDOWED.kv_bytes_per_late_token),
        window=count(WINDOW),
        latent=LATENT.name,
        latent_size=in_bytes(LATENT.kv_bytes(tokens)),
        stated=STATED.name,
        state=in_bytes(STATED.kv_bytes(0)),
    )
    chapter.say(
        "kinds_formulas",
        windowed=WINDOWED.name,
        full_layers=WINDOWED.layers_of[specs.FULL],
        window_layers=WINDOWED.layers_of[specs.Window(size=WINDOW)],
        window=count(WINDOW),
        latent=LATENT.name,
        layers=LATENT.layers,
        numbers=LATENT_NUMBERS,
        token=in_bytes(LATENT.kv_bytes(1)),
        stated=STATED.name,
    )
    chapter.explain(
        "kinds_table",
        long=count(REQUEST_LENGTHS[-1]),
        rows=starting.kept_rows(COMPARED, REQUEST_LENGTHS[-1]),
    )
    chapter.explain(
        "kinds_blocks",
        windowed=WINDOWED.name,
        groups=Groups(WINDOWED).num_groups,
        each=Groups(WINDOWED).layers_per_group,
        needed=window_blocks(WINDOW, BLOCK_SIZE),
        size=BLOCK_SIZE,
        window=count(WINDOW),
    )


@chapter.act("fit", tr("装得下吗", "Will it fit?"))
def fit() -> None:
    chapter.say("fit")
    wish = Wish(
        model=chapter.choose("wish", tr("模型", "Model"), EVERYWHERE, start="Llama-3.1-70B"),
        gpu=chapter.choose("card", "GPU", tuple(specs.GPUS), start="H100 SXM"),
        num_gpus=int(chapter.pick("cards", tr("几张", "How many"), specs.TENSOR_PARALLEL, start=4)),
        longest=int(
            chapter.pick(
                "longest", tr("最长请求", "Longest request"), LONGEST, start=8_192, unit=TOKENS
            )
        ),
        weights=chapter.choose(
            "weights",
            tr("权重", "Weights"),
            tuple(specs.WEIGHT_FORMATS),
            start="bf16",
            advanced=True,
        ),
        kv=chapter.choose("kv", "KV", FORMATS, start="bf16", advanced=True),
    )
    division = wish.division
    chapter.cards(
        [
            Card(tr("权重，每张卡", "Weights, each GPU"), in_bytes(division.shard.memory_bytes)),
            Card(tr("其他开销", "Overhead"), in_bytes(division.overhead_bytes)),
            Card(tr("剩给 KV", "Left for KV"), in_bytes(max(0, division.free_bytes))),
            Card(tr("同时放得下", "Fit at a time"), significant(wish.concurrency)),
        ]
    )
    chapter.draw(
        starting.memory_bar(wish, large=chapter.large),
        "fit",
        alt=tr(
            "一张卡的显存：权重、其他开销、一个最长请求的 KV、空着的池、不动用的；放不下的在第二行",
            "The memory of a GPU: weights, overhead, KV of one of the longest requests, free pool, "
            "left alone; what does not fit in the second row",
        ),
    )
    chapter.leaves_out("fit_leaves_out", fraction=FRACTION)
    sizes_of = {
        "activations": in_bytes(division.activation_bytes),
        "graphs": in_bytes(division.graph_bytes),
        "buffers": in_bytes(division.communication_bytes),
        "share": percent(SHARE),
        "memory": in_bytes(division.gpu.memory_bytes),
    }
    if wish.fits:
        chapter.say(
            "fit_yes",
            tokens=count(division.logged_tokens(wish.longest)),
            longest=count(wish.longest),
            times=f"{wish.concurrency:.2f}",
            sglang=starting.sglang_lines(wish),
            request=in_bytes(wish.request_bytes),
        )
        chapter.say(
            "fit_commands",
            vllm=starting.vllm_command(wish),
            sglang=starting.sglang_command(wish),
        )
    else:
        chapter.say(
            "fit_no",
            model=wish.model,
            longest=count(wish.longest),
            request=in_bytes(wish.request_bytes),
            left=in_bytes(max(0, division.free_bytes)),
            ways=starting.ways(wish.ways()),
        )
    chapter.presets(WISHES)
    chapter.explain(
        "fit_formula",
        step=count(division.step_tokens),
        sequences=count(division.step_sequences),
        **sizes_of,
    )


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


chapter.show()
