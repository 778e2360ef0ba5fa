"""The pages of the server: the frame, the state of the sweep, its report, and SQL."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from importlib.resources import files
from typing import Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from destage.objects import Location
from destage.server.live_report import LiveReport
from destage.server.statement_runner import Execution, StatementRunner
from destage.server.sweep_observer import SweepObserver, describe_error

_FRAME_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_ASSETS = {
    "serve.css": "text/css",
    "progress.js": "text/javascript",
    "report_frame.js": "text/javascript",
    "sql_box.js": "text/javascript",
}
_LONGEST_TEXT = 64 << 10
"""Longest text of statements [bytes]."""
_WAITING = 64
"""Requests with statements that run or wait; each has a thread."""
_NOT_MODIFIED, _BAD, _TOO_LARGE, _UNSUPPORTED, _BUSY = 304, 400, 413, 415, 503
Endpoint = Callable[[Request], Awaitable[Response]]


def build_application(
    path: Location, observer: SweepObserver, report: LiveReport, runner: StatementRunner
) -> Starlette:
    """Return the ASGI application of one sweep."""
    routes = [
        Route("/", _frame),
        Route("/assets/{name}", _asset),
        Route("/state", _state(path.name, observer, report)),
        Route("/report", _report(report)),
        Route("/sql", _sql(runner), methods=["POST"]),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _explain})


async def _frame(_: Request) -> Response:
    return Response(
        _read("serve.html"), media_type="text/html", headers={"content-security-policy": _FRAME_POLICY}
    )


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _ASSETS:
        raise HTTPException(404)
    return Response(_read(name), media_type=_ASSETS[name])


def _state(name: str, observer: SweepObserver, report: LiveReport) -> Endpoint:
    async def answer(_: Request) -> Response:
        report.note_reader()
        is_current, seen, page = report.is_current, observer.latest, report.page
        return JSONResponse(
            {
                "sweep": name,
                "counts": None if seen.counts is None else asdict(seen.counts),
                "is_adaptive": seen.is_adaptive,
                "rate": seen.rate,
                "eta_s": seen.eta_s,
                "error": seen.error or report.error,
                "report": 0 if page is None else page.number,
                "is_report_current": is_current,
            }
        )

    return answer


def _report(report: LiveReport) -> Endpoint:
    async def answer(request: Request) -> Response:
        report.note_reader()
        page = report.page
        if page is None:
            message = report.error or "the report is being composed; try again in a few seconds"
            return PlainTextResponse(f"{message}\n", _BUSY, headers={"retry-after": "3"})
        tag = f'"{page.tag}"'
        headers = {
            "content-security-policy": page.policy,
            "etag": tag,
            # Kept by the browser, and used if the server says that it is unchanged.
            "cache-control": "private, no-cache",
        }
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=_NOT_MODIFIED, headers=headers)
        return Response(page.content, media_type="text/html", headers=headers)

    return answer


def _sql(runner: StatementRunner) -> Endpoint:
    limiter = anyio.CapacityLimiter(_WAITING)

    async def answer(request: Request) -> Response:
        text = await _read_text(request)
        if limiter.available_tokens < 1:
            raise HTTPException(_BUSY, "too many statements are waiting")
        execution = Execution()
        response: Response = JSONResponse({}, _BUSY)
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel_without_reader, request, execution)
            try:
                result = await anyio.to_thread.run_sync(runner.run, text, execution, limiter=limiter)
                response = JSONResponse(result)
            except Exception as error:  # noqa: BLE001 - the page shows it
                response = JSONResponse({"error": describe_error(error)}, _BAD)
            group.cancel_scope.cancel()
        return response

    return answer


async def _cancel_without_reader(request: Request, execution: Execution) -> None:
    """Cancel the statements of a request whose connection is closed, as the button Cancel does."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    await anyio.to_thread.run_sync(execution.cancel)


async def _read_text(request: Request) -> str:
    """Return the statements in a request: `{"statements": "..."}`."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise HTTPException(_UNSUPPORTED, "send JSON: {'statements': '...'}")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST_TEXT:
            raise HTTPException(_TOO_LARGE, f"more than {_LONGEST_TEXT >> 10} KiB of statements")
    try:
        given: Any = json.loads(body)
    except (ValueError, RecursionError):
        given = None
    text = given.get("statements") if isinstance(given, dict) else None
    if not isinstance(text, str):
        raise HTTPException(_BAD, "send JSON: {'statements': '...'}")
    return text


async def _explain(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    return PlainTextResponse(f"{error.detail}\n", error.status_code, headers=error.headers)


def _read(name: str) -> bytes:
    return (files("destage.server") / "assets" / name).read_bytes()
