"""How wide letters are: what the figures reckon with is enough in any common font."""

import string

from tests.browser import helpers
from tests.browser.conftest import PLAIN_FONTS
from ui import charts

FAMILIES = ("Source Sans", "DejaVu Sans", "Noto Sans CJK SC", "WenQuanYi Zen Hei")
LETTERS = string.ascii_letters + string.digits + string.punctuation + " –—·−×≥→µ显存（，"
WORDS = (
    "requests in the batch; a line ends where KV is full",
    "TTFT 1,234 ms",
    "每个请求的 TTFT（s）",
)
WIDTHS = """([families, texts]) => {
  const context = document.createElement('canvas').getContext('2d');
  return texts.map(text => Math.max(...families.map(family => {
    context.font = `100px "${family}"`;
    return context.measureText(text).width;
  })));
}"""


def test_no_font_is_wider_than_the_figures_reckon_with(new_page):
    page = new_page("zh", fonts=PLAIN_FONTS)
    helpers.go_on(page, "/batching", lang="zh")
    helpers.settle(page)
    texts = [*LETTERS, *WORDS]
    widths = dict(zip(texts, page.evaluate(WIDTHS, [FAMILIES, texts]), strict=True))
    too_wide = {text: px for text, px in widths.items() if px > charts.text_width(text, 100) + 1}
    assert too_wide == {}
