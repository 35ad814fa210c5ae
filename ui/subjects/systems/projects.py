"""Which project works on which layer."""

from ui import charts
from ui.charts import go
from ui.subjects.systems.rows import name_rows
from ui.words.language import tr

PROJECTS = {
    "vllm": ("vLLM", (1, 1)),
    "sglang": ("SGLang", (1, 1)),
    "tensorrt": ("TensorRT-LLM", (1, 2)),
    "flashinfer": ("FlashInfer", (2, 2)),
}  # code -> name, first and last layer


def layers_figure(project: str, large: bool = False) -> go.Figure:
    """Four layers above each other; each project stands on those where it works."""
    size = charts.text_px(large)
    layers = [
        tr("你的应用", "your application"),
        tr("服务运行时", "serving runtime"),
        tr("kernel 库", "kernel library"),
        "GPU",
    ]
    figure = charts.plain(len(layers) * size * 6, large)
    last = len(PROJECTS)
    for row in range(len(layers)):
        figure.add_shape(type="rect", x0=-0.5, x1=last - 0.5, y0=row - 0.46, y1=row + 0.46,
                         line_width=0, fillcolor=charts.faint(charts.NEUTRAL))  # fmt: skip
    for number, (code, (name, (first, end))) in enumerate(PROJECTS.items()):
        is_here = code == project
        figure.add_shape(
            type="rect",
            x0=number - 0.44,
            x1=number + 0.44,
            y0=first - 0.36,
            y1=end + 0.36,
            line={"color": charts.colour(0), "width": 4 if is_here else 1.5},
            fillcolor=charts.faint(charts.colour(0)) if is_here else charts.TRANSPARENT,
        )
        figure.add_trace(
            go.Scatter(
                x=[number],
                y=[first],  # its name stands in its uppermost layer
                mode="markers+text",
                marker={"size": 60, "opacity": 0, "symbol": "square"},
                text=[f"<b>{name}</b>" if is_here else name],
                textfont_size=size,
                customdata=[code],
                hovertemplate=f"{name}<extra></extra>",
                cliponaxis=False,
            )
        )
    also = {
        0: (1.5, tr("对话、智能体、检索", "chats, agents, retrieval")),
        2: (0.5, tr("还有 cuBLAS、FlashAttention、Triton", "also cuBLAS, FlashAttention, Triton")),
    }  # row -> where in it, and who else is there
    for row, (place, others) in also.items():
        figure.add_annotation(
            x=place, y=row, text=others, showarrow=False, font_size=size, opacity=0.75
        )
    figure.update_xaxes(visible=False, range=[-0.5, last - 0.5], fixedrange=True)
    name_rows(figure, layers, size)
    return figure
