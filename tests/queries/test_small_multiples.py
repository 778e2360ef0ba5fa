"""The first picture: users and hit ratio by cache size, a panel for each RAID level, equal lines as one."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seek_grids import CAPACITY, FRACTION, MIB, seek_grid

from destage.queries.report.charts.point_marks import Plots, join_names, share_lines
from destage.queries.report.drawing.chart import LineChart, Mark, Series
from destage.queries.report.drawing.svg import NARROW, WIDE, draw
from destage.queries.report.figures import build_figures
from destage.queries.report.page import render_page


def first_chart(session: Any) -> tuple[LineChart, str]:
    figure = build_figures(session)[0]
    assert isinstance(figure.chart, LineChart)
    return figure.chart, figure.caption


def test_each_raid_level_has_a_panel_with_its_hit_ratio_below(make_session: Any) -> None:
    chart, _ = first_chart(seek_grid(make_session, lambda _, mib, fraction: 40.0 + mib * fraction))
    assert [panel.title for panel in chart.panels] == ["RAID 5", "RAID 1+0"]
    assert chart.strip is not None
    for panel, strip in zip(chart.panels, chart.strip.panels, strict=True):
        assert [series.name for series in panel.series] == ["write fraction 0.5", "write fraction 1"]
        above = [[(mark.x / MIB, mark.y) for mark in series.marks] for series in panel.series]
        # Without a cache there is nothing to split: both lines begin at the same point.
        assert above == [
            [(0, 40), (32, 56), (64, 72), (128, 104)],
            [(0, 40), (32, 72), (64, 104), (128, 168)],
        ]
        below = [[(mark.x / MIB, mark.y) for mark in series.marks] for series in strip]
        assert below == [[(0, 0), (32, 0.16), (64, 0.32), (128, 0.64)]] * 2


def test_a_studys_own_chart_of_users_has_the_hit_ratio_too(make_session: Any) -> None:
    charts = [{"title": "Mine", "x": CAPACITY, "y": "users_supported", "by": FRACTION}]
    session = seek_grid(make_session, lambda _, mib, fraction: 40.0 + mib * fraction, charts=charts)
    chart, _ = first_chart(session)
    assert chart.title == "Mine"
    assert [panel.title for panel in chart.panels] == ["RAID 5", "RAID 1+0"]
    assert chart.strip is not None


def test_a_line_that_values_share_is_drawn_once(make_session: Any) -> None:
    chart, caption = first_chart(seek_grid(make_session, lambda _, mib, __: 40.0 + mib))
    assert chart.legend == ("write fraction 0.5 and 1",)
    assert all(len(panel.series) == 1 for panel in chart.panels)
    assert "One line is drawn for write fraction 0.5 and 1, whose results are equal." in caption


def test_a_line_shared_in_one_panel_keeps_the_legend(make_session: Any) -> None:
    chart, caption = first_chart(
        seek_grid(make_session, lambda raid, mib, fraction: 40.0 + mib * (fraction if raid == "5" else 1.0))
    )
    assert chart.legend == ("write fraction 0.5", "write fraction 1")
    assert [len(panel.series) for panel in chart.panels] == [2, 1]
    assert "One line is drawn for write fraction 0.5 and 1 in RAID 1+0" in caption


@pytest.mark.parametrize(("censored", "bound"), [("at_least", "at_least"), ("below", "at_most")])
def test_a_bound_is_an_open_arrow(make_session: Any, censored: str, bound: str) -> None:
    session = seek_grid(
        make_session, lambda _, mib, fraction: (600.0, censored) if mib == 128 else 40.0 + mib * fraction
    )
    chart, caption = first_chart(session)
    marks = [mark for panel in chart.panels for series in panel.series for mark in series.marks]
    assert {mark.bound for mark in marks if mark.x == 128 * MIB} == {bound}
    assert {mark.bound for mark in marks if mark.x < 128 * MIB} == {None}
    assert "Open arrows are bounds" in caption
    svg = draw(chart)
    assert svg.count('class="ring') == 4
    assert re.search(r"<title>[^<]*: users supported (≥|≤) 600</title>", svg)


def test_points_without_an_answer_are_crosses_and_a_list(make_session: Any) -> None:
    session = seek_grid(make_session, lambda raid, mib, _: None if (raid, mib) == ("5", 64) else 40.0 + mib)
    chart, _ = first_chart(session)
    crosses = [[one for one in panel.series if one.style == "unanswered"] for panel in chart.panels]
    assert [[mark.x / MIB for one in series for mark in one.marks] for series in crosses] == [[64, 64], []]
    html = render_page(session)
    section = html[html.index('id="unanswered"') : html.index('class="figure"')]
    assert section.count("<li>") == 2
    assert "64 MiB of cache, RAID 5, write fraction 0.5" in section
    assert "the write cache did not become steady" in section
    assert "Remedy: " in section


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("raids", [["5"], ["5", "10"], ["0", "1", "5", "6", "10"]])
def test_panels_have_the_width_of_the_page(make_session: Any, width: int, raids: list[str]) -> None:
    chart, _ = first_chart(
        seek_grid(make_session, lambda _, mib, fraction: 40.0 + mib * fraction, raids=raids)
    )
    svg = draw(chart, width=width)
    assert f'viewBox="0 0 {width} ' in svg
    places = [float(x) for x in re.findall(r'<text [^>]*x="([\d.]+)"', svg)]
    assert max(places) <= width


def test_every_point_of_a_sweep_is_in_the_page_or_counted(make_session: Any) -> None:
    """A grid with more RAID levels, caches and fractions than a figure can show."""
    raids, capacities, fractions = ("0", "5", "6", "10"), range(8, 136, 8), [at / 12 for at in range(1, 13)]
    session = seek_grid(
        make_session,
        lambda _, mib, fraction: 40.0 + mib * fraction,
        raids=raids,
        capacities=capacities,
        fractions=fractions,
    )
    chart, caption = first_chart(session)
    drawn = sum(len(series.marks) for panel in chart.panels for series in panel.series)
    count = len(raids) * len(capacities) * len(fractions)
    left_out = re.search(r"(\d+) points of (\d+) left out", caption)
    assert left_out is not None
    assert (drawn + int(left_out[1]), int(left_out[2])) == (count, count)
    assert render_page(session).count("<tr>") == count + 1


def series(name: str, values: list[float]) -> Series:
    return Series(name, "line", tuple(Mark(float(at), value) for at, value in enumerate(values)))


@given(st.lists(st.lists(st.sampled_from([1.0, 2.0]), min_size=2, max_size=2), min_size=1, max_size=6))
def test_no_two_lines_of_a_panel_are_equal(values: list[list[float]]) -> None:
    lines = tuple(series(f"split {at}", line) for at, line in enumerate(values))
    ((_, drawn, _),) = share_lines(Plots((("", lines, ()),))).panels
    found = [tuple(mark.y for mark in one.marks) for one in drawn]
    assert sorted(set(found)) == sorted(found)
    assert set(found) == {tuple(line) for line in values}


def test_names_have_what_is_common_once() -> None:
    assert join_names(["split 0.5", "split 1"]) == "split 0.5 and 1"
    assert join_names(["split 0.5, RAID 5", "split 1, RAID 5"]) == "split 0.5 and 1, RAID 5"
    assert join_names(["10 users", "20 users", "40 users"]) == "10 users, 20 users and 40 users"
    assert join_names(["small", "large"]) == "small and large"
