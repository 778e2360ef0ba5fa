"use strict";
// The Explore panel: plots any column against any other, coloured by a third; the table shows the selected points.
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const panel = document.getElementById("explore");
  const rows = read("rows");
  const columns = read("columns");
  const cells = [...document.querySelectorAll("#points tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
  const palette = Array.from({ length: 8 }, (_, at) => `var(--c${at})`);
  const mostNames = 20;
  const manyDecades = 50;
  const mostTexts = 12;
  const letter = 6.6;
  const leastRoom = 70;
  const choice = (name) => document.getElementById(`explore-${name}`);
  const selects = { x: choice("x"), y: choice("y"), colour: choice("colour") };
  const place = document.getElementById("explore-plot");
  const status = document.getElementById("explore-status");

  const points = rows.map((row, at) => ({ row, at }));
  const value = (column) => (point) => {
    const found = point.row[column.name];
    return typeof found === "number" && column.isNumber ? found * column.scale : found;
  };
  const text = (column) => (point) => cells[point.at][column.cell];
  const distinct = (column) => new Set(points.map(value(column)).filter((one) => one !== null));
  // The few values of an axis of the study are names with their units; everything else is a number on a scale.
  const isNamed = (column) => !column.isNumber || (column.isAxis && distinct(column).size <= mostNames);

  const scale = (column) => {
    const label = column.title;
    if (isNamed(column)) {
      const texts = new Map(points.map((point) => [value(column)(point), text(column)(point)]));
      const domain = [...distinct(column)];
      if (column.isNumber) domain.sort((one, two) => one - two);
      return { type: "point", domain, tickFormat: (one) => texts.get(one), label, padding: 0.5 };
    }
    const found = [...distinct(column)];
    const isWide = Math.min(...found) > 0 && Math.max(...found) / Math.min(...found) > manyDecades;
    return { type: isWide ? "log" : "linear", label, nice: true, grid: true, zero: !isWide };
  };
  const colours = (column) => {
    if (!column) return undefined;
    if (!isNamed(column)) return { type: "linear", scheme: "viridis", legend: true, label: column.title };
    const { domain, tickFormat } = scale(column);
    return { type: "ordinal", domain, range: palette, legend: true, tickFormat, label: column.title };
  };

  // How the names of an axis fit below it: in lines if each has some room, otherwise turned.
  const fitNames = (column, width) => {
    if (!isNamed(column)) return { bottom: 44, options: {} };
    const longest = Math.max(...points.map((point) => text(column)(point).length)) * letter;
    const room = width / distinct(column).size;
    if (longest <= room) return { bottom: 44, options: {} };
    if (room < leastRoom) return { bottom: Math.min(longest, 160) + 36, options: { tickRotate: -90 } };
    const words = points.flatMap((point) => text(column)(point).split(" "));
    const widest = Math.max(...words.map((word) => word.length)) * letter;
    if (widest > room) return { bottom: Math.min(longest, 160) + 36, options: { tickRotate: -90 } };
    const lines = Math.ceil((longest + widest) / room) + 1;
    return { bottom: 32 + 14 * lines, options: { lineWidth: (room - 8) / 12 } };
  };

  let kept = new Set(points.map((point) => point.at));
  let selected = null;
  let circles = [];
  const shade = () => circles.forEach(([circle, at]) => circle.classList.toggle("dimmed", !kept.has(at)));

  const draw = () => {
    const [x, y] = [selects.x, selects.y].map((one) => columns[one.value]);
    const by = selects.colour.value === "" ? null : columns[selects.colour.value];
    const drawn = points.filter((point) => [x, y].every((column) => value(column)(point) !== null));
    const width = Math.max(300, place.clientWidth);
    const longest = Math.max(...(isNamed(y) ? drawn.map((point) => text(y)(point).length) : [6]), 0);
    const { axisX, axisY, dot, plot } = DestagePlot;
    const shown = columns.slice(0, mostTexts);
    const [onX, onY] = [scale(x), scale(y)];
    const left = Math.min(30 + longest * 7, width * 0.45);
    const names = fitNames(x, width - left - 20);
    const chart = plot({
      width,
      height: (width < 500 ? 276 : 376) + names.bottom,
      marginLeft: left,
      marginBottom: names.bottom,
      style: { background: "transparent", fontSize: "12px" },
      x: onX,
      y: onY,
      color: colours(by),
      marks: [
        axisX({ anchor: "bottom", tickSize: 4, ...names.options, ...(onX.tickFormat && { tickFormat: onX.tickFormat }) }),
        axisY({ anchor: "left", tickSize: 4, ...(onY.tickFormat && { tickFormat: onY.tickFormat }) }),
        dot(drawn, {
          x: value(x),
          y: value(y),
          fill: by ? value(by) : "var(--c0)",
          stroke: "var(--ground)",
          strokeWidth: 0.7,
          r: 4.5,
          channels: Object.fromEntries(shown.map((column) => [column.name, { value: text(column), label: column.title }])),
          tip: { format: { x: false, y: false, fill: false }, lineWidth: 34 },
        }),
      ],
    });
    place.replaceChildren(chart);
    const svg = chart.tagName === "svg" ? chart : chart.querySelector(":scope > svg"); // A legend has others.
    // The table has every value in words.
    svg.setAttribute("aria-hidden", "true");
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", `${y.title} against ${x.title}`);
    const found = [...svg.querySelectorAll('g[aria-label="dot"] circle')];
    circles = found.map((circle, at) => [circle, drawn[at].at]);
    shade();
    const missing = points.length - drawn.length;
    status.textContent = `${drawn.length} points${missing ? `; ${missing} without a value left out` : ""}.`;
    addBrush(chart, svg, drawn, x, y);
  };

  const addBrush = (chart, svg, drawn, x, y) => {
    const { brush, select } = DestagePlot;
    const [acrossX, acrossY] = [chart.scale("x"), chart.scale("y")];
    const at = (point) => [acrossX.apply(value(x)(point)), acrossY.apply(value(y)(point))];
    const [left, right] = [Math.min(...acrossX.range), Math.max(...acrossX.range)];
    const [top, bottom] = [Math.min(...acrossY.range), Math.max(...acrossY.range)];
    const area = brush()
      .extent([[left - 8, top - 8], [right + 8, bottom + 8]])
      .touchable(false) // A finger scrolls the page and selects points one by one.
      .on("end", (event) => {
        if (!event.sourceEvent) return;
        if (!event.selection) return destageTable.select(null);
        const [[x0, y0], [x1, y1]] = event.selection;
        const inside = drawn.filter((point) => {
          const [px, py] = at(point);
          return x0 <= px && px <= x1 && y0 <= py && py <= y1;
        });
        destageTable.select(inside.length ? new Set(inside.map((point) => point.at)) : null);
      });
    select(svg).insert("g", ":first-child").attr("class", "brush").call(area);
    circles.forEach(([circle, index]) => circle.addEventListener("click", () => {
      const chosen = new Set(selected ?? []);
      if (!chosen.delete(index)) chosen.add(index);
      destageTable.select(chosen.size ? chosen : null);
    }));
  };

  const fill = (one, wanted, isOptional) => {
    if (isOptional) one.add(new Option("one colour", ""));
    columns.forEach((column, at) => one.add(new Option(column.title, at)));
    const found = columns.findIndex((column) => column.name === wanted);
    one.value = found >= 0 ? found : isOptional ? "" : 0;
    one.addEventListener("change", draw);
  };
  fill(selects.x, panel.dataset.x, false);
  fill(selects.y, panel.dataset.y, false);
  fill(selects.colour, panel.dataset.colour, true);
  panel.hidden = false;
  destageTable.listen((now, chosen) => { kept = now; selected = chosen; shade(); });
  let width = 0;
  new ResizeObserver(() => {
    if (place.clientWidth === width) return;
    width = place.clientWidth;
    draw();
  }).observe(place);
})();
