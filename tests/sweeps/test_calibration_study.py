"""The key `calibrate` of a study: what it means, and its mistakes with their places."""

from collections.abc import Callable

import pytest

from destage.errors import ConfigError
from destage.sweeps import Study, parse_study
from destage.sweeps.keys.calibrate_settings import Calibration, Reference

MakeStudy = Callable[..., Study]
RATE = "workload.streams.0.arrival.ios"
FIGURE = {"set": {RATE: 5}, "of": "response_mean", "value": 7000, "tolerance": "5%"}
CANDIDATE = {"set": {RATE: 6}, "of": "response_mean"}
CALIBRATE = {
    "unknowns": {"array.disk.service.mean": {"log_uniform": [1_000_000, 9_000_000]}},
    "figures": {"light": FIGURE},
}
SEEK = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"]}
ANSWER = {"set": {RATE: 5}, "value": 39, "tolerance": 1}


def _read(study: Study) -> Calibration:
    assert isinstance(study.adding, Calibration)
    return study.adding


def test_defaults_fit_on_every_figure_with_a_value(make_study: MakeStudy) -> None:
    figures = {"light": FIGURE, "heavy": {"set": {RATE: 9}, "of": "response_mean"}}
    found = _read(make_study(calibrate=CALIBRATE | {"figures": figures}))
    assert dict(found.fits) == {"all measured figures": ("light",)}
    assert (found.leading, found.others) == (("light",), ("heavy",))
    assert found.figures["light"].tolerance == 350
    assert found.figures["heavy"].discrepancy == 0.1
    assert found.columns == ("response_mean_us",)
    assert (found.waves.points, found.waves.most, found.waves.cutoff) == (128, 4, 3)


def test_a_study_with_a_seek_calibrates_its_answer(make_study: MakeStudy) -> None:
    figures = {"now": ANSWER | {"odds": ["users_supported >= 51", "users_supported < 30"]}}
    unknowns = CALIBRATE["unknowns"] | {"ceiling": {"uniform": [60, 150]}}
    study = make_study(seek=SEEK, calibrate={"unknowns": unknowns, "figures": figures})
    figure = _read(study).figures["now"]
    assert (figure.of, figure.column, figure.tolerance) == ("users_supported", None, 1)
    assert [(one.is_above, one.bound) for one in figure.odds] == [(True, 51), (False, 30)]
    assert study.is_adaptive


def test_a_figure_may_refer_to_an_unknown_of_its_own(make_study: MakeStudy) -> None:
    unknowns = CALIBRATE["unknowns"] | {"disks_there": {"integer": [2, 8]}}
    there = FIGURE | {"set": {RATE: 5, "array.disks": {"unknown": "disks_there"}}}
    found = _read(make_study(calibrate={"unknowns": unknowns, "figures": {"light": FIGURE, "there": there}}))
    assert found.figures["there"].set["array.disks"] == Reference("disks_there")


def test_quantities_have_their_units() -> None:
    text = f"""
name: quick
scenario: {{workload: {{use: call_center}}, array: {{raid: "0", disks: 2, disk: {{use: u320_10k_36gb}}}}}}
replicates: 2
calibrate:
  unknowns: {{controller.cache.capacity: {{log_uniform: [64MiB, 1GiB]}}}}
  figures:
    light:
      {{set: {{{RATE}: 5}}, of: response_mean, value: 7ms, tolerance: 0.5ms, odds: ["response_mean <= 9ms"]}}
"""
    found = _read(parse_study(text)).figures["light"]
    assert (found.value, found.tolerance, found.odds[0].bound) == (7000, 500, 9000)
    with pytest.raises(ConfigError) as caught:
        parse_study(text.replace("7ms", "7").replace("64MiB", "64").replace("9ms", "9"))
    assert {(issue.code, issue.place, issue.line) for issue in caught.value.issues} == {
        ("study.bad-quantity", "calibrate.unknowns.controller.cache.capacity", 6),
        ("study.bad-quantity", "calibrate.figures.light.value", 9),
        ("study.bad-quantity", "calibrate.figures.light.odds.0", 9),
    }


MISTAKES: list[tuple[dict[str, object], str, str]] = [
    ({"unknowns": {"array.dsks": {"integer": [1, 2]}}}, "study.unknown-key", "unknowns.array.dsks"),
    ({"unknowns": {"nowhere": {"integer": [1, 2]}}}, "study.no-effect", "unknowns.nowhere"),
    ({"unknowns": {"array.disks": {"integer": [4, 2]}}}, "study.bad-axis", "unknowns.array.disks"),
    ({"unknowns": {RATE: {"integer": [1, 2]}}}, "study.no-effect", f"unknowns.{RATE}"),
    ({"unknowns": {"ceiling": {"integer": [1, 2]}}}, "study.no-effect", "unknowns.ceiling"),
    ({"unknowns": {"limit": {"choice": ["fast"]}}}, "study.unknown-name", "unknowns.limit"),
    ({"unknowns": {"limit": {"integer": [1, 2]}}}, "study.one-of", "unknowns.limit"),
    ({"figures": {"light": {"set": {RATE: 5}}}}, "study.missing-key", "figures.light.of"),
    ({"figures": {"light": FIGURE | {"of": "respons"}}}, "study.unknown-name", "figures.light.of"),
    (
        {"figures": {"light": FIGURE | {"set": {"array.dsks": 1}}}},
        "study.unknown-key",
        "light.set.array.dsks",
    ),
    (
        {"figures": {"light": FIGURE | {"set": {"array.disks": {"unknown": "x"}}}}},
        "study.unknown-name",
        "figures.light.set.array.disks",
    ),
    ({"figures": {"light": FIGURE | {"value": "7 parsecs"}}}, "study.bad-quantity", "figures.light.value"),
    ({"figures": {"light": FIGURE | {"odds": ["fast"]}}}, "study.bad-objective", "figures.light.odds.0"),
    ({"figures": {"light": FIGURE | {"against": [9, 5]}}}, "study.bounds-reversed", "figures.light.against"),
    ({"discrepancy": "200%"}, "study.out-of-range", "calibrate.discrepancy"),
    ({"fits": {"all": ["ligth"]}}, "study.unknown-name", "calibrate.fits.all"),
    (
        {"figures": {"light": {"set": {RATE: 5}, "of": "response_mean", "value": 7000}}},
        "study.missing-key",
        "figures.light",
    ),
    (
        {"figures": {"light": {"set": {RATE: 5}, "of": "response_mean"}}},
        "study.missing-key",
        "calibrate.figures",
    ),
    (
        {"discrepancy": 0, "figures": {"light": FIGURE | {"tolerance": 0}}},
        "study.out-of-range",
        "figures.light.tolerance",
    ),
    ({"wave": {}}, "study.unknown-key", "calibrate.wave"),
    ({"candidates": {"next": {"set": {RATE: 6}}}}, "study.missing-key", "candidates.next.of"),
    ({"candidates": {"next": CANDIDATE | {"of": "respons"}}}, "study.unknown-name", "candidates.next.of"),
    ({"candidates": {"light": CANDIDATE}}, "study.duplicate-name", "calibrate.candidates.light"),
    (
        {"candidates": {"next": CANDIDATE | {"tolerance": "200%"}}},
        "study.out-of-range",
        "candidates.next.tolerance",
    ),
    (
        {"candidates": {"next": CANDIDATE | {"set": {"array.dsks": 1}}}},
        "study.unknown-key",
        "candidates.next.set.array.dsks",
    ),
]


@pytest.mark.parametrize(("change", "code", "place"), MISTAKES)
def test_mistakes_have_codes_and_places(
    make_study: MakeStudy, change: dict[str, object], code: str, place: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        make_study(calibrate=CALIBRATE | change)
    assert [(code, True)] == [
        (issue.code, issue.line is not None) for issue in caught.value.issues if issue.place.endswith(place)
    ], caught.value.issues


def test_later_fits_have_the_figures_of_the_first(make_study: MakeStudy) -> None:
    figures = {"light": FIGURE, "heavy": FIGURE}
    fits = {"first": ["light"], "second": ["heavy"]}
    with pytest.raises(ConfigError) as caught:
        make_study(calibrate=CALIBRATE | {"figures": figures, "fits": fits})
    assert [(one.code, one.place) for one in caught.value.issues] == [
        ("study.missing-key", "calibrate.fits.second")
    ]


@pytest.mark.parametrize(
    ("keys", "code", "place"),
    [
        ({"axes": {"array.disks": [1, 2]}}, "study.no-effect", "axes"),
        ({"points": [{"array.disks": 2}]}, "study.no-effect", "points"),
        ({"replicates": 1}, "study.out-of-range", "replicates"),
        (
            {"seek": {"minimize": "array.disks", "subject_to": SEEK["subject_to"]}},
            "study.one-of",
            "seek.minimize",
        ),
        ({"seek": SEEK}, "study.unknown-name", "calibrate.figures.light.of"),
    ],
)
def test_what_does_not_go_with_a_calibration(
    make_study: MakeStudy, keys: dict[str, object], code: str, place: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        make_study(calibrate=CALIBRATE, **keys)
    assert (code, place) in {(issue.code, issue.place) for issue in caught.value.issues}
