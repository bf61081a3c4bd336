// Two tags, or two ranges of time -> the same questions side by side.

import { interval } from "./charts.js";
import { ask, count, counted, h, levelled, points, ready, timeOf } from "./dom.js";
import { moment, select } from "./filters.js";

const SIDES = ["a", "b"];
const PARTS = ["tag", "since", "until"];
const SHOWN = 200;

let changed = ""; // the control that was changed last: the cursor goes back into it

export async function compare({ parameters, state }) {
  state("");
  const [choices] = await Promise.all([ask("choices"), ready]);
  const tags = choices.tag.map(({ value }) => value);
  if (![...parameters.keys()].length && tags.length > 1) {
    // The two most used tags, by name: prompt-9 before prompt-10.
    const [a, b] = tags.slice(0, 2).sort(new Intl.Collator("en", { numeric: true }).compare);
    parameters.set("a.tag", a);
    parameters.set("b.tag", b);
  }
  const chosen = SIDES.every((side) => PARTS.some((part) => parameters.get(`${side}.${part}`)));
  const found = chosen ? await ask("pairs", queryOf(parameters)) : null;
  const name = (side) => nameOf(parameters, side);
  const content = h(
    "div",
    { class: "compare" },
    h("h1", { class: "unseen" }, "Compare"),
    h(
      "p",
      { class: "lead" },
      "The same questions under two tags or at two times: what became better, and what worse.",
    ),
    h(
      "div",
      { class: "sides" },
      SIDES.map((side) => controls(side, parameters, choices)),
    ),
    found
      ? result(found, name)
      : h(
          "div",
          { class: "empty" },
          h("h2", null, "Choose two sides"),
          h(
            "p",
            null,
            'A tag or a range of time for each. Give answers tags such as the version of a prompt: SqliteSink(tags=["prompt-8"]).',
          ),
        ),
  );
  return {
    title: "Compare",
    content,
    keys: {},
    leave() {},
    shown() {
      content.querySelector(`[name="${changed}"]`)?.focus();
      changed = "";
    },
  };
}

function queryOf(parameters) {
  const query = new URLSearchParams();
  for (const side of SIDES) {
    for (const part of PARTS) {
      const value = parameters.get(`${side}.${part}`);
      if (value)
        query.set(`${side}.${part}`, part === "tag" ? value : new Date(value).toISOString());
    }
  }
  return query;
}

function controls(side, parameters, choices) {
  const set = (part) => (value) => {
    changed = `${side}.${part}`;
    const next = new URLSearchParams(parameters);
    if (value) next.set(`${side}.${part}`, value);
    else next.delete(`${side}.${part}`);
    location.replace(`#/compare?${next}`);
  };
  const get = (part) => parameters.get(`${side}.${part}`) ?? "";
  const tag = select("Tag", set("tag"));
  tag.offer([{ value: "", shown: "any" }, ...choices.tag], get("tag"));
  const since = moment("From", set("since"));
  const until = moment("To", set("until"));
  Object.entries({ tag, since, until }).forEach(
    ([part, { box }]) => (box.name = `${side}.${part}`),
  );
  since.box.value = get("since");
  until.box.value = get("until");
  return h(
    "fieldset",
    null,
    h("legend", null, side.toUpperCase()),
    h("div", { class: "fields" }, tag.element, since.element, until.element),
  );
}

function nameOf(parameters, side) {
  const [tag, since, until] = PARTS.map((part) => parameters.get(`${side}.${part}`));
  const time = [
    since && `from ${since.replace("T", " ")}`,
    until && `to ${until.replace("T", " ")}`,
  ];
  return [tag, ...time].filter(Boolean).join(" ");
}

function result(found, name) {
  if (!found.questions) {
    return h(
      "div",
      { class: "empty" },
      h("h2", null, "No question in common"),
      h("p", null, "The two sides hold answers to different questions."),
    );
  }
  const turned = found.pairs.filter(({ a, b }) => a.passed !== b.passed);
  const rows = h("tbody");
  const told = h("p", { class: "soft" });
  const fill = (all) => {
    const shown = all ? found.pairs : turned;
    rows.replaceChildren(...shown.slice(0, SHOWN).map(pairRow));
    told.textContent =
      shown.length > SHOWN
        ? `${count(SHOWN)} of ${count(shown.length)} shown`
        : shown.length
          ? ""
          : "No question passes under one side only.";
  };
  const box = h("input", { type: "checkbox", onchange: () => fill(box.checked) });
  fill(false);
  return [
    h(
      "section",
      { class: "outcome" },
      h(
        "h2",
        null,
        `${found.more ? "The last " : ""}${counted(found.questions, "question")} on both sides`,
      ),
      SIDES.map((side) => interval(name(side), found.sides[side])),
      h(
        "p",
        { class: "turns" },
        h(
          "span",
          { class: "v-safe" },
          h("i", { "aria-hidden": "true" }, "▲"),
          `${count(found.better)} better`,
        ),
        h(
          "span",
          { class: "v-block" },
          h("i", { "aria-hidden": "true" }, "▼"),
          `${count(found.worse)} worse`,
        ),
        found.difference ? h("span", { class: "soft" }, changeOf(found.difference)) : null,
      ),
    ),
    h("label", { class: "check" }, box, "Also what stayed the same"),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Questions side by side" },
      h(
        "table",
        { class: "pairs-table" },
        h("caption", { class: "unseen" }, "Questions side by side"),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("th", { scope: "col" }, "Question"),
            SIDES.map((side) => h("th", { scope: "col", dir: "auto" }, name(side))),
          ),
        ),
        rows,
      ),
    ),
    told,
  ];
}

function changeOf({ value, interval: [low, high] }) {
  const told = `${points(value)} points (95% interval ${points(low)} to ${points(high)})`;
  return low > 0 || high < 0 ? told : `${told}: no more than chance does`;
}

const pairRow = ({ question, a, b }) =>
  h("tr", null, h("th", { scope: "row", dir: "auto" }, question), [a, b].map(cell));

const cell = (row) =>
  h(
    "td",
    null,
    h(
      "a",
      { href: `#/answer/${row.number}` },
      levelled(row.level, row.outcome),
      row.total ? h("span", { class: "counts" }, `${row.supported} of ${row.total}`) : null,
    ),
    h("span", { class: "soft when" }, timeOf(row.time)),
    h("span", { class: "a", dir: "auto" }, row.answer),
  );
