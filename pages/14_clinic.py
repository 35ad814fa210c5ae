"""Chapter 14.  The clinic: a sick server, three questions, a cure that is run.

The reader follows one case that is worked out, answers two of the three questions in the next, then
has cases by lot; every cure, also the tempting wrong one, is run on the same traffic and drawn over
what was before.  At last they bring the metrics of a server of their own.
"""

from sim import clinic as sick
from sim.clinic import Case, Change, Panel
from ui import bring, clinic, lesson, predict, runs
from ui.lesson import Card, tr
from ui.numbers import count, percent

WORKED, HALF = sick.CASES["kv_full"], sick.CASES["few_slots"]
CONTIGUOUS = Change("paged", False)
TEMPTING = Change("max_num_seqs", 512)
HIGHEST_SEED = 9_999
FILES = ("txt", "prom", "json")
TTFT_TARGETS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
ITL_TARGETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
KV_LIMITS = (0.6, 0.7, 0.8, 0.9, 0.95)
BUSY_LIMITS = (0.2, 0.3, 0.4, 0.5, 0.6)

chapter = lesson.open(__file__)


# -- parts of several acts ----------------------------------------------------------------------


def choose_cure(key: str, case: Case, seed: int, label: str) -> str:
    return chapter.choose(key, label, clinic.offers(case, case.build(seed)), start=clinic.NOTHING)


def ask(number: int, panel: Panel, case: Case) -> None:
    """One of the three questions, and what the panel says to the answer."""
    truth = clinic.truth(number, panel, case.slo)
    answer = chapter.choose(
        f"step{number}",
        clinic.question(number),
        clinic.options(number),
        start=clinic.NOT_YET,
        in_text=True,
    )
    if answer != clinic.NOT_YET:
        chapter.say(
            "answered",
            verdict=clinic.verdict(number, answer, truth),
            reading=clinic.reading(number, panel, case.slo),
        )


def show(case: Case, here: Panel, before: Panel | None) -> None:
    """Cards and panel of a server; with what was before the change on the same axes."""
    was = before or here
    seen, old = here.readings, was.readings
    chapter.cards(
        [
            Card("TTFT p99", clinic.latency(seen.ttft_p99), clinic.note(old.ttft_p99, before)),
            Card("ITL p99", clinic.latency(seen.itl_p99), clinic.note(old.itl_p99, before)),
            Card(
                tr("KV 最高", "KV, peak"),
                clinic.share(seen.kv),
                tr(
                    f"抢占 {count(here.num_preemptions)} 次",
                    f"preemptions: {count(here.num_preemptions)}",
                ),
            ),
            Card(
                tr("命中率", "Hit rate"),
                percent(here.hit_rate),
                tr(f"最多排队 {here.most_waiting}", f"queue: {here.most_waiting} at most"),
            ),
            Card(
                tr("带宽 / 算力", "Bandwidth / compute"),
                f"{clinic.share(seen.bandwidth)} / {clinic.share(seen.compute)}",
                tr("占数据手册", "of the data sheet"),
            ),
        ]
    )
    chapter.draw(
        clinic.panel(here, before, case.slo, large=chapter.large),
        "panel",
        alt=tr(
            "同一时间轴上：每个请求的 TTFT、ITL 的 p50 与 p99、KV 使用率、运行与排队数；虚线是目标",
            "On one time axis: TTFT of each request, p50 and p99 of ITL, KV usage, running and "
            "waiting; targets dashed",
        ),
    )


def say_cured(case: Case, here: Panel) -> None:
    """Whether the promise is kept now, and which reading tells the cause from its look-alike."""
    kept = here.keeps(case.slo)
    chapter.say(
        "kept" if kept else "not_kept",
        reading=clinic.reading(1, here, case.slo),
        refused=count(here.num_refused),
    )
    chapter.say(
        "cause",
        cause=clinic.told(case, "cause"),
        lure=clinic.told(case, "lure"),
        sources=clinic.sources(case),
    )


def say_metrics(case: Case, here: Panel, seed: int, changes: tuple[Change, ...]) -> None:
    log = clinic.log_line(case, seed, changes)
    chapter.flags("readings", table=clinic.metrics_table(here), log=log)


# -- the acts -------------------------------------------------------------------------------------


@chapter.act("hook", tr("一例示范", "A worked case"))
def hook() -> None:
    server = WORKED.build(0)
    chapter.say("hook", story=clinic.told(WORKED, "story"), model=server.model, gpu=server.gpu)
    memories = {"paged": tr("分页", "paged"), "contiguous": tr("连续", "contiguous")}
    memory = chapter.choose("memory", tr("KV 显存", "KV memory"), memories, start="paged")
    cure = choose_cure("cure", WORKED, 0, tr("改一处", "Change one thing"))
    changes = clinic.chosen(WORKED, cure)
    before = runs.panel(WORKED.code, 0)
    tempting = runs.panel(WORKED.code, 0, (TEMPTING,))
    metrics = {
        "ttft": "TTFT p99",
        "itl": "ITL p99",
        "preemptions": tr("抢占次数", "Preemptions"),
    }
    truth = {
        "ttft": predict.trend(before.ttft.p99, tempting.ttft.p99),
        "itl": predict.trend(before.itl.p99, tempting.itl.p99),
        "preemptions": predict.trend(before.num_preemptions, tempting.num_preemptions),
    }
    guess = chapter.predict(
        "more_seqs",
        chapter.words("hook_question", waiting=count(before.most_waiting)),
        predict.Trends(metrics, truth),
        outcome=chapter.words("hook_outcome", running=count(before.most_running)),
    )
    contiguous = runs.panel(WORKED.code, 0, (CONTIGUOUS,))
    if memory == "contiguous":
        here = runs.panel(WORKED.code, 0, (CONTIGUOUS, *changes))
        show(WORKED, here, contiguous if changes else None)
    else:
        show(WORKED, runs.panel(WORKED.code, 0, changes), before if changes else None)
    chapter.leaves_out("panel_leaves_out")
    chapter.say(
        "hook_steps",
        step1=clinic.reading(1, before, WORKED.slo),
        step2=clinic.reading(2, before, WORKED.slo),
        step3=clinic.reading(3, before, WORKED.slo),
    )
    rising, full = sick.around_full(before.over_time)
    chapter.say(
        "hook_twice",
        rising=count(rising),
        full=count(full),
        running=count(contiguous.most_running),
        waiting=count(contiguous.most_waiting),
        throughput=count(contiguous.output_tokens_per_second),
        paged=count(before.output_tokens_per_second),
        preemptions=count(before.num_preemptions),
    )
    chapter.say("hook_cure", hidden_by=guess)
    if changes and memory == "paged":
        say_cured(WORKED, runs.panel(WORKED.code, 0, changes))
    say_metrics(WORKED, before, 0, ())


@chapter.act("half", tr("半例", "Half worked"))
def half() -> None:
    chapter.say("half", story=clinic.told(HALF, "story"))
    cure = choose_cure("cure", HALF, 0, tr("改一处", "Change one thing"))
    changes = clinic.chosen(HALF, cure)
    before, here = runs.panel(HALF.code, 0), runs.panel(HALF.code, 0, changes)
    show(HALF, here, before if changes else None)
    chapter.leaves_out("panel_leaves_out")
    chapter.say("half_first", reading=clinic.reading(1, before, HALF.slo))
    ask(2, before, HALF)
    ask(3, before, HALF)
    if changes:
        say_cured(HALF, here)
    else:
        chapter.say("half_cure")
    say_metrics(HALF, before, 0, ())


@chapter.act("alone", tr("独立诊断", "On your own"))
def alone() -> None:
    chapter.say("alone")
    seed = chapter.number("seed", tr("病例签号", "Case number"), 0, HIGHEST_SEED, start=0)
    case = sick.drawn(seed)
    cure = choose_cure("cure", case, seed, tr("第一处改动", "First change"))
    second = choose_cure("cure2", case, seed, tr("第二处改动", "Second change"))
    changes = clinic.chosen(case, cure, second)
    with chapter.waiting(tr("正在运行这台服务器…", "Running the server…")):
        before, here = runs.panel(case.code, seed), runs.panel(case.code, seed, changes)
    chapter.say("story", title=clinic.name(case), story=clinic.told(case, "story"))
    show(case, here, before if changes else None)
    chapter.leaves_out("panel_leaves_out")
    ask(1, before, case)
    ask(2, before, case)
    ask(3, before, case)
    if changes:
        say_cured(case, here)
        chapter.leads({tr("这一章细讲", "More about it"): case.chapter})
    say_metrics(case, before, seed, ())


@chapter.act("bring", tr("自带数据", "Bring your own"))
def bring_your_own() -> None:
    chapter.say("bring")
    uploaded = chapter.upload("file", tr("文件，至多 1 MB", "A file, 1 MB at most"), FILES)
    pasted = chapter.paste("paste", tr("或者贴在这里", "Or paste it here"), bring.MAX_PASTED)
    ttft = chapter.pick(
        "ttft", tr("TTFT p99 目标", "TTFT p99 target"), TTFT_TARGETS, start=1, unit="s"
    )
    itl = chapter.pick(
        "itl", tr("ITL p99 目标", "ITL p99 target"), ITL_TARGETS, start=0.1, unit="s"
    )
    kv = chapter.pick("kv", tr("KV 算满", "KV counts as full"), KV_LIMITS, start=0.9)
    busy = chapter.pick("busy", tr("算忙", "Counts as busy"), BUSY_LIMITS, start=0.3)
    slo, limits = sick.Slo(ttft, itl), sick.Thresholds(kv, busy)
    own, problem = bring.read(uploaded, pasted)
    chapter.problem(problem, "bring_failed")
    brought = own or bring.parse(bring.example(runs.panel(WORKED.code, 0)).encode())
    chapter.draw(
        bring.against_limits(brought, slo, limits, large=chapter.large),
        "limits",
        alt=tr(
            "五个读数各是自己界线的几倍：TTFT、ITL、KV、带宽、算力",
            "Five readings as multiples of their lines: TTFT, ITL, KV, bandwidth, compute",
        ),
    )
    chapter.leaves_out("bring_leaves_out")
    chapter.say("bring_own" if own else "bring_example", source=brought.source)
    chapter.say(
        "bring_result",
        answers=bring.answers(brought, slo, limits),
        missing=bring.missing(brought),
    )
    chapter.leads(bring.ways(brought, slo, limits))


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


chapter.show()
