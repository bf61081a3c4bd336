// Numbers -> drawings, made by hand: lines in SVG, bars in tables that can also be read.

import { count, h, percent, s } from "./dom.js";

// A drawing that is as wide as its place. `draw` takes a width in pixels and returns an <svg>.
export function drawing(draw) {
  const box = h("div", { class: "drawing" });
  let width = 0;
  new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (!now || now === width) return;
    width = now;
    box.replaceChildren(draw(width));
  }).observe(box);
  return box;
}

export const path = (points) =>
  points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

// Lines at shares of 0, 50 and 100%, with their names on the left.
export function grid(width, height, left, y) {
  return [0, 0.5, 1].map((share) =>
    s(
      "g",
      { class: "grid" },
      s("line", { x1: left, x2: width, y1: y(share), y2: y(share) }),
      s("text", { x: left - 8, y: y(share) + 4, "text-anchor": "end" }, `${share * 100}%`),
    ),
  );
}

// Rows of a name, a bar and a number. Each: { name, value, told, kind }.
export function bars(caption, rows) {
  const most = Math.max(...rows.map((row) => row.value), 1e-12);
  return h(
    "table",
    { class: "bars" },
    h("caption", { class: "unseen" }, caption),
    h(
      "tbody",
      null,
      rows.map(({ name, value, told, kind }) =>
        h(
          "tr",
          { class: kind ?? null },
          h("th", { scope: "row", dir: "auto" }, name),
          h("td", { class: "bar" }, length(value / most)),
          h("td", null, told),
        ),
      ),
    ),
  );
}

function length(share, kind = null) {
  const bar = h("b", { "aria-hidden": "true", class: kind });
  bar.style.width = `${share * 100}%`;
  return bar;
}

const LEVELS = ["safe", "warning", "block", "none"];
const SHAPES = { safe: "●", warning: "▲", block: "■", none: "○" };

// Rows of a name and parts that add up. Each: { name, parts: { safe: 3, ... } }.
export function stacked(caption, rows) {
  return h(
    "table",
    { class: "bars stacked" },
    h("caption", { class: "unseen" }, caption),
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("td"),
        h("td", { class: "bar" }),
        LEVELS.map((level) =>
          h(
            "th",
            { scope: "col", class: `v-${level}` },
            h("i", { "aria-hidden": "true" }, SHAPES[level]),
            level === "none" ? "no score" : level,
          ),
        ),
      ),
    ),
    h(
      "tbody",
      null,
      rows.map(({ name, parts }) => {
        const all = Object.values(parts).reduce((sum, value) => sum + value, 0);
        return h(
          "tr",
          null,
          h("th", { scope: "row", dir: "auto" }, name),
          h(
            "td",
            { class: "bar" },
            LEVELS.filter((level) => parts[level]).map((level) =>
              length(parts[level] / all, `v-${level}`),
            ),
          ),
          LEVELS.map((level) => h("td", null, count(parts[level] ?? 0))),
        );
      }),
    ),
  );
}

// A share with its interval, on a line from 0 to 100%.
export function interval(name, { passed, stating, interval: bounds }) {
  const share = stating ? passed / stating : null;
  return h(
    "div",
    { class: "interval" },
    h("span", { class: "name", dir: "auto" }, name),
    share === null
      ? h("span", { class: "soft" }, "no answer that states something")
      : [
          drawing((width) => {
            const x = (value) => 6 + value * (width - 12);
            return s(
              "svg",
              { width, height: 20, "aria-hidden": "true" },
              s("line", { class: "axis", x1: x(0), x2: x(1), y1: 10, y2: 10 }),
              s("line", { class: "reach", x1: x(bounds[0]), x2: x(bounds[1]), y1: 10, y2: 10 }),
              s("circle", { cx: x(share), cy: 10, r: 5 }),
            );
          }),
          h("b", null, percent(share)),
          h("span", { class: "soft" }, `${count(passed)} of ${count(stating)}`),
        ],
  );
}
