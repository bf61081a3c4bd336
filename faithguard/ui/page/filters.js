// The parameters of an address -> controls that change them, and what the server is asked.

import { ask, h } from "./dom.js";

const PRESETS = {
  "": "any time",
  "1h": "the last hour",
  "24h": "the last 24 hours",
  "7d": "the last 7 days",
  "30d": "the last 30 days",
  range: "from … to …",
};
const HOURS = { "1h": 1, "24h": 24, "7d": 168, "30d": 720 };
const CHOSEN = ["domain", "level", "outcome", "label", "cause", "tag"];
const TITLES = {
  domain: "Domain",
  level: "Level",
  outcome: "Outcome",
  label: "Claims",
  cause: "Cause",
  tag: "Tag",
};
const NAMES = [...CHOSEN, "text", "time", "since", "until"];

// Only what filters, so that a page's other parameters do not spread.
export const filtersOf = (parameters) =>
  new URLSearchParams([...parameters].filter(([name, value]) => value && NAMES.includes(name)));

// What the server is asked: times by the machine's own clock become moments.
export function queryOf(parameters) {
  const query = filtersOf(parameters);
  const time = query.get("time");
  const since = HOURS[time] && new Date(Date.now() - HOURS[time] * 3_600_000);
  for (const name of ["since", "until"]) {
    const given = query.get(name);
    query.delete(name);
    if (time === "range" && given) query.set(name, new Date(given).toISOString());
  }
  query.delete("time");
  if (since) query.set("since", since.toISOString());
  return query;
}

let fields = 0;

function field(title, box) {
  box.id = `field-${(fields += 1)}`;
  return h("div", { class: "field" }, h("label", { for: box.id }, title), box);
}

// A <select> under its title; `offer` replaces what can be chosen, and keeps what is.
export function select(title, change) {
  const box = h("select", { onchange: () => change(box.value) });
  const offer = (options, value = box.value) => {
    const known = options.some((option) => option.value === value);
    box.replaceChildren(
      ...options.map((option) => h("option", { value: option.value }, option.shown)),
      ...(known ? [] : [h("option", { value }, value)]),
    );
    box.value = value;
  };
  return { element: field(title, box), offer, box };
}

export function moment(title, change) {
  const box = h("input", { type: "datetime-local", onchange: () => change(box.value) });
  return { element: field(title, box), box };
}

const choicesOf = (found) =>
  [{ value: "", shown: "any" }, ...(found ?? [])].map(({ value, shown }) => ({
    value,
    shown: shown.replace("_", " "),
  }));

const WIDE = matchMedia("(min-width: 60rem)"); // where the style sheet hides the summary
const TIMES = Object.entries(PRESETS).map(([value, shown]) => ({ value, shown }));

// The controls of all filters. They stay the same elements while what they say changes, so that
// neither the cursor nor a word that is being typed gets lost. `change` takes new parameters.
export class FilterBar {
  constructor() {
    this.parameters = new URLSearchParams();
    this.choices = {};
    this.change = () => {};
    const title = "Search questions and answers";
    this.search = h("input", {
      type: "search",
      id: "search",
      placeholder: title,
      "aria-label": title,
      oninput: () => {
        clearTimeout(this.waiting);
        this.waiting = setTimeout(() => this.set("text", this.search.value.trim()), 80);
      },
    });
    this.selects = Object.fromEntries(
      CHOSEN.map((name) => [name, select(TITLES[name], (value) => this.set(name, value))]),
    );
    this.time = select("Time", (value) => this.set("time", value));
    this.moments = {
      since: moment("From", (value) => this.set("since", value)),
      until: moment("To", (value) => this.set("until", value)),
    };
    this.badge = h("b", { class: "badge" });
    this.clear = h(
      "button",
      { type: "button", class: "quiet clear", onclick: () => this.change(new URLSearchParams()) },
      "Clear",
    );
    const controls = [...Object.values(this.selects), this.time, ...Object.values(this.moments)];
    this.more = h(
      "details",
      { class: "more", open: WIDE.matches },
      h("summary", null, "Filters ", this.badge),
      h(
        "div",
        { class: "fields" },
        controls.map((control) => control.element),
        this.clear,
      ),
    );
    WIDE.addEventListener("change", () => (this.more.open ||= WIDE.matches));
    this.element = h("search", { class: "filters" }, this.search, this.more);
  }

  set(name, value) {
    const next = new URLSearchParams(this.parameters);
    if (value) next.set(name, value);
    else next.delete(name);
    if (next.get("time") !== "range") ["since", "until"].forEach((other) => next.delete(other));
    this.change(next);
  }

  update(parameters, change) {
    this.parameters = filtersOf(parameters);
    this.change = change;
    const get = (name) => this.parameters.get(name) ?? "";
    if (document.activeElement !== this.search) this.search.value = get("text");
    for (const [name, { offer }] of Object.entries(this.selects)) {
      offer(choicesOf(this.choices[name]), get(name));
    }
    this.time.offer(TIMES, get("time"));
    for (const [name, { element, box }] of Object.entries(this.moments)) {
      element.hidden = get("time") !== "range";
      box.value = get(name);
    }
    const active = [...CHOSEN, "time"].filter(get).length;
    this.badge.textContent = active || "";
    this.badge.hidden = !active;
    this.clear.hidden = !this.parameters.size;
  }

  offer(choices) {
    this.choices = choices;
    this.update(this.parameters, this.change);
  }
}

// One bar for all pages that filter.
export const bar = new FilterBar();

// Change the address to other filters, as a page that filters does.
export const goTo = (page) => (next) => {
  const query = String(filtersOf(next));
  location.replace(`#/${page}${query ? `?${query}` : ""}`);
};

// Ask anew what the filters can be set to; the pages do not wait for it.
export function refresh() {
  ask("choices").then(
    (found) => bar.offer(found),
    () => {},
  );
}
