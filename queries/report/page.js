"use strict";
// The table of points: filter, sorting, and the rows that a selection in the Explore panel leaves.
const destageTable = (() => {
  const root = document.documentElement;
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  const body = document.querySelector("#points tbody");
  const planned = [...body.rows];
  const place = new Map(planned.map((row, at) => [row, at]));
  let rows = planned;
  const count = document.getElementById("count");
  const filter = document.getElementById("filter");
  const clear = document.getElementById("clear");
  const more = document.getElementById("more");
  let most = more ? Number(more.dataset.first) : Infinity;
  if (more && matchMedia("screen and (max-width: 640px)").matches) {
    most = Number(more.dataset.phone);
    more.querySelector("b").textContent = most;
  }
  let selected = null;
  const listeners = [];

  // A space that groups digits is no space between words.
  const plain = (text) => text.replace(/\u202f/g, "").toLowerCase().split(/\s+/).filter(Boolean).join(" ");
  const folded = document.getElementById("folded");
  const shared = folded ? plain(folded.textContent.replace(/^[^:]*:|[.,]/g, " ")) : "";
  const titles = [...document.querySelectorAll("#points th")].map((head) => head.textContent);
  const texts = new Map(planned.map((row) => [
    row, [...[...row.cells].map((cell, at) => plain(`${titles[at]} ${cell.textContent}`)), shared],
  ]));
  const has = (text, words, end) => ` ${text} `.includes(` ${words}${end}`);
  const found = (words, end) => planned.some((row) => texts.get(row).some((text) => has(text, words, end)));

  // Match the longest phrase found in one heading and cell, so that "raid 5" does not match "5" in another column.
  const split = (query) => {
    const words = query.split(" ");
    const parts = [];
    for (let at = 0, end; at < words.length; at = end) {
      let ending = "";
      for (end = words.length; end > at; end--) {
        const some = words.slice(at, end).join(" ");
        ending = [" ", ""].find((one) => found(some, one));
        if (ending !== undefined) break;
      }
      end = Math.max(end, at + 1);
      parts.push([words.slice(at, end).join(" "), ending ?? ""]);
    }
    return parts;
  };
  const compile = (query) => {
    const either = plain(query).split(/ or /).filter(Boolean).map(split);
    const agrees = (row) => ([words, end]) => texts.get(row).some((text) => has(text, words, end));
    return (row) => either.length === 0 || either.some((parts) => parts.every(agrees(row)));
  };

  const show = () => {
    const matches = compile(filter.value);
    const kept = rows.filter((row) => matches(row) && (selected === null || selected.has(place.get(row))));
    const limit = kept.length < rows.length ? Infinity : most;
    rows.forEach((row) => { row.hidden = true; });
    kept.slice(0, limit).forEach((row) => { row.hidden = false; });
    count.textContent = `${kept.length} of ${rows.length} rows${selected === null ? "" : " (selected above)"}`;
    clear.hidden = selected === null;
    if (more) more.hidden = kept.length <= limit;
    listeners.forEach((listener) => listener(new Set(kept.map((row) => place.get(row))), selected));
  };
  filter.addEventListener("input", show);
  clear.addEventListener("click", () => select(null));
  if (more) more.querySelector("button").addEventListener("click", () => { most = Infinity; show(); });

  const select = (chosen) => { selected = chosen; show(); };

  const key = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  document.querySelectorAll("#points th").forEach((head, at, heads) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows = [...rows].sort((one, two) => compare(key(one, at), key(two, at)) * (down ? -1 : 1));
      body.append(...rows);
      show();
    });
  });
  show();
  return { select, listen: (listener) => { listeners.push(listener); show(); } };
})();
