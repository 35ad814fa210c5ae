"""The knobs of a server: who goes next, how its memory is cut, what it runs on.

Each function draws controls on a chapter and gives what they stand at.  A knob stands under the
name of the chapter that explains it.
"""

from sim import specs
from sim.cost import KERNELS_PER_LAYER, LAUNCH_MICROSECONDS, Clock, Eager, Roofline, SimpleClock
from sim.engine import Speculation
from sim.engine.server import Server, policy_named
from sim.kv import Paged
from ui.controls.chooser import Chooser
from ui.words.language import tr

LIMITS = (1, 2, 4, 8, 16, 32, 64, 128, 256)  # of requests in a batch
BUDGETS = (256, 512, 1024, 2048, 4096, 8192, 16_384)  # tokens
SPEEDS = "speeds"  # in place of a GPU: two numbers
PREFILLS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)  # tokens per second
DECODES = (5, 10, 20, 30, 50, 100)  # milliseconds
KV_TOKENS = (4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000)
MEMORY_SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
BLOCK_SIZES = (1, 8, 16, 32, 64, 128)
KV_FORMATS = ("bf16", "fp8")
REACHED = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)  # shares of the data sheet
FIXED_SECONDS = (0, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.01)
KERNELS = (5, 8, 10, 12, 15, 20, 30, 40)  # of a layer
LAUNCHES = (2, 5, 10, 15, 20, 30, 50)  # microseconds for a kernel
PROPOSALS = (1, 2, 3, 4, 6, 8)
ACCEPTANCES = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
DRAFT_COSTS = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)

BATCHING, CHUNKS = "05_batching", "09_chunked_prefill"
KV, BLOCKS, PREFIXES = "06_kv_cache", "07_fragmentation", "08_prefix_cache"
MACHINE, FORMATS, MANY_GPUS = "02_prefill_decode", "12_quantization", "13_systems"
DRAFTS, GRAPHS = "10_spec_decode", "11_cuda_graph"


def choose_server(chapter: Chooser) -> Server:
    """Every knob of the server.

    Raises:
        SimError: a model that does not fit its GPUs.
    """
    name, seqs, budget = choose_policy(chapter)
    policy = policy_named(name, seqs, budget)
    speculation = None if name == "static" else choose_speculation(chapter)
    names = {name: name for name in specs.GPUS} | {SPEEDS: tr("直接给速度", "speeds, directly")}
    gpu = chapter.choose("gpu", "GPU", names, start="A100 80G SXM", group=MACHINE)
    if gpu == SPEEDS:
        clock = choose_speeds(chapter)
        label = tr("KV 池（token）", "KV pool (tokens)")
        room = chapter.pick("pool", label, KV_TOKENS, start=64_000, group=KV)
        block_size, caching = choose_blocks(chapter)
        pool = Paged.for_tokens(int(room), block_size, caching)
        return Server(policy, pool, clock, speculation)
    name = chapter.choose(
        "model", tr("模型", "Model"), tuple(specs.MODELS), start="Llama-3.1-8B", group=MACHINE
    )
    efficiency = choose_efficiency(chapter)
    label = tr("KV 与权重可用的显存", "Share of GPU memory")
    share = chapter.pick("share", label, MEMORY_SHARES, start=0.9, group=KV)
    block_size, caching = choose_blocks(chapter)
    model = specs.MODELS[name].in_format(*choose_formats(chapter))
    label = tr("张量并行", "Tensor parallel")
    degree = chapter.pick("tp", label, specs.TENSOR_PARALLEL, start=1, unit="GPU", group=MANY_GPUS)
    machine = Roofline(model, specs.GPUS[gpu], efficiency, int(degree))
    pool = Paged.beside(
        model,
        machine.gpu,
        block_size,
        caching,
        tensor_parallel=int(degree),
        memory_utilization=share,
    )
    return Server(policy, pool, choose_launches(chapter, machine), speculation, share)


def choose_policy(chapter: Chooser) -> tuple[str, int, int | None]:
    """Who goes next (vLLM V1, or others for comparison), the batch limit, and the token budget of
    a step, if prompts are cut to fit one: as `sim.engine.server.policy_named` takes them."""
    label = tr("批的上限", "Batch limit")
    seqs = int(chapter.pick("seqs", label, LIMITS, start=64, group=BATCHING))
    names = {
        "chunked": "vLLM V1",
        "continuous": tr("连续", "continuous"),
        "static": tr("静态", "static"),
    }
    label = tr("调度策略", "Scheduling policy")
    name = chapter.choose("policy", label, names, start="chunked", group=BATCHING)
    label = tr("分块预填充", "Chunked prefill")
    if name != "chunked" or not chapter.toggle("chunks", label, start=True, group=CHUNKS):
        return name, seqs, None
    label = tr("每步 token 预算", "Token budget per step")
    return name, seqs, int(chapter.pick("budget", label, BUDGETS, start=2048, group=CHUNKS))


def choose_speculation(chapter: Chooser) -> Speculation | None:
    """A draft model, by what it proposes, how often it is right and what it costs."""
    label = tr("投机解码", "Speculative decoding")
    if not chapter.toggle("spec", label, group=DRAFTS):
        return None
    label = tr("每轮提议", "Proposals")
    most = chapter.pick("spec_k", label, PROPOSALS, start=4, group=DRAFTS)
    label = tr("接受率", "Acceptance")
    share = chapter.pick("spec_a", label, ACCEPTANCES, start=0.7, group=DRAFTS)
    label = tr("draft 一步的代价", "Cost of a draft step")
    cost = chapter.pick("spec_cost", label, DRAFT_COSTS, start=0.1, group=DRAFTS)
    return Speculation(int(most), share, cost)


def choose_speeds(chapter: Chooser) -> SimpleClock:
    """A machine by two numbers."""
    label = tr("预填充 token/s", "Prefill tokens/s")
    prefill = chapter.pick("prefill", label, PREFILLS, start=10_000, group=MACHINE)
    label = tr("解码每步毫秒", "Decode ms per step")
    decode = chapter.pick("decode", label, DECODES, start=20, group=MACHINE)
    return SimpleClock.of_milliseconds(prefill, decode)


def choose_efficiency(chapter: Chooser) -> specs.Efficiency | None:
    """What share of the data sheet kernels reach; None for what the GPU's row says."""
    names = {"own": tr("按这块 GPU", "this GPU's"), "set": tr("自己设", "your own")}
    label = tr("效率", "Efficiencies")
    if chapter.choose("efficiency", label, names, start="own", group=MACHINE) == "own":
        return None
    label = tr("达到的带宽", "Share of bandwidth")
    bandwidth = chapter.pick("bw", label, REACHED, start=0.8, group=MACHINE)
    label = tr("达到的算力", "Share of FLOP/s")
    flops = chapter.pick("flops", label, REACHED, start=0.6, group=MACHINE)
    label = tr("每步固定开销", "Fixed per step")
    fixed = chapter.pick("fixed", label, FIXED_SECONDS, start=0.001, unit="s", group=MACHINE)
    return specs.Efficiency(bandwidth, flops, fixed)


def choose_blocks(chapter: Chooser) -> tuple[int, bool]:
    """Block size, and whether prefixes are cached."""
    label, unit = tr("块大小", "Block size"), tr("token", "tokens")
    size = chapter.pick("block", label, BLOCK_SIZES, start=16, unit=unit, group=BLOCKS)
    label = tr("前缀缓存", "Prefix caching")
    return int(size), chapter.toggle("caching", label, start=True, group=PREFIXES)


def choose_formats(chapter: Chooser) -> tuple[str, str]:
    """In what the weights are stored, and in what K and V."""
    label = tr("权重", "Weights")
    formats = tuple(specs.WEIGHT_FORMATS)
    weights = chapter.choose("weights", label, formats, start="bf16", group=FORMATS)
    return weights, chapter.choose("kv", "KV", KV_FORMATS, start="bf16", group=FORMATS)


def choose_launches(chapter: Chooser, machine: Roofline) -> Clock:
    """A step as one graph, or launched kernel by kernel."""
    if chapter.toggle("graphs", tr("CUDA Graph", "CUDA graphs"), start=True, group=GRAPHS):
        return machine
    label = tr("每层 kernel", "Kernels per layer")
    kernels = chapter.pick("kernels", label, KERNELS, start=KERNELS_PER_LAYER, group=GRAPHS)
    label = tr("启动一个 kernel", "Launch of a kernel")
    launch = chapter.pick(
        "launch", label, LAUNCHES, start=LAUNCH_MICROSECONDS, unit="µs", group=GRAPHS
    )
    return Eager.of_microseconds(machine, int(kernels), launch)


# -- how far to trust it: sections of the chapter's text -------------------------------------------


def whose_rules(server: Server) -> str:
    """The section that says whose scheduling it is."""
    return "as_vllm" if server.schedules_as_vllm else "as_defined"


def whose_times(server: Server) -> str:
    """The section that says where the times of its steps come from."""
    if isinstance(server.clock, Eager):
        return "eager"
    if isinstance(server.clock, Roofline):
        return "calibrated" if server.clock.calibrated else "uncalibrated"
    return "simple_clock"
