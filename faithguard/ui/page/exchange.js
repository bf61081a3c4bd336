// A record -> the answer with its claims, the evidence of the one that is chosen, and how it went.

import {
  announce,
  ask,
  count,
  counted,
  h,
  labelled,
  levelled,
  money,
  percent,
  ready,
  seconds,
  tell,
  timeOf,
  unseen,
  words,
} from "./dom.js";
import { neighbours } from "./list.js";

const MANY = 40; // claims of an answer that are all listed; of more, those that need a look
const LONG = 900; // characters of a text that is shown whole
const FIRST = 300; // characters that are in sight where a text is cut
const HUGE = /[^\s\p{P}]{900}/u; // a word that would fill the screen alone

export async function exchange({ rest, parameters, state }) {
  state("");
  const [record] = await Promise.all([ask(`record/${encodeURIComponent(rest)}`), ready]);
  const query = String(parameters);
  return new Exchange(record, query ? `?${query}` : "").page();
}

class Exchange {
  constructor(record, query) {
    this.record = record;
    this.query = query;
    this.at = record.attempts.length - 1; // the attempt that is shown
    this.answer = h("div", { class: "answer" });
    this.claims = h("div");
    this.card = h("section", { class: "card", "aria-label": "The chosen claim" });
    this.passages = h("section", { class: "passages", "aria-label": "Passages" });
    this.tries = h("div");
    this.side = h(
      "div",
      { class: "side", tabindex: "0", role: "region", "aria-label": "Evidence" },
      this.card,
      this.passages,
    );
    this.show(this.at);
  }

  get attempt() {
    return this.record.attempts[this.at];
  }

  get isLast() {
    return this.at === this.record.attempts.length - 1;
  }

  page() {
    const { record } = this;
    const content = h(
      "article",
      { class: "exchange" },
      this.head(),
      h(
        "div",
        { class: "two" },
        h(
          "div",
          { class: "main" },
          record.question
            ? [
                h("h2", { class: "small" }, "Question"),
                folded(
                  h("div", { class: "question" }, text(record.question)),
                  record.question.length,
                ),
              ]
            : h(
                "p",
                { class: "soft" },
                "No question was recorded. ",
                h("code", null, "check(question=…)"),
                " takes it, ",
                h("code", null, '@guarded(question="…")'),
                " names the parameter that does.",
              ),
          h("div", { class: "titled" }, h("h2", { class: "small" }, "Answer"), this.tries),
          this.answer,
          this.claims,
        ),
        this.side,
      ),
      this.changes(),
      this.repairs(),
      this.course(),
    );
    const first = this.attempt.claims.findIndex(isBad);
    this.choose(first >= 0 ? first : (this.facts()[0] ?? 0), false);
    const { newer, older } = neighbours(record.number);
    const step = (number) => () => number && location.assign(`#/answer/${number}${this.query}`);
    const keys = {
      ArrowRight: ["the next claim", () => this.step(1)],
      ArrowLeft: ["the claim before", () => this.step(-1)],
      j: ["the next answer", step(older)],
      k: ["the answer before", step(newer)],
      Escape: ["back to the list", () => location.assign(`#/${this.query}`)],
    };
    if (words.label) {
      keys.a = ["agree with the verdict", () => this.say(true)];
      keys.d = ["disagree with it", () => this.say(false)];
    }
    const title = record.question || "An answer";
    return {
      title: title.length > 60 ? `${title.slice(0, 60)}…` : title,
      content,
      keys,
      leave() {},
      shown: () => {
        scrollTo(0, 0);
        document.getElementById("main").focus({ preventScroll: true });
      },
    };
  }

  head() {
    const { decision, became, tags, id, time, number } = this.record;
    const { newer, older } = neighbours(number);
    const to = (target, text, title) =>
      target
        ? h(
            "a",
            { class: "plain", href: `#/answer/${target}${this.query}`, "aria-label": title, title },
            text,
          )
        : null;
    return h(
      "header",
      { class: "head" },
      h(
        "nav",
        { class: "between", "aria-label": "Between answers" },
        h("a", { class: "back", href: `#/${this.query}` }, "← Answers"),
        h(
          "span",
          null,
          to(newer, "↑", "The answer before (k)"),
          to(older, "↓", "The next answer (j)"),
        ),
      ),
      h(
        "h1",
        null,
        levelled(decision.level, this.record.attempts.at(-1).outcome),
        h("span", { class: "verdict" }, sentence(became)),
      ),
      h("p", { class: "why", dir: "auto" }, decision.reason),
      h(
        "p",
        { class: "facts" },
        h("span", { dir: "auto" }, decision.domain),
        h("span", null, `safe from ${decision.safe}`),
        time ? timeOf(time) : null,
        tags.map((tag) => h("span", { class: "tag", dir: "auto" }, tag)),
        h("code", { dir: "auto" }, id),
      ),
    );
  }

  // One attempt: its answer, claims and passages.
  show(at) {
    this.at = at;
    const { claims, passages, answer, failures } = this.attempt;
    this.chosen = null;
    this.drawTries();
    this.answer.classList.remove("long");
    this.answer.replaceChildren(...this.drawAnswer(answer, claims));
    foldedIfHuge(this.answer, answer);
    this.claims.replaceChildren(...this.drawClaims(claims), ...failures.map(failed));
    this.passages.replaceChildren(
      h(
        "h2",
        { class: "small" },
        passages.length ? counted(passages.length, "passage") : "No passages",
      ),
      ...passages.map((passage, index) => this.drawPassage(passage, index)),
    );
  }

  drawTries() {
    const { attempts } = this.record;
    if (attempts.length < 2) return;
    this.tries.className = "tries";
    this.tries.replaceChildren(
      ...attempts.map((attempt, index) =>
        h(
          "button",
          {
            type: "button",
            class: "plain",
            "aria-pressed": String(index === this.at),
            onclick: () => {
              this.show(index);
              const first = attempt.claims.findIndex(isBad);
              this.choose(first >= 0 ? first : 0, false);
              announce(`Attempt ${index + 1}`);
            },
          },
          `Attempt ${index + 1}`,
          h("small", null, `${attempt.supported} of ${attempt.total}`),
        ),
      ),
    );
  }

  facts() {
    return this.attempt.claims.flatMap((claim, index) => (claim.kind === "fact" ? [index] : []));
  }

  drawAnswer(answer, claims) {
    const marked = new Set();
    const shown = text();
    for (const { text: piece, claims: covering } of answer) {
      for (const index of [...covering].sort((a, b) => a - b)) {
        if (marked.has(index) || claims[index].kind !== "fact") continue;
        marked.add(index);
        shown.append(this.marker(index, claims[index]));
      }
      const worst = covering[0];
      const attributes = {
        class: worst === undefined ? "piece" : `piece l-${claims[worst].label}`,
        data: { claims: ` ${covering.join(" ")} ` },
      };
      if (worst !== undefined)
        attributes.onclick = () => getSelection().isCollapsed && this.choose(worst);
      shown.append(h("span", attributes, piece));
    }
    if (!answer.length) shown.append(h("span", { class: "soft" }, "(no text was kept)"));
    return [shown];
  }

  // The handle of a claim for keys and screen readers, and its number for the eye.
  marker(index, claim) {
    const { sign, word } = words.labels[claim.label];
    return h(
      "button",
      {
        type: "button",
        class: `marker l-${claim.label}`,
        data: { claim: index },
        "aria-pressed": "false",
        "aria-label": `Claim ${index + 1}, ${word}`,
        title: word,
        onclick: () => this.choose(index),
      },
      h("i", null, sign),
      String(index + 1),
    );
  }

  drawClaims(claims) {
    if (!claims.length) return [h("p", { class: "soft" }, words.outcomes[this.attempt.outcome])];
    const many = claims.length > MANY;
    const list = h(
      "ol",
      { class: `claims${many ? " few" : ""}` },
      claims.map((claim, index) =>
        h(
          "li",
          { class: many && !isBad(claim) ? "rest" : null },
          h(
            "button",
            {
              type: "button",
              "aria-pressed": "false",
              data: { claim: index },
              onclick: () => this.choose(index),
            },
            labelled(claim.label),
            h("span", { class: "claim-text", dir: "auto" }, claim.text || `claim ${index + 1}`),
            h("span", { class: "soft said", data: { said: index } }, this.saidOf(index)),
            claim.kind === "fact" ? null : h("span", { class: "soft" }, claim.kind),
          ),
        ),
      ),
    );
    const all = (event) => {
      list.classList.remove("few");
      event.target.remove();
    };
    return [
      h("h2", { class: "small" }, counted(claims.length, "claim")),
      list,
      many
        ? h(
            "button",
            { type: "button", class: "quiet", onclick: all },
            `Show all ${count(claims.length)}`,
          )
        : "",
    ];
  }

  saidOf(index) {
    const said = this.isLast ? this.record.opinions[index] : undefined;
    if (!said) return "";
    const told = said.others.map(
      ({ author, agree }) => `${author} ${agree ? "agrees" : "disagrees"}`,
    );
    if (said.agree !== undefined) told.unshift(said.agree ? "you agree" : "you disagree");
    return told.join(", ");
  }

  drawPassage(passage, index) {
    const length = passage.text.reduce((sum, { text }) => sum + text.length, 0);
    const shown = text(
      passage.text.map(({ text: piece, claims: lit }) =>
        lit.length
          ? h("span", { class: "lit", data: { claims: ` ${lit.join(" ")} ` } }, piece)
          : piece,
      ),
      passage.text.length ? null : h("span", { class: "soft" }, "(no text was kept)"),
    );
    const box = h(
      "article",
      {
        class: `passage${passage.seen ? "" : " away"}`,
        id: `passage-${index + 1}`,
        tabindex: "-1",
        "aria-label": `Passage ${index + 1}`,
      },
      h(
        "header",
        null,
        h("b", null, String(index + 1)),
        passage.source ? h("span", { class: "source", dir: "auto" }, passage.source) : null,
        h(
          "span",
          { class: "soft" },
          passage.hop ? `${passage.origin}, hop ${passage.hop}` : passage.origin,
        ),
        passage.seen ? null : h("span", { class: "never" }, "never reached the prompt"),
      ),
      shown,
    );
    folded(box, length);
    const metadata = Object.entries(passage.metadata);
    if (metadata.length) {
      box.append(
        h(
          "details",
          null,
          h("summary", null, "Metadata"),
          h(
            "dl",
            null,
            metadata.map(([key, value]) => [
              h("dt", { dir: "auto" }, key),
              folded(h("dd", null, text(value)), value.length),
            ]),
          ),
        ),
      );
    }
    return box;
  }

  step(by) {
    const many = this.attempt.claims.length;
    if (!many) return;
    this.choose((this.chosen + by + many) % many);
  }

  // Light a claim and its evidence, and say what is known of it.
  choose(index, move = true) {
    const claim = this.attempt.claims[index];
    this.chosen = claim ? index : null;
    for (const element of [this.answer, this.claims, this.passages]) {
      for (const piece of element.querySelectorAll("[data-claims]")) {
        piece.classList.toggle(
          "on",
          claim !== undefined && piece.dataset.claims.includes(` ${index} `),
        );
      }
      for (const button of element.querySelectorAll("[data-claim]")) {
        button.setAttribute("aria-pressed", String(Number(button.dataset.claim) === index));
      }
    }
    this.side.className = `side ${claim ? `l-${claim.label}` : ""}`;
    this.card.hidden = !claim;
    if (!claim) return;
    this.card.replaceChildren(...this.drawCard(claim, index));
    const lit = this.passages.querySelectorAll(".lit.on");
    for (const piece of lit) reveal(piece, piece.closest(".passage"));
    if (!move) return;
    const piece = this.answer.querySelector(".piece.on");
    if (piece) reveal(piece, this.answer);
    this.side.classList.add("picked");
    announce(this.card.querySelector(".told").textContent);
    piece?.scrollIntoView({ block: "nearest" });
    if (!lit.length) return;
    // As far down as it takes to see the evidence, so that most of the card stays in sight.
    const { side } = this;
    const bottom =
      lit[0].getBoundingClientRect().bottom - side.getBoundingClientRect().top + side.scrollTop;
    side.scrollTo({ top: bottom - side.clientHeight + 24 });
  }

  drawCard(claim, index) {
    const { attempt } = this;
    const evidence = claim.evidence.map((piece) => {
      const known = piece.passage < attempt.passages.length;
      const source = known ? attempt.passages[piece.passage].source : "";
      const where = known
        ? [`Passage ${piece.passage + 1}`, source && `, ${source}`]
        : `Passage ${piece.passage + 1}, which is not in the context`;
      return h(
        "li",
        null,
        piece.quote ? h("q", { dir: "auto" }, piece.quote) : null,
        h(
          "button",
          {
            type: "button",
            class: "link",
            dir: "auto",
            disabled: !known,
            onclick: () => this.goTo(piece.passage),
          },
          where,
        ),
        piece.stands || !known ? null : h("em", null, "the quote does not stand there"),
      );
    });
    const p = claim.p_supported;
    return [
      h(
        "header",
        null,
        h(
          "span",
          { class: "told" },
          labelled(claim.label),
          unseen(`, claim ${index + 1} of ${attempt.claims.length}: ${claim.text}`),
        ),
        h(
          "span",
          { class: "turn" },
          h(
            "button",
            {
              type: "button",
              class: "quiet",
              "aria-label": "The claim before",
              title: "The claim before (←)",
              onclick: () => this.step(-1),
            },
            "←",
          ),
          h("span", { class: "soft" }, `${index + 1} of ${attempt.claims.length}`),
          h(
            "button",
            {
              type: "button",
              class: "quiet",
              "aria-label": "The next claim",
              title: "The next claim (→)",
              onclick: () => this.step(1),
            },
            "→",
          ),
        ),
      ),
      folded(h("div", { class: "statement" }, text(claim.text)), claim.text.length),
      claim.reason
        ? folded(h("div", { class: "reason" }, text(claim.reason)), claim.reason.length)
        : null,
      h(
        "dl",
        { class: "pairs" },
        claim.kind === "fact" ? null : [h("dt", null, "Kind"), h("dd", null, claim.kind)],
        p === null
          ? null
          : [
              h("dt", null, "Probability"),
              h(
                "dd",
                { class: "chance" },
                meter(p),
                percent(p),
                h("span", { class: "soft" }, "that it is supported"),
              ),
            ],
        claim.cause ? [h("dt", null, "Cause"), h("dd", null, words.causes[claim.cause])] : null,
        claim.verifier
          ? [h("dt", null, "Verifier"), h("dd", null, h("code", { dir: "auto" }, claim.verifier))]
          : null,
        evidence.length
          ? [h("dt", null, "Evidence"), h("dd", null, h("ul", { class: "evidence" }, evidence))]
          : null,
      ),
      this.drawOpinion(index),
    ];
  }

  goTo(passage) {
    const box = document.getElementById(`passage-${passage + 1}`);
    box.scrollIntoView({ block: "center", behavior: "smooth" });
    box.focus({ preventScroll: true });
  }

  drawOpinion(index) {
    const all = this.isLast ? this.record.opinions[index] : undefined;
    const said = all?.agree === undefined ? undefined : all;
    const told = ({ agree, note, author }) =>
      h(
        "span",
        { class: "said" },
        agree ? "Labelled: agreed" : "Labelled: disagreed",
        author ? h("span", { dir: "auto" }, ` (${author})`) : null,
        note ? h("span", { dir: "auto" }, `: ${note}`) : null,
      );
    const others = all ? all.others.map(told) : [];
    if (!words.label) {
      if (!all) return "";
      return h("p", { class: "opinion" }, said ? told(said) : null, others);
    }
    if (!this.isLast)
      return h("p", { class: "opinion soft" }, "Only the last attempt can be labelled.");
    const button = (agree, text, key) =>
      h(
        "button",
        {
          type: "button",
          class: "plain",
          "aria-pressed": String(said?.agree === agree),
          onclick: () => this.say(agree),
        },
        text,
        h("kbd", { "aria-hidden": "true" }, key),
      );
    const note = h("input", {
      type: "text",
      value: said?.note ?? "",
      maxlength: "2000",
      placeholder: "Why? (optional)",
      "aria-label": "Why",
      onchange: () => said && this.say(said.agree, note.value),
    });
    return h(
      "div",
      { class: "opinion" },
      h("span", { class: "soft" }, "Is this verdict right?"),
      button(true, "Agree", "a"),
      button(false, "Disagree", "d"),
      said ? note : null,
      others,
    );
  }

  async say(agree, note) {
    const claim = this.chosen;
    if (claim === null || !this.isLast) return;
    const before = this.record.opinions[claim];
    try {
      const found = await tell("label", {
        number: this.record.number,
        claim,
        agree,
        note: note ?? before?.note ?? "",
      });
      this.record.opinions = found.opinions;
      announce(agree ? "agreed" : "disagreed");
    } catch (error) {
      announce(error.message);
      const told = h("p", { class: "opinion bad", role: "alert" }, error.message);
      this.card.append(told);
      return;
    }
    const said = this.claims.querySelector(`[data-said="${claim}"]`);
    if (said) said.textContent = this.saidOf(claim);
    if (this.chosen === claim)
      this.card.querySelector(".opinion").replaceWith(this.drawOpinion(claim));
  }

  changes() {
    const { repairs } = this.record;
    // What a repair changed is shown with its evidence.
    const changes = this.record.changes.slice(0, repairs.length ? -1 : undefined);
    return changes.map((change, index) =>
      h(
        "section",
        { class: "block" },
        h("h2", null, `What changed from attempt ${index + 1} to ${index + 2}`),
        foldedIfHuge(h("div", { class: "diff" }, text(changed(change))), change),
      ),
    );
  }

  repairs() {
    const { repairs } = this.record;
    if (!repairs.length) return null;
    return h(
      "section",
      { class: "block" },
      h("h2", null, counted(repairs.length, "repair")),
      h(
        "ol",
        { class: "repairs" },
        repairs.map(({ change, evidence }) =>
          h(
            "li",
            null,
            foldedIfHuge(h("div", { class: "diff" }, text(changed(change))), change),
            evidence.map((piece) =>
              h(
                "p",
                { class: "soft" },
                "by ",
                h("q", { dir: "auto" }, piece.quote),
                ` in passage ${piece.passage + 1}`,
              ),
            ),
          ),
        ),
      ),
    );
  }

  // What happened, in order, and what it took.
  course() {
    const { record } = this;
    const { usage, cost, versions, timings } = record;
    const passages = record.attempts.at(-1).passages;
    const steps = [...record.steps.map((step) => this.drawStep(step, passages))];
    record.attempts.forEach((attempt, index) => {
      const which = record.attempts.length > 1 ? `Attempt ${index + 1}: the` : "The";
      steps.push(
        step(
          "model",
          `${which} model writes the answer`,
          record.finish_reason && index === record.attempts.length - 1
            ? `ended by ${record.finish_reason}`
            : "",
        ),
      );
      steps.push(
        step(
          "check",
          attempt.total
            ? `${attempt.supported} of ${counted(attempt.total, "claim")} supported`
            : words.outcomes[attempt.outcome],
          "",
        ),
      );
    });
    if (record.released) {
      steps.push(step("yes", "Released before it was held back", record.released));
    }
    steps.push(
      step(
        record.decision.passed ? "yes" : "no",
        sentence(record.became),
        record.decision.reason,
      ),
    );
    const stages = Object.entries(timings);
    const longest = Math.max(...Object.values(timings), 1e-9);
    const facts = [
      ["Calls of the check", counted(usage.calls, "model call")],
      usage.input_tokens + usage.output_tokens > 0 && [
        "Tokens",
        `${count(usage.input_tokens)} in, ${count(usage.output_tokens)} out`,
      ],
      usage.cached > 0 && ["From the cache", counted(usage.cached, "verdict")],
      cost !== null && ["Cost", money(cost)],
      ["Context", CONTEXTS[record.context_source]],
    ].filter(Boolean);
    return h(
      "div",
      { class: "block course" },
      h("section", null, h("h2", null, "How it went"), h("ol", { class: "steps" }, steps)),
      h(
        "section",
        null,
        h("h2", null, "What it took"),
        stages.length
          ? h(
              "table",
              { class: "bars" },
              h("caption", { class: "unseen" }, "Seconds by stage"),
              h(
                "tbody",
                null,
                stages.map(([stage, value]) =>
                  h(
                    "tr",
                    null,
                    h("th", { scope: "row", dir: "auto" }, stage),
                    h("td", { class: "bar" }, bar(value / longest)),
                    h("td", null, seconds(value)),
                  ),
                ),
              ),
            )
          : null,
        h(
          "dl",
          { class: "pairs" },
          facts.map(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
        ),
        h(
          "dl",
          { class: "pairs versions" },
          Object.entries(versions).map(([stage, name]) => [
            h("dt", { dir: "auto" }, stage),
            h("dd", null, h("code", { dir: "auto" }, name)),
          ]),
        ),
      ),
    );
  }

  drawStep({ kind, calls, passages: indices }, passages) {
    if (kind === "model")
      return step("model", calls === 1 ? "A model call" : `${calls} model calls`, "");
    const away = indices.filter((index) => !passages[index].seen).length;
    const links = indices.map((index) =>
      h(
        "button",
        {
          type: "button",
          class: "link",
          onclick: () => this.goTo(index),
          "aria-label": `Passage ${index + 1}`,
        },
        String(index + 1),
      ),
    );
    const what = `${ORIGINS[kind]} ${counted(indices.length, "passage")}`;
    return step("fetch", what, [
      links,
      away
        ? `, ${away === indices.length && away === 1 ? "which" : away} never reached the prompt`
        : null,
    ]);
  }
}

const ORIGINS = {
  retriever: "The retriever brings",
  tool: "A tool brings",
  prompt: "The prompt holds",
  caller: "The caller gives",
};
const CONTEXTS = {
  retrieval: "what retrievers and tools brought",
  prompt: "the text of the prompt: no retrieval was seen",
  caller: "what the caller gave",
  none: "none",
};

// Somebody's words, in whatever language, as they were written.
const text = (...children) => h("p", { class: "text", lang: "" }, ...children);

const sentence = (words) => words[0].toUpperCase() + words.slice(1);

// A box whose .text is cut where it is long, until all of it is asked for.
function folded(box, length) {
  if (length <= LONG) return box;
  box.classList.add("long");
  box.append(
    h(
      "button",
      { type: "button", class: "quiet unfold", onclick: () => unfold(box) },
      "Show all of it",
    ),
  );
  return box;
}

// Of answers and their changes all is shown, but for what no one reads.
function foldedIfHuge(box, pieces) {
  const whole = pieces.map(({ text }) => text).join("");
  return HUGE.test(whole) ? folded(box, whole.length) : box;
}

// Unfold the box of a piece, unless it is among the first lines, or begins there and has no end.
function reveal(piece, box) {
  const before = document.createRange();
  before.setStart(piece.parentElement, 0);
  before.setEndBefore(piece);
  const length = Math.min(piece.textContent.length, FIRST / 2);
  if (String(before).length + length > FIRST) unfold(box);
}

function unfold(box) {
  box.classList.remove("long");
  box.querySelector(":scope > .unfold")?.remove();
}

const isBad = (claim) =>
  claim.kind === "fact" && claim.label !== "supported" && claim.label !== "not_checked";

const step = (kind, what, more) =>
  h(
    "li",
    { class: `step s-${kind}` },
    h("span", null, what),
    more && more.length ? h("span", { class: "soft", dir: "auto" }, more) : null,
  );

const failed = ({ kind, stage, message }) =>
  h(
    "p",
    { class: "failure" },
    h("b", null, `No verdict (${kind}) `),
    h("code", { dir: "auto" }, stage),
    " ",
    h("span", { dir: "auto" }, message),
  );

const changed = (pieces) =>
  pieces.map(({ kind, text }) =>
    kind === "kept" ? text : h(kind === "in" ? "ins" : "del", null, text),
  );

function meter(value) {
  const box = h("span", { class: "meter", "aria-hidden": "true" }, h("b"));
  box.firstChild.style.width = `${value * 100}%`;
  return box;
}

function bar(share) {
  const box = h("b", { "aria-hidden": "true" });
  box.style.width = `${Math.max(share * 100, 0.5)}%`;
  return box;
}
