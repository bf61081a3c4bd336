// Rows of the store, the newest first -> a list that grows at its end by scrolling, and at its
// beginning by itself.

import {
  announce,
  ask,
  count,
  counted,
  h,
  levelled,
  ready,
  timeOf,
  Trouble,
  unseen,
  words,
} from "./dom.js";
import { bar, filtersOf, goTo, queryOf, refresh } from "./filters.js";

const PAUSE = 1_000; // milliseconds between two looks for new rows

// The list that was shown last: going back finds it as it was, and an answer its neighbours.
let kept = null;

const body = h("div");
const whole = h("div", null, h("h1", { class: "unseen" }, "Answers"), body);

export async function list({ parameters, state }) {
  const filters = filtersOf(parameters);
  if (kept?.key !== String(filters)) {
    const [first] = await Promise.all([ask("page", queryOf(filters)), ready]);
    kept = new List(filters, first);
    refresh();
  }
  bar.update(filters, goTo(""));
  return kept.page(state);
}

// The answers before and after one in the list that was shown last.
export function neighbours(number) {
  const rows = kept?.rows ?? [];
  const at = rows.findIndex((row) => row.number === number);
  return at < 0 ? {} : { newer: rows[at - 1]?.number, older: rows[at + 1]?.number };
}

class List {
  constructor(filters, first) {
    this.filters = filters;
    this.key = String(filters);
    this.rows = [];
    this.known = new Set();
    this.count = first.count;
    this.newest = first.newest;
    this.scroll = 0;
    this.items = h("ol", { class: "rows" });
    this.total = h("p", { class: "total" });
    this.end = h("div", { class: "end" });
    this.take(first);
  }

  page(state) {
    this.state = state;
    if (!whole.contains(bar.element)) body.before(bar.element);
    body.replaceChildren(this.total, this.items, this.end);
    return {
      title: "Answers",
      content: whole,
      shown: () => this.begin(),
      leave: () => this.pause(),
      keys: {
        j: ["the next answer", () => this.move(1)],
        k: ["the answer before", () => this.move(-1)],
        ArrowDown: ["the next answer", () => this.move(1)],
        ArrowUp: ["the answer before", () => this.move(-1)],
      },
    };
  }

  begin() {
    scrollTo(0, this.scroll);
    if (this.last)
      this.items.querySelector(`[data-number="${this.last}"] a`)?.focus({ preventScroll: true });
    this.watcher = new IntersectionObserver(
      (seen) => seen.some((one) => one.isIntersecting) && this.grow(),
      {
        rootMargin: "600px",
      },
    );
    this.watcher.observe(this.end);
    this.turn = {};
    this.look(this.turn);
  }

  pause() {
    this.turn = null;
    clearTimeout(this.timer);
    this.scroll = scrollY;
    this.watcher?.disconnect();
  }

  move(step) {
    const links = [...this.items.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    const next = links[at < 0 ? 0 : Math.min(Math.max(at + step, 0), links.length - 1)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }

  // A page at the end.
  take({ rows, more }) {
    for (const row of rows) if (!this.known.has(row.number)) this.put(row, this.rows.length);
    this.more = more;
    this.drawCount();
  }

  put(row, at, fresh = false) {
    const item = this.draw(row);
    if (fresh) item.classList.add("fresh");
    this.items.insertBefore(item, this.items.children[at] ?? null);
    this.rows.splice(at, 0, row);
    this.known.add(row.number);
  }

  async grow() {
    if (!this.more || this.growing) return;
    this.growing = true;
    try {
      const query = queryOf(this.filters);
      query.set("before", this.rows.at(-1).cursor);
      this.take(await ask("page", query));
    } catch (error) {
      this.say(error);
    }
    this.growing = false;
    if (this.turn && this.end.getBoundingClientRect().top < innerHeight + 600) this.grow();
  }

  // What arrived since, wherever it belongs by its time; again and again, until the list is left.
  async look(turn) {
    if (!document.hidden) {
      try {
        const query = queryOf(this.filters);
        if (this.newest) query.set("after", this.newest);
        const found = await ask("new", query);
        this.newest = found.newest;
        this.add(found.rows);
        if (this.turn === turn) this.state("live");
      } catch (error) {
        this.say(error);
      }
    }
    if (this.turn === turn) this.timer = setTimeout(() => this.look(turn), PAUSE);
  }

  add(rows) {
    const fresh = rows.filter((row) => !this.known.has(row.number));
    for (const row of fresh) {
      const at = this.rows.findIndex((old) => isNewer(row, old));
      // What is older than the last row that is shown comes with its page.
      if (at >= 0 || !this.more) this.put(row, at < 0 ? this.rows.length : at, true);
    }
    this.count += fresh.length;
    if (fresh.length) {
      this.drawCount();
      announce(counted(fresh.length, "new answer"));
    }
  }

  say(error) {
    if (!(error instanceof Trouble)) throw error;
    if (this.turn) this.state(error.message, true);
  }

  drawCount() {
    const filtered = this.key !== "";
    this.total.textContent = this.count
      ? `${counted(this.count, "answer")}${filtered ? " of this kind" : ""}`
      : "";
    const nothing = this.count === 0;
    this.end.replaceChildren(...(nothing ? [filtered ? NONE() : EMPTY()] : []));
    this.items.hidden = nothing;
  }

  draw(row) {
    const question = row.question || row.answer;
    const query = this.key ? `?${this.key}` : "";
    return h(
      "li",
      { data: { number: row.number } },
      h(
        "a",
        { href: `#/answer/${row.number}${query}`, onclick: () => (this.last = row.number) },
        h("span", { class: "row-level" }, levelled(row.level, row.outcome), counts(row)),
        h(
          "span",
          { class: "row-text" },
          h("span", { class: "q", dir: "auto" }, question || "(nothing)"),
          row.question
            ? h("span", { class: "a", dir: "auto" }, row.answer || "(empty answer)")
            : null,
        ),
        h("span", { class: "row-marks" }, marks(row.labels)),
        h("span", { class: "row-meta" }, meta(row)),
        h("span", { class: "row-time" }, timeOf(row.time)),
      ),
    );
  }
}

const isNewer = (row, old) => {
  const [mine, theirs] = [Date.parse(row.time), Date.parse(old.time)];
  return mine > theirs || (mine === theirs && row.number > old.number);
};

const counts = (row) =>
  row.total
    ? h("span", { class: "counts" }, `${count(row.supported)} of ${count(row.total)}`)
    : null;

function marks(labels) {
  return Object.entries(labels)
    .reverse()
    .map(([label, number]) =>
      h(
        "span",
        { class: `mark l-${label}`, title: `${number} ${words.labels[label].word}` },
        h("i", { "aria-hidden": "true" }, words.labels[label].sign),
        count(number),
        unseen(` ${words.labels[label].word} `),
      ),
    );
}

function meta(row) {
  const parts = [row.domain, ...row.tags];
  if (row.became !== "passed") parts.push(row.became);
  if (row.attempts > 1) parts.push(`${row.attempts} attempts`);
  if (row.repairs) parts.push(counted(row.repairs, "repair"));
  if (row.opinions) parts.push(`${row.opinions} labelled`);
  return parts.map((part) => h("span", { dir: "auto" }, part));
}

const NONE = () =>
  h(
    "div",
    { class: "empty" },
    h("h2", null, "No answer is like that"),
    h("p", null, "Take a filter away, or wait: new answers appear by themselves."),
  );

const EMPTY = () =>
  h(
    "div",
    { class: "empty" },
    h("h2", null, "Nothing recorded yet"),
    h(
      "p",
      null,
      "Answers appear here by themselves as soon as a watched or guarded app writes them:",
    ),
    h("pre", null, h("code", null, `FAITHGUARD_STORE=${words.store} python your_app.py`)),
    h("p", null, "or, in its code, ", h("code", null, "sinks=[SqliteSink(...)]")),
  );
