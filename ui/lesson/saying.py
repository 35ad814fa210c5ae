"""What a chapter says: sections of its text, in the column of text or under a figure."""

from collections.abc import Mapping

import streamlit as st

from ui.course import chapters, links
from ui.lesson import explain, proof
from ui.lesson.explain import Mark
from ui.lesson.stage import Stage, stands_still
from ui.practice import predict
from ui.words import language as languages
from ui.words.language import tr


class Saying(Stage):
    """The text of an act; absent from the lecture view."""

    @stands_still
    def say(
        self,
        section: str,
        after: predict.Prediction | None = None,
        hidden_by: predict.Prediction | None = None,
        **numbers: object,
    ) -> None:
        """A section of the chapter's prose, its blanks filled in; absent from the lecture view.

        What would give a prediction away stands folded while the question `after` is open; what
        speaks of a figure that is not there yet is hidden while the question `hidden_by` is.
        """
        text = self.text.filled(section, **numbers)
        if self.large or (hidden_by is not None and hidden_by.state == "open"):
            return
        heading = self.text.section(section).heading
        folded = after is not None and after.state == "open"
        with self._at.text:
            if heading:
                st.subheader(heading, anchor=False)
            if folded:
                with st.expander(tr("直接看结果", "Just show me the result")):
                    st.markdown(text)
            else:
                with (after or hidden_by or predict.Prediction("not_asked")).veiled(
                    f"text-{section}"
                ):
                    st.markdown(text)

    def words(self, section: str, **numbers: object) -> str:
        """A section as Markdown, to hand on."""
        return self.text.filled(section, **numbers)

    @stands_still
    def explain(self, section: str, **numbers: object) -> None:
        """ "How is this computed?", or the section's heading if it has one; opened on demand."""
        text = self.text.filled(section, **numbers)
        if not self.large:
            with self._at.text:
                explain.how(text, self.text.section(section).heading, key=f"how-{section}")

    @stands_still
    def leaves_out(
        self, section: str, mark: Mark = "computed", source: str = "", **numbers: object
    ) -> None:
        """The honest line under a figure."""
        text = self.text.filled(section, **numbers)
        if not self.large:
            with self._at.figure:
                explain.leaves_out(text, mark, source)

    @stands_still
    def leads(self, ways: Mapping[str, str]) -> None:
        """Links into other chapters: what is told there -> stem of the chapter, if it exists."""
        if self.large:
            return
        with self._at.text, st.container(key="leads", gap=None):
            for what, stem in ways.items():
                chapter = chapters.Chapter(stem)
                if chapter.exists:
                    links.link(chapter, f"{what} → {chapter.name(languages.current())}")

    @stands_still
    def flags(self, section: str = "flags", **numbers: object) -> None:
        """From the model to the real thing: a table of flags and metric names."""
        text = self.text.filled(section, **numbers)
        if not self.large:
            with self._at.whole:
                explain.flags(text)

    @stands_still
    def prove(self, claim: str, text: str | None = None) -> None:
        """ "Prove it": a claim of `proof`, on `text` or on one that the reader writes there."""
        if not self.large:
            with self._at.text:
                proof.panel(claim, text)
