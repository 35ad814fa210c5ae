"""The clinic in words: its cases, three questions, and what the panel answers.

What is said about one case stands in `cases.*.md`, what the reader may turn in
`treatment`.
"""

from pathlib import Path
from urllib.parse import urlsplit

from sim.studies import clinic
from sim.studies.clinic import Case, Panel, Slo
from ui.course import prose
from ui.words import language
from ui.words.language import tr
from ui.words.numbers import count, percent, seconds

NOT_YET = "open"  # a question without an answer
CASES_TEXT = Path(__file__).with_name("cases")


def told(case: Case, about: str) -> str:
    """What is said about a case: its "story", "cause" or "lure"; of some, a "trade"."""
    return prose.read(CASES_TEXT, language.current()).filled(f"{case.code}_{about}")


def name(case: Case) -> str:
    """The complaint, as a heading."""
    return prose.read(CASES_TEXT, language.current()).section(f"{case.code}_story").heading


def in_its_group(case: Case) -> str:
    """The complaint, and in which part of the list it stands."""
    (group,) = [code for code, cases in clinic.GROUPS.items() if case in cases]
    known = {
        "course": tr("课程案例", "Course"),
        "queue": tr("排队", "Queue"),
        "memory": tr("缓存", "Cache"),
        "steps": tr("慢的步", "Slow steps"),
        "fleet": tr("多台服务器", "Several servers"),
    }
    number = clinic.GROUPS[group].index(case) + 1
    return tr(f"{known[group]} {number}：{name(case)}", f"{known[group]} {number}: {name(case)}")


def list_of_cases() -> dict[str, str]:
    """Code -> complaint, the three of the course first."""
    return {code: in_its_group(case) for code, case in clinic.CASES.items()}


def toll(panel: Panel) -> str:
    """Who pays for it: turned away, cut short, left without an answer."""
    paid = [
        (panel.num_refused, tr("被拒收", "Turned away")),
        (panel.num_cut, tr("回答被截断", "Answers cut short")),
        (panel.signs.num_failed, tr("没等到", "Left without an answer")),
    ]
    said = [tr(f"{words} {count(num)} 个", f"{words}: {count(num)}") for num, words in paid if num]
    if not said:
        return tr(
            "没有人被拒收、截断或晾着。", "Nobody was turned away, cut short or left waiting."
        )
    return tr("，", ", ").join(said) + tr("。", ".")


def sources(case: Case) -> str:
    """Reports of such incidents, as links."""
    names = [f"[{urlsplit(url).netloc}{_issue(url)}]({url})" for url in case.sources]
    return tr("、", ", ").join(names)


def _issue(url: str) -> str:
    """What tells two issues of one host apart: "/vllm#23444"."""
    parts = urlsplit(url).path.strip("/").split("/")
    is_thread = parts[2:3] in (["issues"], ["pull"])
    return f"/{parts[1]}#{parts[3]}" if is_thread else ""


def question(number: int) -> str:
    return {
        1: tr("① TTFT 还是 ITL 大？", "① TTFT or ITL?"),
        2: tr("② KV 接近上限吗？", "② KV near its limit?"),
        3: tr("③ 算力和带宽？", "③ Compute, bandwidth?"),
    }[number]


def options(number: int) -> dict[str, str]:
    """Answers to a question: code -> words."""
    known = {
        1: {
            "ttft": tr("TTFT 大：排队或预填充", "TTFT: queueing or prefill"),
            "itl": tr(
                "ITL 大：解码、预填充干扰或抢占", "ITL: decode, prefill interference or preemption"
            ),
            "both": tr("两个都大", "both"),
            "neither": tr("都不大", "neither"),
        },
        2: {
            "full": tr("到顶：并发被 KV 卡住", "near it: KV limits concurrency"),
            "room": tr("还有余地", "there is room"),
        },
        3: {
            "compute": tr(
                "算力领先：在算提示词，或检查提议", "compute leads: prompts, or proposals to check"
            ),
            "bandwidth": tr("带宽领先：在解码", "bandwidth leads: it decodes"),
            "low": tr("双低：调度或启动问题", "both low: scheduling or launches"),
        },
    }[number]
    return {NOT_YET: tr("还没答", "not answered yet"), **known}


def asked(number: int, answer: str, truth: str) -> str:
    """Whether an answer is "open", "right", "part" (one of two) or "wrong"."""
    if answer == NOT_YET:
        return "open"
    if answer == truth:
        return "right"
    return "part" if truth == "both" and answer in ("ttft", "itl") else "wrong"


def reading(number: int, panel: Panel, slo: Slo) -> str:
    """What the panel says to a question, in numbers."""
    seen = panel.readings
    if number == 1:
        return tr(
            f"TTFT p99 是 {latency(seen.ttft_p99)}，目标 {seconds(slo.ttft_seconds)}；"
            f"ITL p99 是 {latency(seen.itl_p99)}，目标 {seconds(slo.itl_seconds)}。",
            f"TTFT p99 is {latency(seen.ttft_p99)} (target {seconds(slo.ttft_seconds)}); "
            f"ITL p99 is {latency(seen.itl_p99)} (target {seconds(slo.itl_seconds)}).",
        )
    if number == 2:
        return tr(
            f"KV 使用率最高 {share(seen.kv)}，抢占 {count(panel.num_preemptions)} 次。",
            f"KV usage peaks at {share(seen.kv)}; preemptions: {count(panel.num_preemptions)}.",
        )
    return tr(
        f"带宽用了 {share(seen.bandwidth)}，算力用了 {share(seen.compute)}，"
        f"有 kernel 在跑的时间占 {percent(panel.gpu_busy)}。",
        f"Bandwidth at {share(seen.bandwidth)}, compute at {share(seen.compute)}; kernels run "
        f"{percent(panel.gpu_busy)} of the time.",
    )


def truth(number: int, panel: Panel, slo: Slo) -> str:
    """The answer that the readings give."""
    return str(clinic.answers(panel.readings, slo, clinic.THRESHOLDS)[number - 1])


def verdict(number: int, answer: str, right: str) -> str:
    """What is said to an answer."""
    words = options(number)[right]
    return {
        "right": tr(f"**对**，{words}。", f"**Yes**: {words}."),
        "part": tr(f"**只说了一半**，该答“{words}”。", f"**Half of it**: {words}."),
        "wrong": tr(f"**不是**，该答“{words}”。", f"**No**. The panel says: {words}."),
    }[asked(number, answer, right)]


def latency(value: float | None) -> str:
    return "–" if value is None else seconds(value)


def share(value: float | None) -> str:
    return "–" if value is None else percent(value)


def hits_or_accepted(here: Panel) -> str:
    """What the card of the hit rate is called; a server that speculates shows acceptance there."""
    return tr("命中率", "Hit rate") if here.acceptance is None else tr("接受率", "Accepted")


def note(value: float | None, before: Panel | None) -> str:
    """On a card: what it was, if something was changed."""
    return tr(f"之前 {latency(value)}", f"before {latency(value)}") if before else ""
