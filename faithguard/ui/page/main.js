// The address behind the # -> the page that it names; and keys that hold everywhere.

import { h, Trouble } from "./dom.js";
import { compare } from "./compare.js";
import { exchange } from "./exchange.js";
import { figures } from "./figures.js";
import { list } from "./list.js";

const main = document.getElementById("main");
const state = document.getElementById("state");
const help = document.getElementById("help");
const PAGES = { "": list, answer: exchange, figures, compare };
const READING = "reading …";
const OFF = "faithguard-keys-off";

let shown = { keys: {}, leave() {} };

function place() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, rest = ""] = path.split("/");
  return { name, rest, parameters: new URLSearchParams(query) };
}

async function show() {
  const { name, rest, parameters } = place();
  const make = PAGES[name] ?? list;
  shown.leave();
  shown = { keys: {}, leave() {} };
  for (const link of document.querySelectorAll("nav a")) {
    const current = (link.dataset.page === "list" ? "" : link.dataset.page) === name;
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const mine = {};
  show.last = mine;
  const slow = setTimeout(() => show.last === mine && say(READING), 300);
  try {
    const page = await make({ rest, parameters, state: say });
    if (show.last !== mine) return page.leave();
    shown = page;
    document.title = `${page.title} · faithguard`;
    // The same element stays in place: the cursor may be in it.
    if (main.firstChild !== page.content) main.replaceChildren(page.content);
    page.shown?.();
  } catch (error) {
    if (show.last === mine) trouble(error);
  } finally {
    clearTimeout(slow);
    if (show.last === mine && state.textContent === READING) say("");
  }
}

function say(text, bad = false) {
  if (state.textContent !== text) state.textContent = text;
  state.classList.toggle("bad", bad);
}

function trouble(error) {
  if (error.name === "AbortError") return;
  if (!(error instanceof Trouble)) console.error(error);
  const told = error instanceof Trouble ? error.message : `The page has a fault: ${error.message}`;
  main.replaceChildren(
    h(
      "div",
      { class: "empty", role: "alert" },
      h("h1", null, "This cannot be shown"),
      h("p", null, told),
    ),
  );
}

// Keys

const EVERYWHERE = {
  "/": ["search", () => document.getElementById("search")?.focus()],
  "?": ["show these keys", openHelp],
};

const keysOn = () => localStorage.getItem(OFF) === null;

function openHelp() {
  const all = { ...shown.keys, ...EVERYWHERE };
  const box = h("input", {
    type: "checkbox",
    checked: keysOn(),
    onchange: () => (box.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1")),
  });
  help.replaceChildren(
    h("h2", { id: "help-title" }, "Keys"),
    h(
      "dl",
      { class: "keys" },
      Object.entries(all).map(([key, [what]]) => [
        h("dt", null, h("kbd", null, NAMES[key] ?? key)),
        h("dd", null, what),
      ]),
    ),
    h("label", { class: "check" }, box, "Single keys do something"),
    h("form", { method: "dialog" }, h("button", { class: "plain" }, "Close")),
  );
  help.showModal();
}

const NAMES = { ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help.open) return;
  const typing = event.target.closest("input:not([type=checkbox]), select, textarea");
  if (typing) {
    if (event.key === "Escape") typing.blur();
    return;
  }
  if (!keysOn() && event.key.length === 1) return;
  const [, act] = shown.keys[event.key] ?? EVERYWHERE[event.key] ?? [];
  if (!act) return;
  event.preventDefault();
  act();
});

document.getElementById("keys").addEventListener("click", openHelp);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", show);

show();
