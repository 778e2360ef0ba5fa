// The report in a frame. A newer report is loaded into a hidden frame, gets the same state (filter, sort order,
// open parts, scroll position), and then replaces the visible frame.

const QUIET_MS = 1000;
const RETRY_MS = 300;
const holder = document.getElementById("report");
let shown = null;
let latest = 0;
let pending = null;
let touchedAt = 0;
let isPressed = false;

// The way to an element: from the nearest one with an id, by tag and number.
function locate(element) {
  const steps = [];
  let at = element;
  for (; at.parentElement && !at.id; at = at.parentElement) {
    const same = [...at.parentElement.children].filter((other) => other.tagName === at.tagName);
    steps.unshift(`${at.tagName}:nth-of-type(${same.indexOf(at) + 1})`);
  }
  return [at.id ? `#${CSS.escape(at.id)}` : at.tagName, ...steps].join(" > ");
}

const find = (page, element) => page.querySelector(locate(element));

function copyFields(from, to) {
  for (const field of from.querySelectorAll("input, select, textarea")) {
    const other = find(to, field);
    if (other?.tagName !== field.tagName || other.type !== field.type) continue;
    if (other.value === field.value && other.checked === field.checked) continue;
    if (field.type === "checkbox" || field.type === "radio") other.checked = field.checked;
    else other.value = field.value;
    for (const name of ["input", "change"]) other.dispatchEvent(new Event(name, { bubbles: true }));
  }
}

function copyOrder(from, to) {
  for (const head of from.querySelectorAll("th[aria-sort]")) {
    // Columns appear with the first rows that have a value in them.
    const heads = find(to, head.closest("table"))?.querySelectorAll("th") ?? [];
    const other = [...heads].find((each) => each.textContent === head.textContent);
    for (let tries = 0; other && tries < 2; tries += 1) {
      if (other.getAttribute("aria-sort") === head.getAttribute("aria-sort")) break;
      (other.querySelector("button") ?? other).click();
    }
  }
}

function copyDetails(from, to) {
  for (const part of from.querySelectorAll("details")) {
    const other = find(to, part);
    if (other && other.open !== part.open) other.open = part.open;
  }
}

// A table that was shown whole stays whole; the report hides the button for it then.
function copyExtent(from, to) {
  const [more, other] = [from, to].map((page) => page.getElementById("more"));
  if (more?.hidden && other && !other.hidden) other.querySelector("button")?.click();
}

// Keep the section at the top of the window in place, even if content was added above it.
function copyPlace(from, to) {
  for (const box of from.querySelectorAll("*")) {
    if (!box.scrollLeft && !box.scrollTop) continue;
    const other = box === from.scrollingElement ? null : find(to, box);
    if (other) other.scrollTo(box.scrollLeft, box.scrollTop);
  }
  const [view, otherView] = [from.defaultView, to.defaultView];
  const named = [...from.querySelectorAll("main [id]")];
  // What is not drawn, such as a script, has no rectangles.
  const above = named.filter((each) => each.getClientRects().length && each.getBoundingClientRect().top <= 1);
  const anchor = view.scrollY > 0 && above.at(-1);
  const other = anchor && to.getElementById(anchor.id);
  const moved = other ? other.getBoundingClientRect().top - anchor.getBoundingClientRect().top : view.scrollY;
  otherView.scrollTo({ left: view.scrollX, top: otherView.scrollY + moved, behavior: "instant" });
}

function copyFocus(from, to) {
  const field = from.activeElement;
  if (!field || field === from.body || !from.hasFocus()) return;
  const other = find(to, field);
  if (!other) return;
  other.focus({ preventScroll: true });
  if (typeof field.selectionStart === "number") other.setSelectionRange(field.selectionStart, field.selectionEnd);
}

function isBusy(page) {
  const hasSelection = !(page.getSelection()?.isCollapsed ?? true) && page.getSelection().toString() !== "";
  return isPressed || hasSelection || performance.now() - touchedAt < QUIET_MS;
}

function followReader(page) {
  const touch = () => { touchedAt = performance.now(); };
  const press = () => { isPressed = true; };
  const release = () => { isPressed = false; touch(); };
  for (const name of ["keydown", "wheel", "touchmove"]) page.addEventListener(name, touch, { passive: true });
  page.addEventListener("scroll", touch, { passive: true, capture: true });
  page.addEventListener("pointerdown", press);
  for (const name of ["pointerup", "pointercancel"]) page.addEventListener(name, release);
  page.defaultView.addEventListener("blur", release);
}

function followTheme(page) {
  const copy = () => {
    const theme = page.documentElement.dataset.theme;
    if (theme) document.documentElement.dataset.theme = theme;
  };
  copy();
  new MutationObserver(copy).observe(page.documentElement, { attributeFilter: ["data-theme"] });
}

function exchange(frame) {
  const page = frame.contentDocument;
  const before = shown?.contentDocument;
  if (before) {
    if (isBusy(before)) {
      setTimeout(exchange, RETRY_MS, frame);
      return;
    }
    Object.assign(page.documentElement.dataset, before.documentElement.dataset);
    copyFields(before, page);
    copyOrder(before, page);
    copyDetails(before, page);
    copyExtent(before, page);
    copyPlace(before, page);
  }
  frame.classList.remove("pending");
  if (before) copyFocus(before, page);
  shown?.remove();
  document.getElementById("waiting")?.remove();
  followReader(page);
  followTheme(page);
  shown = frame;
  pending = null;
}

// Shows a page of the report, unless it is there already or on its way; the state asks again later.
export function showReport(number) {
  if (number === latest || pending) return;
  const frame = document.createElement("iframe");
  frame.title = "Report";
  frame.className = "pending";
  frame.src = `report?page=${number}`;
  frame.addEventListener("load", () => {
    const page = frame.contentDocument;
    // An error of the server is plain text; one of the connection belongs to the browser.
    if (page?.contentType === "text/html" && page.querySelector("main")) {
      latest = number;
      exchange(frame);
    } else {
      frame.remove();
      pending = null;
    }
  });
  pending = frame;
  holder.append(frame);
}
