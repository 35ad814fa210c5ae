"""Chapter 14.  The clinic: a sick server, three questions, a cure that is run.

The reader follows one case that is worked out, answers two of the three questions in the next, then
takes cases off a list, the three of the course first, and turns changes out of a list or the
server's own knobs; every cure, and the tempting wrong one beside it, is run on the same traffic and
drawn over what was before.  At last they bring the metrics of a server of their own.
"""

from sim.studies import clinic as sick
from sim.studies.clinic import Case, Change, Deployment, Panel
from ui import lesson
from ui.lesson import Card, tr
from ui.practice import predict
from ui.results import runs
from ui.subjects.clinic import (
    bring,
    brought_notes,
    metrics_example,
    metrics_text,
    pictures,
    treatment,
)
from ui.subjects.clinic.in_words import as_engines_say, more_readings, questions
from ui.words.numbers import count, memory, percent, scaled, seconds

WORKED, HALF = sick.CASES["kv_full"], sick.CASES["few_slots"]
CONTIGUOUS = Change("paged", False)
TEMPTING = Change("max_num_seqs", 512)
FIRST = "long_prompts"
HIGHEST_SEED = 9_999
BUDGET = 2  # changes
QUESTIONS = ("step1", "step2", "step3")
OF_A_CASE = (*QUESTIONS, "cure1", "cure2", *treatment.KEYS, "reveal")
FILES = ("txt", "prom", "json", "jsonl", "log")
TTFT_TARGETS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
ITL_TARGETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
KV_LIMITS = (0.6, 0.7, 0.8, 0.9, 0.95)
BUSY_LIMITS = (0.2, 0.3, 0.4, 0.5, 0.6)

chapter = lesson.open(__file__)
ONE_CHANGE = tr("改一处", "Change one thing")


# -- parts of several acts ----------------------------------------------------------------------


def choose_changes(case: Case, server: Deployment) -> tuple[Change, ...]:
    """At most two out of a list, or any of the knobs."""
    ways = {"list": tr("从清单里选", "out of a list"), "knobs": tr("自己转旋钮", "by its knobs")}
    if chapter.choose("how", tr("怎么改", "Change the server"), ways, start="list") == "knobs":
        return treatment.turn_knobs(chapter, server)
    first, second = tr("第一处改动", "First change"), tr("第二处改动", "Second change")
    return treatment.chosen(
        case,
        treatment.choose_change(chapter, "cure1", first, case, server),
        treatment.choose_change(chapter, "cure2", second, case, server),
    )


def ask(number: int, key: str, panel: Panel, case: Case) -> bool:
    """One of the three questions, and what the panel says to the answer; whether there is one."""
    answer = chapter.choose(
        key,
        questions.question(number),
        questions.options(number),
        start=questions.NOT_YET,
        in_text=True,
    )
    if answer == questions.NOT_YET:
        return False
    chapter.say(
        "answered",
        verdict=questions.verdict(number, answer, questions.truth(number, panel, case.slo)),
        reading=questions.reading(number, panel, case.slo),
    )
    return True


def show(case: Case, server: Deployment, here: Panel, before: Panel | None) -> None:
    """Cards, panel and table of a server; with what was before the change on the same axes."""
    was = before or here
    seen, old = here.readings, was.readings
    chapter.cards(
        [
            Card(
                "TTFT p99", questions.latency(seen.ttft_p99), questions.note(old.ttft_p99, before)
            ),
            Card("ITL p99", questions.latency(seen.itl_p99), questions.note(old.itl_p99, before)),
            Card(
                tr("KV 最高", "KV, peak"),
                questions.share(seen.kv),
                tr(
                    f"抢占 {count(here.num_preemptions)} 次",
                    f"preemptions: {count(here.num_preemptions)}",
                ),
            ),
            Card(
                questions.hits_or_accepted(here),
                percent(here.hit_rate if here.acceptance is None else here.acceptance),
                tr(f"最多排队 {here.most_waiting}", f"queue: {here.most_waiting} at most"),
            ),
            Card(
                tr("带宽 / 算力", "Bandwidth / compute"),
                f"{questions.share(seen.bandwidth)} / {questions.share(seen.compute)}",
                tr(
                    f"kernel 在跑 {percent(here.gpu_busy)}",
                    f"kernels run {percent(here.gpu_busy)}",
                ),
            ),
        ]
    )
    chapter.draw(
        pictures.panel(here, before, case.slo, large=chapter.large),
        "panel",
        alt=tr(
            "同一时间轴上：每个请求的 TTFT、ITL 的 p50 与 p99、KV 使用率、运行与排队数；点线是目标",
            "On one time axis: TTFT of each request, p50 and p99 of ITL, KV use, running and "
            "waiting; targets dotted",
        ),
    )
    chapter.say("more", table=more_readings.table(here, server))


def show_cured(case: Case, before: Panel, here: Panel, tempting: Panel) -> None:
    """A cure that works beside the one that only seems to, at the same limits."""
    panels = {
        tr("改之前", "before"): before,
        tr("你的改法", "yours"): here,
        tr("诱人的", "tempting"): tempting,
    }
    chapter.draw(
        pictures.outcomes(panels, case.slo, large=chapter.large),
        "outcomes",
        alt=tr(
            "TTFT p99 与 ITL p99 各是目标的几倍：改之前、你的改法、诱人的改法",
            "TTFT p99 and ITL p99 as multiples of their targets: before, yours, the tempting one",
        ),
    )


def treat(case: Case, seed: int, changes: tuple[Change, ...]) -> tuple[Panel, Panel]:
    """Run the server as it was and as it is now, and show both."""
    before, here = runs.panel(case.code, seed), runs.panel(case.code, seed, changes)
    show(case, runs.sick_server(case.code, seed, changes), here, before if changes else None)
    if changes and here.keeps(case.slo):
        show_cured(case, before, here, runs.panel(case.code, seed, case.lures[:1]))
    chapter.leaves_out("panel_leaves_out")
    return before, here


def judge(key: str, case: Case, seed: int, changes: tuple[Change, ...], here: Panel) -> bool:
    """Whether the promise is kept now, and why or why not; `key`: whether to tell the cause."""
    reading, toll = questions.reading(1, here, case.slo), questions.toll(here)
    server = runs.sick_server(case.code, seed)
    turned = treatment.in_words(changes, server)
    if not here.keeps(case.slo):
        chapter.say("not_kept", turned=turned, reading=reading, toll=toll)
        if treatment.is_trade(case, changes):
            chapter.say("trade", trade=questions.told(case, "trade"))
        if treatment.is_tempted(case, changes):
            chapter.say("tempts", lure=questions.told(case, "lure"))
        label = tr("不想猜了，告诉我病因", "Enough guessing: show me the cause")
        if chapter.toggle(key, label, in_text=True):
            say_cause(case, server)
        return False
    chapter.say(
        "kept",
        turned=turned,
        reading=reading,
        toll=toll,
        gpus=runs.sick_server(case.code, seed, changes).num_gpus,
        gpus_before=server.num_gpus,
    )
    if not treatment.is_aimed(case, changes):
        chapter.say("another")
    tempting = runs.panel(case.code, seed, case.lures[:1])
    say_cause(case, server)
    chapter.say(
        "tempting",
        change=treatment.change_words(case.lures[0], server),
        reading=questions.reading(1, tempting, case.slo),
        lure=questions.told(case, "lure"),
    )
    return True


def say_cause(case: Case, server: Deployment) -> None:
    chapter.say(
        "cause",
        cause=questions.told(case, "cause"),
        cures=treatment.in_words(case.cures, server),
        sources=questions.sources(case),
    )


def say_behind(case: Case, server: Deployment, here: Panel) -> None:
    """How the readings come about, and what a real server calls them."""
    clock = server.roofline
    chapter.explain(
        "panel_formula",
        requests=count(len(here.over_time.ttft_seconds)),
        pool=count(server.pool_tokens),
        per_token=memory(clock.model.kv_bytes_per_token),
        bandwidth=scaled(clock.gpu.bandwidth, "B/s"),
        bandwidth_share=questions.share(here.readings.bandwidth),
        flops=scaled(clock.gpu.peak_flops, "FLOP/s"),
        compute_share=questions.share(here.readings.compute),
        ttft=seconds(case.slo.ttft_seconds),
        itl=seconds(case.slo.itl_seconds),
    )
    chapter.flags(
        "readings", table=as_engines_say.metrics_table(here), log=as_engines_say.log_lines(server)
    )
    if server.num_replicas == 1:
        chapter.take_along(server.setups()[0], server.gpu_memory_utilization)


# -- the acts -------------------------------------------------------------------------------------


@chapter.act("hook", tr("一例示范", "A worked case"))
def hook() -> None:
    server = runs.sick_server(WORKED.code, 0)
    chapter.say("hook", story=questions.told(WORKED, "story"), model=server.model, gpu=server.gpu)
    memories = {"paged": tr("分页", "paged"), "contiguous": tr("连续", "contiguous")}
    memory_kind = chapter.choose("memory", tr("KV 显存", "KV memory"), memories, start="paged")
    cure = treatment.choose_change(chapter, "cure", ONE_CHANGE, WORKED, server)
    changes = treatment.chosen(WORKED, cure)
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
    if memory_kind == "contiguous":
        turned = (CONTIGUOUS, *changes)
        show(
            WORKED,
            runs.sick_server(WORKED.code, 0, turned),
            runs.panel(WORKED.code, 0, turned),
            contiguous if changes else None,
        )
        chapter.leaves_out("panel_leaves_out")
    else:
        turned = changes
        treat(WORKED, 0, changes)
    here = runs.panel(WORKED.code, 0, turned)
    chapter.say(
        "hook_steps",
        step1=questions.reading(1, before, WORKED.slo),
        step2=questions.reading(2, before, WORKED.slo),
        step3=questions.reading(3, before, WORKED.slo),
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
        failed=count(before.signs.num_failed),
        users=count(before.signs.num_users),
        patience=seconds(server.patience_seconds),
    )
    chapter.say("hook_cure", hidden_by=guess)
    if changes and memory_kind == "paged":
        judge("hook_reveal", WORKED, 0, changes, here)
    chapter.presets(
        {
            "run_contiguous": {"memory": "contiguous"},
            "run_tempting": {"cure": "max_num_seqs-512"},
            "run_cure": {"cure": "kv_cache_dtype-fp8"},
        }
    )
    say_behind(WORKED, runs.sick_server(WORKED.code, 0, turned), here)


@chapter.act("half", tr("半例", "Half worked"))
def half() -> None:
    chapter.say("half", story=questions.told(HALF, "story"))
    server = runs.sick_server(HALF.code, 0)
    cure = treatment.choose_change(chapter, "half_cure", ONE_CHANGE, HALF, server)
    changes = treatment.chosen(HALF, cure)
    before, here = treat(HALF, 0, changes)
    chapter.say("half_first", reading=questions.reading(1, before, HALF.slo))
    is_asked = ask(2, "half_step2", before, HALF) and ask(3, "half_step3", before, HALF)
    if changes:
        chapter.say("half_done" if judge("half_reveal", HALF, 0, changes, here) else "half_again")
    elif is_asked:
        chapter.say("half_cure")
    say_behind(HALF, runs.sick_server(HALF.code, 0, changes), here)


@chapter.act("alone", tr("独立诊断", "On your own"))
def alone() -> None:
    chapter.say("alone", budget=BUDGET)
    cases, label = questions.list_of_cases(), tr("病例", "Case")
    code = chapter.choose("case", label, cases, start=FIRST, in_text=True, clears=OF_A_CASE)
    label = tr("流量签号", "Traffic number")
    seed = chapter.number("seed", label, 0, HIGHEST_SEED, start=0, in_text=True, clears=OF_A_CASE)
    case = sick.CASES[code]
    server = runs.sick_server(case.code, seed)
    chapter.say("story", title=questions.name(case), story=questions.told(case, "story"))
    turned = choose_changes(case, server)
    is_over = len(turned) > BUDGET
    starts = is_over or runs.sick_server(case.code, seed, turned).starts
    changes = () if is_over or not starts else turned
    with chapter.waiting(tr("正在运行这台服务器…", "Running the server…")):
        before, here = treat(case, seed, changes)
    is_asked = (
        ask(1, QUESTIONS[0], before, case)
        and ask(2, QUESTIONS[1], before, case)
        and ask(3, QUESTIONS[2], before, case)
    )
    is_cured = False
    if is_over:
        chapter.say("over_budget", turned=len(turned), budget=BUDGET)
    elif not starts:
        chapter.say("no_start")
    elif changes:
        is_cured = judge("reveal", case, seed, changes, here)
    elif is_asked:
        chapter.say("cure", budget=BUDGET)
    if is_cured:
        chapter.leads({tr("这一章细讲", "More about it"): case.chapter})
        chapter.presets({"twin": {"case": case.twin}})
    else:
        chapter.say("others")
        chapter.presets(
            {
                "case_1": {"case": "long_prompts"},
                "case_2": {"case": "kv_full"},
                "case_3": {"case": "thin_steps"},
                "case_late": {"case": "long_answers"},
                "case_hits": {"case": "scattered"},
                "case_client": {"case": "busy_cpu"},
            }
        )
    say_behind(case, runs.sick_server(case.code, seed, changes), here)


@chapter.act("bring", tr("自带数据", "Bring your own"), deeper=True)
def bring_your_own() -> None:
    chapter.say("bring")
    uploaded = chapter.upload("file", tr("文件，至多 10 MB", "A file, 10 MB at most"), FILES)
    pasted = chapter.paste("paste", tr("或者贴在这里", "Or paste it here"))
    before = chapter.paste(
        "before",
        tr("同一台更早的一份（可不填）", "An earlier text, if you have one"),
        advanced=True,
    )
    ttft = chapter.pick(
        "ttft", tr("TTFT p99 目标", "TTFT p99 target"), TTFT_TARGETS, start=1, unit="s"
    )
    itl = chapter.pick(
        "itl", tr("ITL p99 目标", "ITL p99 target"), ITL_TARGETS, start=0.1, unit="s"
    )
    kv = chapter.pick("kv", tr("KV 算满", "KV counts as full"), KV_LIMITS, start=0.9)
    busy = chapter.pick("busy", tr("算忙", "Counts as busy"), BUSY_LIMITS, start=0.3)
    slo, limits = sick.Slo(ttft, itl), sick.Thresholds(kv, busy)
    own, problem = metrics_text.read(uploaded, pasted, before)
    chapter.problem(brought_notes.problem(problem) if problem else "", "bring_failed")
    brought = own or metrics_text.parse(
        metrics_example.example(runs.panel(WORKED.code, 0)).encode()
    )
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
        span=bring.span(brought),
        notes=bring.notes(brought),
        missing=bring.missing(brought),
    )
    chapter.leads(bring.ways(brought, slo, limits))


@chapter.act("check", tr("自测", "Self-check"))
def check() -> None:
    chapter.say("check")
    chapter.quiz()


chapter.show()
