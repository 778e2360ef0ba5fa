// Polls the state of the sweep. Server-sent events would keep a connection open per page, and a browser allows
// only six to one server.
import { showReport } from "./report_frame.js";

const RUNNING_MS = 1500;
const IDLE_MS = 5000;
const byId = (id) => document.getElementById(id);
let timer = 0;
let isWriting = false;

function clock(seconds) {
  const total = Math.round(seconds);
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(total / 3600), Math.floor(total / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(total % 60)}` : `${minutes}:${two(total % 60)}`;
}

function count(number) {
  return number.toLocaleString("en").replaceAll(",", "\u202f");
}

function describe(state) {
  const { counts, rate, eta_s: eta } = state;
  const isOpen = state.is_adaptive && !counts.finished;
  const words = [`${count(counts.present)} of ${count(counts.planned)} runs${isOpen ? " planned so far" : ""}`];
  if (counts.writer === null) {
    words.push(counts.finished ? "finished" : "not running; destage run continues it");
  } else {
    if (rate > 0) words.push(`${rate.toFixed(rate < 10 ? 1 : 0)} runs/s`);
    if (eta !== null) words.push(`ETA ${clock(eta)}${isOpen ? " or later" : ""}`);
  }
  return words.join(", ");
}

function showCounts(state) {
  const { counts } = state;
  const share = counts.planned ? (100 * counts.present) / counts.planned : 0;
  byId("counts").textContent = describe(state);
  if (counts.failed) {
    const failed = document.createElement("b");
    failed.textContent = `${count(counts.failed)} failed`;
    byId("counts").append(", ", failed);
  }
  byId("bar").setAttribute("aria-valuenow", Math.floor(share));
  byId("bar").firstElementChild.style.width = `${share}%`;
  const mark = counts.writer === null ? "" : `${Math.floor(share)} % – `;
  document.title = `${mark}${state.sweep}`;
  isWriting = counts.writer !== null;
}

function showError(line) {
  const place = byId("error");
  // The same text again would be read aloud again.
  if (place.textContent !== line) place.textContent = line;
  place.hidden = !line;
}

async function ask() {
  let response;
  try {
    response = await fetch("state", { cache: "no-store" });
  } catch {
    showError("The server has ended or cannot be reached; trying again.");
    return true;
  }
  if (response.status === 403) {
    showError("The server was started again: open the address that it printed.");
    return false;
  }
  if (!response.ok) {
    showError(`The server answered with status ${response.status}; trying again.`);
    return true;
  }
  const state = await response.json();
  byId("sweep").textContent = state.sweep;
  if (state.counts) showCounts(state);
  showError(state.error ?? "");
  if (state.report) showReport(state.report);
  return true;
}

async function repeat() {
  clearTimeout(timer);
  if (await ask()) timer = setTimeout(repeat, isWriting ? RUNNING_MS : IDLE_MS);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) repeat();
});
repeat();
