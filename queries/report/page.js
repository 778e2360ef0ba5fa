"use strict";
(() => {
  const root = document.documentElement;
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  const body = document.querySelector("#design_space tbody");
  const rows = [...body.rows];
  const count = document.getElementById("count");
  const filter = document.getElementById("filter");
  const texts = new Map(rows.map((row) => [row, row.innerText.toLowerCase()]));
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      row.hidden = !words.every((word) => texts.get(row).includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = `${shown} of ${rows.length} rows`;
  };
  filter.addEventListener("input", show);
  show();

  const key = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.value === undefined ? cell.innerText : Number(cell.dataset.value);
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  document.querySelectorAll("#design_space th").forEach((head, at, heads) => {
    head.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.sort((one, two) => compare(key(one, at), key(two, at)) * (down ? -1 : 1));
      body.append(...rows);
    });
  });
})();
