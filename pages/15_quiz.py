"""Chapter 15.  Check yourself.

The reader practises what went wrong before, sits a mock exam that a whole class can share, looks up
concepts and terms, and keeps the progress in the own browser.
"""

from ui import lesson
from ui.lesson import tr
from ui.page import concepts, glossary_list, source_list
from ui.practice import exam, progress_view, rounds

CONCEPTS = {
    "prefill": "02_prefill_decode",
    "decode": "02_prefill_decode",
    "continuous": "05_batching",
    "holes": "07_fragmentation",
    "paging": "07_fragmentation",
    "prefix": "08_prefix_cache",
    "chunked": "09_chunked_prefill",
    "speculation": "10_spec_decode",
    "graphs": "11_cuda_graph",
    "formats": "12_quantization",
    "systems": "13_systems",
}

chapter = lesson.open(__file__)


@chapter.act("practice", tr("练习", "Practice"))
def practise() -> None:
    chapter.say("practice")
    label = tr("做哪些题", "Which questions")
    scope = chapter.choose("of", label, rounds.scopes(), start=rounds.MIXED)
    chapter.place(lambda: rounds.show(scope))
    chapter.say("practice_order")


@chapter.act("exam", tr("模拟考", "Mock exam"))
def sit() -> None:
    chapter.say("exam")
    seed = chapter.number("seed", tr("试卷号", "Paper number"), 1, exam.MAX_SEED, start=1)
    items = int(chapter.slide("items", tr("题数", "Questions"), 5, 30, start=10))
    label = tr("时间", "Time")
    minutes = int(chapter.slide("minutes", label, 5, 60, start=15, unit=tr("分钟", "min")))
    chapter.place(lambda: exam.show(exam.Paper(seed, items, minutes), chapter.large))
    chapter.say("exam_class")


@chapter.act("concepts", tr("概念表", "Concepts"))
def summary() -> None:
    chapter.say("concepts")
    rows = concepts.rows(chapter.text, CONCEPTS)
    chapter.place(lambda: concepts.show(rows, chapter.large))


@chapter.act("glossary", tr("术语", "Glossary"))
def terms() -> None:
    chapter.say("glossary")
    chapter.place(lambda: glossary_list.show(chapter.large))


@chapter.act("sources", tr("数据来源", "Sources"), deeper=True)
def sources() -> None:
    chapter.say("sources")
    chapter.place(lambda: source_list.show(chapter.large))


@chapter.act("progress", tr("我的进度", "Progress"))
def progress() -> None:
    chapter.say("progress")
    chapter.place(lambda: progress_view.show(chapter.large))
    chapter.say("progress_class")


chapter.show()
