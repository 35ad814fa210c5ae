"""What should be asked first comes first, and an exam is settled by its link."""

from collections import Counter

import pytest
from streamlit.testing.v1 import AppTest

from tests.chapters import CHAPTERS
from ui.practice import answers, bank, drills, exam, judge, rounds
from ui.practice.answers import Mark, Sheet
from ui.words import language

ITEMS = bank.all_items()
SINGLES = [item for item in ITEMS.values() if item.kind == "single"]
FOUR = [item for item in SINGLES if len(item.options) == 4]
ONE_IS_RIGHT = [item for item in ITEMS.values() if item.kind in ("single", "curve")]


@pytest.fixture
def session(monkeypatch):
    state: dict = {}
    monkeypatch.setattr(answers.st, "session_state", state)
    return state


def right(item):
    return next(place for place, option in enumerate(item.options) if option.right)


def wrong(item):
    return next(place for place, option in enumerate(item.options) if not option.right)


# -- the bank as a whole -----------------------------------------------------------------------


def test_the_bank_is_large_and_holds_every_kind_of_question():
    assert len(ITEMS) >= 110
    assert {item.kind for item in ITEMS.values()} == set(bank.KINDS)


def test_a_chapter_with_questions_ends_in_its_self_check():
    scripts = {chapter.script.stem[:2]: chapter for chapter in CHAPTERS}
    for name in bank.names():
        assert scripts[name].acts[-1] == "check"
        assert "chapter.quiz()" in scripts[name].source


def test_the_three_questions_that_the_course_asks_are_in_the_bank():
    asked = {"02/which_bottleneck", "07/what_paging_cures", "05/why_continuous"}
    assert asked <= set(ITEMS)


def test_right_answers_stand_evenly_at_every_place():
    for seed in range(8):
        places = Counter(judge.shuffled(item, seed).index(right(item)) for item in FOUR)
        assert sorted(places) == [0, 1, 2, 3]
        assert max(places.values()) < 0.4 * len(FOUR)
    over_seeds = Counter(
        judge.shuffled(item, seed).index(right(item)) for item in FOUR for seed in range(50)
    )
    assert max(over_seeds.values()) < 1.1 * min(over_seeds.values())


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("pick", [max, min], ids=["longest", "shortest"])
def test_who_chooses_by_length_is_right_about_as_often_as_by_chance(pick, language):
    def lengths(item):
        return [len(bank.plain(getattr(option.text, language))) for option in item.options]

    share = 0.0  # of questions answered rightly; among options of one length the lot decides
    for item in ONE_IS_RIGHT:
        of_options = lengths(item)
        chosen = pick(of_options)
        share += (of_options[right(item)] == chosen) / of_options.count(chosen) / len(ONE_IS_RIGHT)
    assert 0.1 < share < 0.33  # four options, three of curves: by chance it is 0.25


# -- the order of a round ----------------------------------------------------------------------


@pytest.mark.usefixtures("session")
def test_who_was_sure_and_wrong_meets_that_question_first():
    guessed, sure_right, new, just_wrong, sure_wrong = bank.load("04")[:5]
    answers.marks().update(
        {
            guessed.key: Mark(right(guessed), False, 1),
            sure_right.key: Mark(right(sure_right), True, 1),
            just_wrong.key: Mark(
                -1 if just_wrong.kind == "numeric" else wrong(just_wrong), False, 1
            ),
            sure_wrong.key: Mark(
                -1 if sure_wrong.kind == "numeric" else wrong(sure_wrong), True, 1
            ),
        }
    )
    order = rounds.in_order([guessed, sure_right, new, just_wrong, sure_wrong])
    assert order == [sure_wrong, just_wrong, new, guessed, sure_right]


@pytest.mark.usefixtures("session")
def test_a_mixed_round_reviews_many_chapters_and_first_what_went_wrong_in_any():
    language.choose("en")
    slipped = bank.load("03")[0]
    answers.marks()[slipped.key] = Mark(wrong(slipped), True, 1)
    for number in range(3):
        of_round = rounds.questions(rounds.MIXED, number)
        assert of_round[0] == slipped
        assert len(of_round) == rounds.ROUND
        assert len({item.chapter for item in of_round}) >= 5
    assert rounds.questions(rounds.MIXED, 1) != rounds.questions(rounds.MIXED, 2)


@pytest.mark.usefixtures("session")
def test_an_answer_in_practice_counts_and_leaves_the_self_check_as_it_was():
    item = bank.load("05")[0]
    answers.give(Sheet("05"), item, wrong(item))
    answers.give(rounds.SHEET, item, right(item))
    assert answers.given(Sheet("05"), item).answer == wrong(item)
    assert answers.marks()[item.key] == Mark(right(item), False, 2)
    assert answers.is_right(item.key)


@pytest.mark.usefixtures("session")
def test_marks_of_an_earlier_session_show_in_the_self_check_until_it_is_tried_again():
    item = bank.load("05")[0]
    answers.take_over({item.key: Mark(wrong(item), True, 1)})
    assert answers.given(Sheet("05"), item).answer == wrong(item)
    assert answers.given(rounds.SHEET, item).answer is None
    answers.forget(Sheet("05"), item)
    assert answers.given(Sheet("05"), item).answer is None
    assert answers.marks()[item.key].tries == 1


@pytest.mark.usefixtures("session")
def test_what_this_session_answered_wins_over_what_the_browser_had():
    item = bank.load("05")[0]
    answers.give(Sheet("05"), item, right(item))
    answers.take_over({item.key: Mark(wrong(item), True, 7)})
    assert answers.marks()[item.key].answer == right(item)


# -- exams -------------------------------------------------------------------------------------


def test_a_paper_is_settled_by_its_number_and_spread_over_chapters():
    paper = exam.questions(exam.Paper(7, 20, 15))
    assert paper == exam.questions(exam.Paper(7, 20, 60))
    assert paper != exam.questions(exam.Paper(8, 20, 15))
    keys = [item.key for item in paper]
    assert len(set(keys)) == 20
    chapters = Counter(item.chapter for item in paper)
    assert chapters.pop(drills.CHAPTER) == 4
    assert max(chapters.values()) - min(chapters.values()) <= 1


def test_what_asks_the_same_never_meets_in_one_exam_nor_in_one_round(session):
    twins = Counter(item.twin for item in ITEMS.values() if item.twin)
    assert len(twins) >= 7
    assert min(twins.values()) >= 2
    papers = [exam.questions(exam.Paper(seed, 30, 60)) for seed in range(200)]
    language.choose("en")
    for items in [*papers, *(rounds.questions(rounds.MIXED, number) for number in range(100))]:
        met = Counter(item.twin for item in items if item.twin)
        assert max(met.values(), default=0) <= 1
    assert all(len(paper) == 30 for paper in papers)


@pytest.mark.usefixtures("session")
def test_an_exam_takes_no_answer_after_its_time_and_counts_when_handed_in():
    item = SINGLES[0]
    late = Sheet("exam", judges=False, closes=0.0)
    answers.give(late, item, right(item))
    assert answers.given(late, item).answer is None
    on_time = Sheet("exam", judges=False)
    answers.give(on_time, item, right(item))
    assert answers.marks() == {}
    answers.hand_in(on_time, [item])
    assert answers.marks()[item.key].answer == right(item)


@pytest.mark.usefixtures("session")
def test_a_sum_is_judged_but_not_kept_since_it_will_not_come_again():
    item = drills.one_of_each(3)[0]
    assert item.answer is not None
    answers.give(rounds.SHEET, item, item.answer.value)
    assert judge.judge(item, item.answer.value).right
    assert answers.marks() == {}


@pytest.mark.parametrize("seed", range(5))
def test_every_mistake_in_a_sum_is_told_apart(seed):
    for item in drills.one_of_each(seed):
        for lure in item.lures:
            verdict = judge.judge(item, lure.value)
            assert not verdict.right
            assert verdict.remarks != (item.otherwise,)


# -- on the page -------------------------------------------------------------------------------


def page():
    from ui.practice import rounds

    rounds.show("05")


def test_a_round_keeps_its_order_while_it_is_answered_and_the_next_one_learns(
    monkeypatch, tmp_path
):
    from ui.practice import quiz

    monkeypatch.setattr(quiz, "ROOT", tmp_path)  # an app of one page has no page to link to
    app = AppTest.from_function(page, default_timeout=30).run()
    first = "quiz-answer-practice-05-why_continuous.zh"
    app.checkbox(key="quiz-sure-practice-05-why_continuous").check().run()
    app.radio(key=first).set_value(1).run()
    assert app.radio(key=first).value == 1
    app.button(key="turn-practice-onward").click().run()
    assert app.number_input(key="quiz-answer-practice-05-seed_utilization.zh").value is None
    app.button(key="practice-new").click().run()
    assert app.radio(key=first).value is None
    assert "上次你很有把握" in "".join(markdown.value for markdown in app.markdown)
