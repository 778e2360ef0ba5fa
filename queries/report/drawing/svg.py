"""Charts drawn as SVG without a plotting library, in colours for light and dark."""

from destage.queries.report.drawing.canvas import Canvas
from destage.queries.report.drawing.chart import Chart, ChartGrid, DotPlot, LineChart
from destage.queries.report.drawing.dot_drawing import DotDrawing
from destage.queries.report.drawing.line_drawing import LineDrawing
from destage.queries.report.drawing.timeline_drawing import TimelineDrawing

WIDE, NARROW = 920, 360
"""The widths for a screen or paper, and for a phone [px]."""
_GRID = 1100
"""The width of charts side by side [px]."""
_TEXT_LINE = 18
_COLUMNS = 2


def draw(chart: Chart, *, width: int | None = None, standalone: bool = False) -> str:
    """Return a chart as an SVG element.

    Args:
        width: Its width [px], by default that of a screen; the height follows.
        standalone: Whether it is a file of its own, with its title, its colours and a background.
    """
    is_side_by_side = isinstance(chart, ChartGrid) and len(chart.charts) > 1
    canvas = Canvas(width or (_GRID if is_side_by_side else WIDE))
    top = 0.0
    if standalone:
        canvas.text(4, 22, chart.title, "title")
        top = 30.0
    if isinstance(chart, LineChart):
        bottom = LineDrawing(chart, canvas).draw(top)
    elif isinstance(chart, DotPlot):
        bottom = DotDrawing(chart, canvas).draw(top)
    elif isinstance(chart, ChartGrid):
        bottom = _draw_grid(chart, canvas, top)
    else:
        bottom = TimelineDrawing(chart, canvas).draw(top)
    return canvas.document(chart.title, round(bottom), standalone=standalone)


def _draw_grid(grid: ChartGrid, canvas: Canvas, top: float) -> float:
    for line in grid.lines:
        canvas.text(16, top + 14, line, "legend")
        top += _TEXT_LINE
    columns = min(_COLUMNS, len(grid.charts)) if canvas.width > NARROW else 1
    width = canvas.width / columns
    for first in range(0, len(grid.charts), columns):
        row = [(chart, Canvas(width)) for chart in grid.charts[first : first + columns]]
        bottoms = [LineDrawing(chart, cell).draw(0.0) for chart, cell in row]
        for column, (_, cell) in enumerate(row):
            canvas.insert(cell, column * width, top + max(bottoms) - bottoms[column])
        top += max(bottoms)
    return top
