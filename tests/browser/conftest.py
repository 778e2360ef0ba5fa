"""A browser of the machine, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start the browser that DESTAGE_TEST_BROWSER names, or the first one on PATH."""
    found = os.environ.get("DESTAGE_TEST_BROWSER") or next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if found is None:
        pytest.fail("no Chromium on PATH; `make browser-test` installs it on Debian")
    with sync_playwright() as playwright:
        # Chromium's sandbox does not start as root, as in containers.
        browser = playwright.chromium.launch(
            executable_path=found, chromium_sandbox=os.geteuid() != 0, timeout=120_000
        )
        yield browser
        browser.close()
