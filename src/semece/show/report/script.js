"use strict";
// The page works without this: it adds search, sorting, filters, and puts a question's classes in place when opened.
for (const explorer of document.querySelectorAll(".explorer")) {
  const list = explorer.querySelector(".questions");
  const rows = [...list.children];
  const [search, sort, filter] = ["search", "sort", "filter"].map((name) => explorer.querySelector(`[name=${name}]`));
  const shown = explorer.querySelector(".shown");
  let texts = null;

  const number = (row, name) => (row.dataset[name] === undefined ? NaN : Number(row.dataset[name]));
  const orders = {
    position: (a, b) => number(a, "position") - number(b, "position"),
    sem1: (a, b) => number(b, "sem1") - number(a, "sem1"),
    unsure: (a, b) => number(a, "sem1") - number(b, "sem1"),
    gap: (a, b) => number(b, "gap") - number(a, "gap"),
    difficulty: (a, b) => number(b, "difficulty") - number(a, "difficulty"),
  };
  const filters = {
    all: () => true,
    wrong: (row) => number(row, "correct") < 0.5,
    confident: (row) => number(row, "correct") < 0.5 && number(row, "sem1") >= 0.5,
    right: (row) => number(row, "correct") >= 0.5,
    alarm: (row) => row.dataset.alarm !== undefined,
    excluded: (row) => row.dataset.excluded !== undefined,
  };

  function plain(row) {
    const text = row.textContent.replace(/<[^>]*>/g, " ");
    const signs = { lt: "<", gt: ">", amp: "&", "#34": '"', "#39": "'" };
    return text.replace(/&(lt|gt|amp|#34|#39);/g, (whole, name) => signs[name]).toLowerCase();
  }

  function select() {
    const wanted = search.value.trim().toLowerCase();
    if (wanted && !texts) texts = new Map(rows.map((row) => [row, plain(row)]));
    let count = 0;
    for (const row of rows) {
      const keep = filters[filter.value](row) && (!wanted || texts.get(row).includes(wanted));
      row.hidden = !keep;
      count += keep;
    }
    shown.textContent = `${count.toLocaleString("en")} of ${rows.length.toLocaleString("en")} questions shown`;
  }

  function order() {
    const compare = orders[sort.value];
    const last = (row) => (sort.value !== "position" && Number.isNaN(compare(row, row)) ? 1 : 0);
    const sorted = [...rows].sort((a, b) => last(a) - last(b) || compare(a, b) || orders.position(a, b));
    list.append(...sorted);
  }

  function fill(event) {
    const waiting = event.target.querySelector("noscript");
    if (!waiting) return;
    const inside = document.createElement("div");
    inside.innerHTML = waiting.textContent;
    waiting.replaceWith(inside);
  }

  search.addEventListener("input", select);
  filter.addEventListener("change", select);
  sort.addEventListener("change", order);
  list.addEventListener("toggle", fill, true);
  explorer.querySelector(".controls").hidden = false;
  search.value = "";
  sort.value = "position";
  filter.value = "all";
  select();
}
