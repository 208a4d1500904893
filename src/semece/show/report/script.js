"use strict";
// The page works without this but for its list of questions, which is packed: columns of all questions of a run, and
// blocks of what opened rows show. What is seen follows from the address: #run=2&filter=wrong&page=3&q=ID. So links,
// the back button and bookmarks work.
(() => {
  const explorer = document.getElementById("questions");
  const size = Number(explorer.dataset.page);
  const list = explorer.querySelector("ol.questions");
  const pages = explorer.querySelector(".pages");
  const shown = explorer.querySelector(".shown");
  const controls = Object.fromEntries([...explorer.querySelectorAll("[name]")].map((each) => [each.name, each]));
  const usual = { run: "1", search: "", sort: "position", filter: "all", by: "", slice: "", page: "1", q: "" };
  const unpacked = new Map();

  async function decode(id) {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  function unpack(id) {
    if (!unpacked.has(id)) unpacked.set(id, decode(id));
    return unpacked.get(id);
  }

  const inside = async (run, place) => (await unpack(`block-${run}-${Math.floor(place / size)}`))[place % size];

  function texts(run) {
    const id = `texts-${run}`;
    if (!unpacked.has(id)) unpacked.set(id, collect(run));
    return unpacked.get(id);
  }

  async function collect(run) {
    const index = await unpack(`index-${run}`);
    const words = index.id.map((id, i) => [id, index.text[i], index.references[i]]);
    for (let start = 0; start < words.length; start += size) {
      for (const [i, { classes, metadata }] of (await unpack(`block-${run}-${start / size}`)).entries()) {
        for (const [form, , , , answers] of classes) {
          words[start + i].push(form, ...answers.flatMap(([text, , , replies]) => [text, ...replies]));
        }
        words[start + i].push(...metadata.map(([, value]) => value));
      }
    }
    return words.map((each) => each.join("\n").toLowerCase());
  }

  // From the address to what is seen.

  const wanted = () => ({ ...usual, ...Object.fromEntries(new URLSearchParams(location.hash.slice(1))) });
  let now = { ...usual };
  let drawn = "";
  let turn = 0;

  function address(changes) {
    const next = { ...now, ...changes };
    const told = Object.keys(usual).filter((name) => next[name] !== usual[name]);
    return "#" + (told.map((name) => `${name}=${encodeURIComponent(next[name])}`).join("&") || "page=1");
  }

  const go = (changes) => { location.hash = address(changes); };

  const orders = {
    sem1: (all, i) => (all.sem1[i] === null ? null : -all.sem1[i]),
    unsure: (all, i) => all.sem1[i],
    gap: (all, i) => difference(all.correct[i], all.sem1[i]),
    difficulty: (all, i) => difference(all.sem2[i], all.sem1[i]),
  };
  const filters = {
    all: () => true,
    wrong: (all, i) => all.correct[i] !== null && all.correct[i] < 0.5,
    confident: (all, i) => all.correct[i] !== null && all.correct[i] < 0.5 && all.sem1[i] >= 0.5,
    right: (all, i) => all.correct[i] !== null && all.correct[i] >= 0.5,
    alarm: (all, i) => all.alarms[i] > 0,
    excluded: (all, i) => all.excluded[i] === 1,
  };

  function difference(a, b) {
    return a === null || b === null ? null : a - b;
  }

  async function places(index) {
    const keep = filters[now.filter] || filters.all;
    const slices = index.slices[now.by];
    const slice = slices && now.slice ? slices.values.indexOf(now.slice) : null;
    const words = now.search.trim().toLowerCase();
    const found = words ? await texts(now.run) : null;
    const kept = [...index.id.keys()].filter(
      (i) => keep(index, i) && (slice === null || slices.of[i] === slice) && (!found || found[i].includes(words)),
    );
    const key = orders[now.sort];
    if (!key) return kept;
    const keyed = kept.map((i) => [key(index, i), i]);
    keyed.sort(([a, i], [b, j]) => (a === null) - (b === null) || a - b || i - j);
    return keyed.map(([, i]) => i);
  }

  async function show() {
    const section = location.hash.includes("=") ? "" : location.hash.slice(1);
    if (section && drawn) return;
    const mine = ++turn;
    const before = now;
    now = section ? { ...usual } : wanted();
    if (!document.getElementById(`index-${now.run}`)) now.run = usual.run;
    const index = await unpack(`index-${now.run}`);
    let chosen = await places(index);
    const at = now.q ? index.id.indexOf(now.q) : -1;
    if (at >= 0 && !chosen.includes(at)) {
      now = { ...usual, run: now.run, q: now.q };
      chosen = await places(index);
    }
    if (mine !== turn) return; // another change came in the meantime
    if (at >= 0) now.page = String(1 + Math.floor(chosen.indexOf(at) / size));
    const last = Math.max(1, Math.ceil(chosen.length / size));
    now.page = String(Math.min(last, Math.max(1, Math.floor(Number(now.page)) || 1)));
    fill(index);
    const page = JSON.stringify({ ...now, q: "" });
    const turned = drawn && page !== drawn;
    if (page !== drawn) draw(index, chosen, last);
    drawn = page;
    if (now.q && at < 0) shown.textContent = `No question has the id ${now.q}.`;
    open(at);
    if (at >= 0 && before.q !== now.q) reach(at);
    else if (turned && before.page !== now.page) shown.focus();
    else if (section) document.getElementById(section)?.scrollIntoView();
  }

  function reach(at) {
    const summary = list.querySelector(`[data-position="${at}"] summary`);
    const box = summary.getBoundingClientRect();
    if (box.top < 0 || box.bottom > innerHeight) summary.scrollIntoView({ block: "start" });
    summary.focus({ preventScroll: true });
  }

  function fill(index) {
    const columns = Object.keys(index.slices);
    options(controls.by, ["", ...columns], now.by);
    options(controls.slice, ["", ...(index.slices[now.by]?.values ?? [])], now.slice);
    controls.by.parentElement.hidden = columns.length === 0;
    controls.slice.parentElement.hidden = !index.slices[now.by];
    for (const name of ["run", "sort", "filter"]) controls[name].value = now[name];
    if (!typing) controls.search.value = now.search;
  }

  function options(select, values, value) {
    if (select.dataset.values !== JSON.stringify(values)) {
      select.replaceChildren(...values.map((each) => element("option", { value: each }, each || "all")));
      select.dataset.values = JSON.stringify(values);
    }
    select.value = value;
  }

  // From data to elements: texts are always texts, never markup.

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  const outside = (text, tag = "bdi") => element(tag, {}, text);
  const count = (number) => number.toLocaleString("en");
  const some = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

  function draw(index, chosen, last) {
    const first = (Number(now.page) - 1) * size;
    const rows = chosen.slice(first, first + size);
    const part = rows.length < chosen.length ? `${count(first + 1)} to ${count(first + rows.length)} of ` : "";
    const all = chosen.length < index.id.length ? ` of ${count(index.id.length)}` : "";
    shown.textContent = `${part}${some(chosen.length, "question")}${all}`;
    list.replaceChildren(...rows.map((i) => row(index, i)));
    turner(last);
  }

  function row(index, i) {
    const outcome = index.outcome[i];
    const known = outcome === "right" || outcome === "wrong" ? outcome : "open";
    const alarms = index.alarms[i] ? ` · ${some(index.alarms[i], "alarm")}` : "";
    const names = { sem1: "Sem1", sem2: "Sem2", verbalized: "stated", margin: "margin" };
    const shares = Object.entries(names).map(([name, of]) => element("span", { "data-of": of }, index.texts[name][i]));
    const told = element("span", {}, outside(index.text[i]));
    if (index.answer[i]) told.append(element("br", {}), element("span", { class: "answer" }, outside(index.answer[i]), alarms));
    const summary = element(
      "summary",
      {},
      element("span", { class: `outcome ${known}` }, outcome),
      told,
      element("span", { class: "numbers" }, ...shares),
    );
    return element("li", { "data-position": i }, element("details", {}, summary));
  }

  function open(at) {
    for (const item of list.children) {
      const details = item.firstChild;
      const mine = Number(item.dataset.position) === at;
      if (mine && details.children.length === 1) put(details, at);
      details.open = mine;
    }
  }

  async function put(details, at) {
    const place = element("div", { class: "inside" });
    details.append(place);
    const index = await unpack(`index-${now.run}`);
    place.append(...panel(index, at, await inside(now.run, at)));
  }

  function panel(index, at, { classes, said, metadata, alarms }) {
    const parts = [];
    if (index.references[at]) parts.push(element("p", {}, "Reference: ", outside(index.references[at])));
    parts.push(...alarms.map((text) => element("p", { class: "alarm" }, outside(text))));
    if (classes.length) parts.push(table(classes));
    if (metadata.length) {
      const pairs = metadata.flatMap(([name, value]) => [outside(name, "dt"), element("dd", {}, outside(value))]);
      parts.push(element("dl", { class: "facts" }, ...pairs));
    }
    const link = element("a", { href: address({ ...usual, run: now.run, q: index.id[at] }) }, "link to this question");
    parts.push(element("p", { class: "muted" }, "id ", outside(index.id[at]), ...said.map((text) => ` · ${text}`), " · ", link));
    return parts;
  }

  function table(classes) {
    const head = [["number", "Answers"], [null, "Class, and its answers"], [null, "Grade"]];
    const body = classes.map(([form, number, share, grade, answers, more]) => {
      const items = answers.map((each) => answer(each, form, answers.length === 1));
      if (more) items.push(element("li", { class: "muted" }, `${count(more)} more not shown; the export has them`));
      return element(
        "tr",
        {},
        element("td", { class: "number" }, element("i", { class: "bar", style: `width:${(3 * share).toFixed(2)}em` }), count(number)),
        element("td", {}, form ? outside(form) : element("span", { class: "muted" }, "(no answer)"), element("ul", { class: "answers" }, ...items.filter(Boolean))),
        element("td", { class: grade === "correct" ? "right" : grade === "wrong" ? "wrong" : "open" }, grade),
      );
    });
    const titles = head.map(([name, text]) => element("th", { scope: "col", class: name }, text));
    return element("table", {}, element("thead", {}, element("tr", {}, ...titles)), element("tbody", {}, ...body));
  }

  function answer([text, number, stated, replies, more], form, alone) {
    const parts = [];
    if (!alone || text !== form) parts.push(`${count(number)}\u00a0× `, outside(text || "(empty)"));
    if (stated) parts.push(element("span", { class: "muted" }, `${parts.length ? " · " : ""}stated ${stated}`));
    if (replies.length) {
      const items = replies.map((reply) => element("li", {}, outside(reply)));
      if (more) items.push(element("li", { class: "muted" }, `${count(more)} more`));
      const whole = replies.length + more === 1 ? "1 reply" : `${count(replies.length + more)} replies`;
      parts.push(element("details", { class: "replies" }, element("summary", {}, whole), element("ul", {}, ...items)));
    }
    return parts.length ? element("li", {}, ...parts) : null;
  }

  function turner(last) {
    const page = Number(now.page);
    const near = new Set([1, last, page - 2, page - 1, page, page + 1, page + 2].filter((each) => each >= 1 && each <= last));
    const to = (number, text, current) =>
      element("a", { href: address({ page: String(number), q: "" }), "aria-current": current ? "page" : null }, text);
    const parts = [];
    let before = 0;
    for (const number of [...near].sort((a, b) => a - b)) {
      if (number > before + 1) parts.push(element("span", { class: "muted" }, "…"));
      parts.push(to(number, String(number), number === page));
      before = number;
    }
    if (page > 1) parts.unshift(to(page - 1, "Previous", false));
    if (page < last) parts.push(to(page + 1, "Next", false));
    pages.replaceChildren(...(last > 1 ? parts : []));
  }

  // What a person does changes the address.

  let typing = 0;
  controls.search.addEventListener("focus", () => texts(now.run));
  controls.search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      typing = 0;
      location.replace(address({ search: controls.search.value, page: "1", q: "" }));
    }, 60);
  });
  for (const name of ["run", "sort", "filter", "by", "slice"]) {
    controls[name].addEventListener("change", () => {
      const cleared = { run: { by: "", slice: "" }, by: { slice: "" } }[name];
      go({ [name]: controls[name].value, page: "1", q: "", ...cleared });
    });
  }
  list.addEventListener("click", (event) => {
    const item = event.target.closest("ol.questions > li");
    const summary = event.target.closest("summary");
    if (!summary || summary !== item.firstChild.firstChild) return;
    event.preventDefault();
    unpack(`index-${now.run}`).then((index) => {
      const id = index.id[Number(item.dataset.position)];
      go({ q: item.firstChild.open ? "" : id });
    });
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const summary = step && event.target.closest("ol.questions > li > details > summary");
    if (!summary) return;
    const next = summary.parentElement.parentElement[step];
    event.preventDefault();
    next?.querySelector("summary").focus();
  });
  addEventListener("hashchange", show);
  explorer.querySelector(".controls").hidden = false;
  show();
})();
