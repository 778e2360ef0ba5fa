// Runs read-only SQL; the connection of a cancelled request is closed, which ends its statement.
const byId = (id) => document.getElementById(id);
const [form, text, run, cancel] = ["statement_form", "statements", "run", "cancel"].map(byId);
let request = null;

function show(view) {
  for (const name of ["report", "sql"]) {
    byId(name).inert = name !== view;
    byId(`show_${name}`).setAttribute("aria-pressed", String(name === view));
  }
  if (view === "sql") text.focus();
}

function report(line, isFailure = false) {
  byId("outcome").textContent = line;
  byId("outcome").classList.toggle("failure", isFailure);
}

function element(tag, content, className = "") {
  const made = document.createElement(tag);
  made.textContent = content;
  made.className = className;
  return made;
}

function drawTable(result) {
  const table = document.createElement("table");
  const kinds = result.headings.map((heading) => (heading.is_number ? "number" : ""));
  const head = table.createTHead().insertRow();
  result.headings.forEach((heading, at) => {
    const cell = element("th", heading.title, kinds[at]);
    cell.title = heading.name;
    cell.scope = "col";
    head.append(cell);
  });
  const body = table.createTBody();
  for (const cells of result.rows) {
    const row = body.insertRow();
    cells.forEach((cell, at) => row.append(element("td", cell, kinds[at])));
  }
  const scroll = document.createElement("div");
  scroll.className = "scroll";
  // So that a keyboard can scroll it, too.
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", "Result");
  scroll.append(table);
  return scroll;
}

function describe(result) {
  const remark = result.remark ? `; ${result.remark}` : "";
  if (!result.left_out) return (result.row_count === 1 ? "1 row" : `${result.row_count} rows`) + remark;
  const shown = result.row_count - result.left_out;
  return `first ${shown} of ${result.row_count} rows; destage query with --format csv prints all${remark}`;
}

function drawResults(answer) {
  for (const result of answer.results) {
    byId("results").append(drawTable(result), element("p", describe(result), "remark"));
  }
  const time = new Date(answer.as_of).toLocaleTimeString();
  const warnings = answer.warnings.map((warning) => `; ${warning}`).join("");
  report(`${answer.seconds.toFixed(2)} s; rows committed before ${time}${warnings}`);
}

async function ask(signal) {
  const response = await fetch("sql", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ statements: text.value }),
    signal,
  });
  if (response.headers.get("content-type") !== "application/json") {
    report((await response.text()).trim(), true);
    return;
  }
  const answer = await response.json();
  if (answer.error) report(answer.error, true);
  else drawResults(answer);
}

async function start() {
  if (request) return;
  request = new AbortController();
  [run.disabled, cancel.disabled] = [true, false];
  byId("results").replaceChildren();
  report("running …");
  try {
    await ask(request.signal);
  } catch {
    report(request.signal.aborted ? "cancelled" : "the server cannot be reached", !request.signal.aborted);
  } finally {
    request = null;
    [run.disabled, cancel.disabled] = [false, true];
  }
}

byId("show_report").addEventListener("click", () => show("report"));
byId("show_sql").addEventListener("click", () => show("sql"));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  start();
});
cancel.addEventListener("click", () => request?.abort());
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    start();
  }
});
