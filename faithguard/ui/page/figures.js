// The numbers of many records -> charts: passing over time, claims, causes, levels, latency, and
// what another threshold would have made of them.

import { bars, drawing, grid, path, stacked } from "./charts.js";
import {
  ask,
  clockOf,
  count,
  counted,
  dayOf,
  h,
  money,
  percent,
  range,
  ready,
  s,
  seconds,
  words,
} from "./dom.js";
import { bar, filtersOf, goTo, queryOf, refresh } from "./filters.js";

const HEIGHT = 220;
const LEFT = 44;
const RIGHT = 12;
const y = (share) => 10 + (1 - share) * (HEIGHT - 36);

const body = h("div");
const whole = h("div", null, h("h1", { class: "unseen" }, "Figures"), body);

export async function figures({ parameters, state }) {
  state("");
  const [found] = await Promise.all([ask("figures", queryOf(parameters)), ready]);
  refresh();
  bar.update(filtersOf(parameters), goTo("figures"));
  return {
    title: "Figures",
    content: whole,
    keys: {},
    leave() {},
    shown() {
      if (!whole.contains(bar.element)) body.before(bar.element);
      body.replaceChildren(...(found.answers ? draw(found) : [nothing()]));
    },
  };
}

const nothing = () =>
  h(
    "div",
    { class: "empty" },
    h("h2", null, "No answers"),
    h("p", null, "There is nothing to count here yet."),
  );

function draw(found) {
  return [
    headline(found),
    h(
      "div",
      { class: "cards" },
      overTime(found),
      whatIf(found.what_if),
      claims(found),
      causes(found),
      levels(found),
      latency(found),
    ),
  ];
}

function card(title, ...children) {
  return h("section", { class: "chart" }, h("h2", null, title), ...children);
}

function headline({ answers, stating, passed, interval, calls, cost }) {
  const facts = [
    `${counted(answers, "answer")} recorded`,
    answers > stating && `${count(answers - stating)} of them abstain or state nothing`,
    counted(calls, "model call"),
    cost !== null && money(cost),
  ];
  return h(
    "p",
    { class: "headline" },
    interval
      ? [
          h("strong", null, percent(passed / stating)),
          h("span", null, `of ${counted(stating, "answer")} pass`),
          h("span", { class: "soft" }, `95% interval ${range(interval)}`),
        ]
      : h("span", null, "Nothing was stated that can be checked"),
    h("span", { class: "soft" }, facts.filter(Boolean).join(" · ")),
  );
}

// Passing over time

function overTime({ series, by }) {
  const buckets = series.filter((bucket) => bucket.share !== null);
  if (!buckets.length)
    return card("Passing over time", h("p", { class: "soft" }, "No answer states anything."));
  const name = ({ start }) => {
    const when = new Date(start);
    return by === "day" ? dayOf(when) : `${dayOf(when)}, ${clockOf(when)}`;
  };
  const told = (bucket) =>
    `${name(bucket)}: ${count(bucket.passed)} of ${count(bucket.stating)} pass, ${percent(bucket.share)} (${range(bucket.interval)})`;
  const last = buckets.at(-1);
  const readout = h("p", { class: "readout" }, told(last));
  const chart = drawing((width) =>
    timeChart(width, buckets, name, (bucket) => (readout.textContent = told(bucket))),
  );
  return card(
    "Passing over time",
    chart,
    readout,
    numbers(
      `By the ${by}`,
      [by === "day" ? "Day" : "Hour", "Pass", "Of", "Share", "95% interval"],
      buckets.map((bucket) => [
        name(bucket),
        count(bucket.passed),
        count(bucket.stating),
        percent(bucket.share),
        range(bucket.interval),
      ]),
    ),
  );
}

function timeChart(width, buckets, name, tell) {
  const times = buckets.map((bucket) => Date.parse(bucket.start));
  const [first, last] = [times[0], times.at(-1)];
  const inner = width - LEFT - RIGHT;
  const x = (time) =>
    last === first ? LEFT + inner / 2 : LEFT + 8 + ((time - first) / (last - first)) * (inner - 16);
  const at = buckets.map((bucket, index) => ({ bucket, x: x(times[index]) }));
  const band = [
    ...at.map(({ bucket, x: px }) => [px, y(bucket.interval[1])]),
    ...at.toReversed().map(({ bucket, x: px }) => [px, y(bucket.interval[0])]),
  ];
  const line = at.map(({ bucket, x: px }) => [px, y(bucket.share)]);
  const cursor = s("line", { class: "cursor", y1: y(1), y2: y(0), visibility: "hidden" });
  const shares = buckets.map((bucket) => bucket.share);
  const svg = s(
    "svg",
    {
      width,
      height: HEIGHT,
      role: "img",
      "aria-label": `Share of passing answers from ${name(buckets[0])} to ${name(buckets.at(-1))}, between ${percent(Math.min(...shares))} and ${percent(Math.max(...shares))}; the numbers follow`,
      onpointermove: (event) => {
        const px = event.clientX - svg.getBoundingClientRect().left;
        const near = at.reduce((best, one) =>
          Math.abs(one.x - px) < Math.abs(best.x - px) ? one : best,
        );
        for (const end of ["x1", "x2"]) cursor.setAttribute(end, near.x);
        cursor.setAttribute("visibility", "visible");
        tell(near.bucket);
      },
    },
    grid(width - RIGHT, HEIGHT, LEFT, y),
    buckets.length > 1
      ? [
          s("path", { class: "band", d: `${path(band)}Z` }),
          s("path", { class: "line", d: path(line) }),
        ]
      : s("line", {
          class: "reach",
          x1: at[0].x,
          x2: at[0].x,
          y1: y(buckets[0].interval[0]),
          y2: y(buckets[0].interval[1]),
        }),
    cursor,
    buckets.length < 80 ? line.map(([cx, cy]) => s("circle", { cx, cy, r: 3.5 })) : null,
    ticks(at, name, width),
  );
  return svg;
}

// Names under the line, as many as there is room for, the last one among them.
function ticks(at, name, width) {
  const room = Math.max(1, Math.floor((width - LEFT) / 110));
  const stride = Math.ceil(at.length / room);
  return at
    .filter((_, index) => (at.length - 1 - index) % stride === 0)
    .map(({ bucket, x }, index, all) =>
      s(
        "text",
        {
          class: "tick",
          x,
          y: HEIGHT - 6,
          "text-anchor":
            index === all.length - 1 && at.length > 1
              ? "end"
              : index === 0 && x < LEFT + 40
                ? "start"
                : "middle",
        },
        name(bucket),
      ),
    );
}

function numbers(summary, heads, rows) {
  return h(
    "details",
    { class: "numbers" },
    h("summary", null, "The numbers"),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": summary },
      h(
        "table",
        null,
        h("caption", { class: "unseen" }, summary),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            heads.map((head) => h("th", { scope: "col" }, head)),
          ),
        ),
        h(
          "tbody",
          null,
          rows.map(([head, ...cells]) =>
            h(
              "tr",
              null,
              h("th", { scope: "row" }, head),
              cells.map((cell) => h("td", null, cell)),
            ),
          ),
        ),
      ),
    ),
  );
}

// What if

function whatIf({ stating, passed, steps, passing }) {
  if (!stating) return card("What if?", h("p", { class: "soft" }, "No answer states anything."));
  const start = Math.round(0.85 * steps);
  const told = h("output", { for: "threshold" });
  const cursor = s("line", { class: "cursor", y1: y(1), y2: y(0) });
  const dot = s("circle", { r: 5 });
  let x = () => 0;
  const slider = h("input", {
    type: "range",
    id: "threshold",
    min: "0",
    max: String(steps),
    step: "1",
    value: String(start),
    oninput: () => move(),
  });
  const move = () => {
    const at = Number(slider.value);
    const share = passing[at] / stating;
    const change = passing[at] - passed;
    slider.setAttribute("aria-valuetext", `${(at / steps).toFixed(3)}: ${percent(share)} pass`);
    told.replaceChildren(
      h("b", null, `safe from ${(at / steps).toFixed(3)}: ${percent(share)}`),
      h(
        "span",
        { class: "soft" },
        ` ${count(passing[at])} of ${count(stating)} would pass, ${change === 0 ? "as many as did" : `${count(Math.abs(change))} ${change > 0 ? "more" : "fewer"} than did`}`,
      ),
    );
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, x(at));
    dot.setAttribute("cx", x(at));
    dot.setAttribute("cy", y(share));
  };
  const chart = drawing((width) => {
    x = (at) => LEFT + 8 + (at / steps) * (width - LEFT - RIGHT - 16);
    // A step: the share holds from one threshold to the next.
    const line = passing.flatMap((number, at) => [
      ...(at ? [[x(at), y(passing[at - 1] / stating)]] : []),
      [x(at), y(number / stating)],
    ]);
    move();
    return s(
      "svg",
      { width, height: HEIGHT, "aria-hidden": "true" },
      grid(width - RIGHT, HEIGHT, LEFT, y),
      s("path", { class: "line", d: path(line) }),
      cursor,
      dot,
      [0, 0.25, 0.5, 0.75, 1].map((value) =>
        s(
          "text",
          {
            class: "tick",
            x: x(value * steps),
            y: HEIGHT - 6,
            "text-anchor": value === 1 ? "end" : "middle",
          },
          value,
        ),
      ),
    );
  });
  return card(
    "What if?",
    h("p", { class: "soft" }, "How many of these answers would pass at another threshold."),
    chart,
    h("label", { class: "slider" }, h("span", { class: "unseen" }, "Threshold"), slider),
    told,
  );
}

// Counts

function claims({ claims: labels }) {
  const all = Object.values(labels).reduce((sum, value) => sum + value, 0);
  if (!all) return card("Claims", h("p", { class: "soft" }, "No claims."));
  const rows = Object.entries(labels)
    .reverse()
    .map(([label, value]) => ({
      name: [h("i", { "aria-hidden": "true" }, words.labels[label].sign), words.labels[label].word],
      value,
      told: `${count(value)} · ${percent(value / all)}`,
      kind: `l-${label}`,
    }));
  return card("Claims", bars("Claims by label", rows));
}

function causes({ causes: found }) {
  const entries = Object.entries(found);
  if (!entries.length)
    return card("Causes", h("p", { class: "soft" }, "No unsupported claim has a known cause."));
  const all = entries.reduce((sum, [, value]) => sum + value, 0);
  const rows = entries.map(([cause, value]) => ({
    name: cause,
    value,
    told: `${count(value)} · ${percent(value / all)}`,
  }));
  return card(
    "Causes of unsupported claims",
    bars("Unsupported claims by cause", rows),
    h(
      "ul",
      { class: "legend" },
      entries.map(([cause]) => h("li", null, words.causes[cause])),
    ),
  );
}

const levels = ({ levels: found }) =>
  card(
    "Levels by domain",
    stacked(
      "Answers by domain and level",
      found.map(({ domain, levels: parts }) => ({ name: domain, parts })),
    ),
  );

function latency({ latency: found }) {
  const entries = Object.entries(found);
  if (!entries.length) return card("Latency", h("p", { class: "soft" }, "None was measured."));
  const rows = entries.map(([name, value]) => ({
    name: QUANTILES[name] ?? name,
    value,
    told: seconds(value),
  }));
  return card("Latency", bars("Seconds of all stages", rows));
}

const QUANTILES = {
  p50: "half within",
  p90: "90% within",
  p95: "95% within",
  p99: "99% within",
  max: "the slowest",
};
