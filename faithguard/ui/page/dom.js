// Values -> elements, and addresses -> values. Every text becomes a text node, never markup.

const SVG = "http://www.w3.org/2000/svg";

// Attributes that begin with "on" are listeners, "data" is a dataset; false and null leave one out.
function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== false));
  return element;
}

export const h = (tag, attributes, ...children) =>
  dress(document.createElement(tag), attributes, children);

export const s = (tag, attributes, ...children) =>
  dress(document.createElementNS(SVG, tag), attributes, children);

// What a screen reader says, and nobody sees.
export const unseen = (text) => h("span", { class: "unseen" }, text);

export class Trouble extends Error {}

export async function ask(path, parameters, options) {
  const query = String(parameters ?? "");
  let response;
  try {
    response = await fetch(`api/${path}${query ? `?${query}` : ""}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble("The server cannot be reached. Is it still running?");
  }
  if (response.status === 403)
    throw new Trouble("This address is no longer valid: the server was started anew.");
  const found = await response.json();
  if (!response.ok) throw new Trouble(found.error);
  return found;
}

// Labels in words and signs, as the server tells them. They are asked for while the page is; what
// draws waits for `ready`.
export const words = { labels: {}, outcomes: {}, causes: {}, label: false };
export const ready = ask("about").then((found) => Object.assign(words, found));
ready.catch(() => {}); // who waits for it says so

export const tell = (path, value) =>
  ask(path, null, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(value),
  });

// A polite word to screen readers about what changed by itself.
export function announce(text) {
  document.getElementById("said").textContent = text;
}

const numbers = new Intl.NumberFormat("en");
export const count = (value) => numbers.format(value);
export const percent = (share) => `${(share * 100).toFixed(1)}%`;
// A difference of shares, with its sign.
export const points = (value) => `${value < 0 ? "−" : "+"}${(Math.abs(value) * 100).toFixed(1)}`;
export const range = ([low, high]) => `${percent(low)} to ${percent(high)}`;
export const counted = (value, one, more = `${one}s`) =>
  `${count(value)} ${value === 1 ? one : more}`;

export function seconds(value) {
  if (value < 0.001) return `${(value * 1e6).toFixed(0)} µs`;
  if (value < 1) return `${(value * 1e3).toFixed(value < 0.01 ? 1 : 0)} ms`;
  return value < 120 ? `${value.toFixed(2)} s` : `${(value / 60).toFixed(1)} min`;
}

export const money = (dollars) =>
  `$${dollars && dollars < 0.01 ? dollars.toPrecision(2) : dollars.toFixed(2)}`;

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const year = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "medium" });

export const dayOf = (when) =>
  (when.getFullYear() === new Date().getFullYear() ? day : year).format(when);
export const clockOf = (when) => clock.format(when);

export function timeOf(text) {
  const when = new Date(text);
  const today = when.toDateString() === new Date().toDateString();
  const shown = today ? clockOf(when) : `${dayOf(when)}, ${clockOf(when)}`;
  return h("time", { datetime: text, title: full.format(when) }, shown);
}

export function labelled(label, ...rest) {
  const { sign, word } = words.labels[label];
  return h(
    "span",
    { class: `label l-${label}` },
    h("i", { "aria-hidden": "true" }, sign),
    word,
    ...rest,
  );
}

const LEVELS = { safe: "●", warning: "▲", block: "■" };

// What a domain makes of an answer: a shape and a word.
export function levelled(level, outcome) {
  const word = level ?? outcome.replace("_", " ");
  return h(
    "span",
    { class: `level v-${level ?? "none"}` },
    h("i", { "aria-hidden": "true" }, LEVELS[level] ?? "○"),
    word,
  );
}
