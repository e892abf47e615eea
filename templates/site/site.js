// One script for every page. The pages say everything without it; it adds filters, the panel of a
// cell and the keyboard. Text from the data is only ever set as text.
(() => {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const panel = $("panel");

  if (data.cells) campaign();
  if (data.rows) campaigns();
  if (data.timelines) suite();
  document.documentElement.dataset.ready = "yes";

  function make(tag, options = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(options)) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  function table(heads, rows, name = "grid") {
    return make("table", { class: name },
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, ...rows.map((row) =>
        make("tr", {}, ...row.map((content) => make("td", {}, content))))));
  }

  function list(pairs) {
    return make("dl", {}, ...pairs.flatMap(([name, value]) =>
      [make("dt", {}, name), make("dd", {}, value)]));
  }

  function bdi(text) {
    return make("bdi", {}, text);
  }

  function glyph(kind) {
    return make("i", { class: `g ${kind}`, "aria-hidden": "true" });
  }

  function section(title, ...content) {
    return make("section", {}, make("h3", {}, title), ...content);
  }

  function plainClick(event) {
    return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  }

  // The address is the state of a page: "#<cell>", or "#state=failed&cell=<cell>". `apply` is
  // called with it whenever it changes; `known` tells which cells there are.
  function routed(names, known, apply) {
    const controls = new Map(
      names.map((name) => [name, $(name === "q" ? "q" : `f-${name}`)]).filter(([, c]) => c));
    const isBox = (control) => control.type === "checkbox";

    function read() {
      const hash = location.hash.slice(1);
      const pairs = hash.includes("=") ? [...new URLSearchParams(hash)] : [["cell", decoded(hash)]];
      return Object.fromEntries(pairs.filter(([name, value]) =>
        value && (name === "cell" ? known(value) : controls.has(name))));
    }
    function decoded(text) {
      try {
        return decodeURIComponent(text);
      } catch {
        return text;
      }
    }
    function write(state) {
      const entries = Object.entries(state).filter(([, value]) => value);
      const only = entries.length === 1 && state.cell;
      return only ? `#${state.cell}` : `#${new URLSearchParams(entries)}`;
    }
    function show() {
      const state = read();
      for (const [name, control] of controls) {
        if (isBox(control)) control.checked = Boolean(state[name]);
        else if (control.value !== (state[name] ?? "")) control.value = state[name] ?? "";
      }
      apply(state);
      if (!state.cell && panel?.open) panel.close();
    }
    // A step that "back" should undo.
    function go(changes) {
      const address = write({ ...read(), ...changes });
      if (address !== location.hash) location.hash = address;
    }
    function replace(changes) {
      history.replaceState(null, "", write({ ...read(), ...changes }));
      show();
    }

    for (const [name, control] of controls) {
      control.addEventListener("input", () => {
        replace({ [name]: isBox(control) ? (control.checked ? "yes" : "") : control.value });
      });
    }
    $("filters").addEventListener("submit", (event) => event.preventDefault());
    $("reset").addEventListener("click", () => {
      replace(Object.fromEntries(names.map((name) => [name, ""])));
    });
    panel?.addEventListener("close", () => {
      if (read().cell) go({ cell: "" });
    });
    panel?.addEventListener("click", (event) => {
      if (event.target === panel) panel.close();
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || panel?.open) return;
      if (event.key === "/" && !event.target.closest("input, select, textarea")) {
        event.preventDefault();
        $("q").focus();
        $("q").select();
      } else if (event.key === "Escape" && event.target === $("q")) {
        replace({ q: "" });
        event.target.blur();
      }
    });
    addEventListener("hashchange", show);
    $("filters").hidden = false;
    return { read, go, replace, show };
  }

  function wordsOf(state) {
    return (state.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  }

  function fillPanel(kind, nav, title, lines, ...sections) {
    const close = make("button", { type: "button" }, "Close");
    close.addEventListener("click", () => panel.close());
    panel.replaceChildren(
      make("div", { class: `panel-head ${kind}` },
        make("nav", { "aria-label": "Cells" }, ...nav, close),
        make("h2", { id: "panel-title" }, glyph(kind), ...title), ...lines),
      make("div", { class: `panel-body ${kind}` }, ...sections));
    panel.scrollTop = 0;
    if (!panel.open) panel.showModal();
  }

  // The page of one campaign.
  function campaign() {
    const tiles = [...document.querySelectorAll("a.t")];
    const names = ["suite", "profile", "environment", "state", "verdict"];
    const keys = { suite: "s", profile: "p", environment: "e", state: "k", verdict: "v" };
    let applied = "{}";
    let texts = null;
    let fitting = tiles;

    function label(cell, part) {
      return part === "s" ? data.labels[cell.s][""] : data.labels[cell.s][`${part}:${cell[part]}`];
    }

    function textOf(id) {
      const cell = data.cells[id];
      return [id, label(cell, "s"), label(cell, "p"), label(cell, "e"), label(cell, "c"), cell.w,
        cell.b, cell.o, cell.m, cell.v, cell.f?.join(" ")].join(" ").toLowerCase();
    }

    const route = routed(["q", ...names], (id) => Object.hasOwn(data.cells, id), (state) => {
      const { cell, ...filters } = state;
      const now = JSON.stringify(filters);
      if (now !== applied) filter(filters);
      applied = now;
      if (cell) open(cell);
    });

    function filter(filters) {
      const words = wordsOf(filters);
      if (words.length && !texts) texts = new Map(tiles.map((tile) => [tile.id, textOf(tile.id)]));
      const wanted = (id) => names.every((name) =>
        !filters[name] || data.cells[id][keys[name]] === filters[name])
        && words.every((word) => texts.get(id).includes(word));
      const active = Object.keys(filters).length > 0;
      fitting = tiles.filter((tile) => {
        const fits = wanted(tile.id);
        tile.classList.toggle("off", !fits);
        return fits;
      });
      for (const suite of document.querySelectorAll("section.suite")) narrow(suite, active);
      for (const problem of document.querySelectorAll(".problem")) {
        const links = [...problem.querySelectorAll("a[data-cell]")];
        for (const link of links) link.parentElement.hidden = !wanted(link.dataset.cell);
        problem.hidden = !links.some((link) => !link.parentElement.hidden);
      }
      for (const picture of document.querySelectorAll("[data-of]")) {
        picture.hidden = !wanted(picture.dataset.of);
      }
      for (const [heading, parts] of [["look", ".problem"], ["gallery", "[data-of]"]]) {
        const within = $(heading)?.parentElement;
        if (within) within.hidden = !within.querySelector(`${parts}:not([hidden])`);
      }
      tell();
    }

    function tell() {
      $("nothing").hidden = fitting.length > 0;
      $("shown").textContent = `${fitting.length} of ${tiles.length} cells shown`;
    }

    // Leave only the rows and columns that have something to show.
    function narrow(suite, active) {
      const matrix = suite.querySelector("table.matrix");
      const rows = [...(matrix?.tBodies[0].rows ?? [])];
      const used = new Set();
      for (const row of rows) {
        let any = false;
        for (const tile of row.querySelectorAll("a.t:not(.off)")) {
          used.add(tile.parentElement.cellIndex);
          any = true;
        }
        row.hidden = active && !any;
      }
      suite.hidden = active && used.size === 0;
      if (suite.hidden || !matrix) return;
      const folded = suite.querySelector("details");
      if (folded) folded.open = active;
      for (const row of rows) {
        for (const cell of [...row.cells].slice(1)) {
          cell.hidden = active && !used.has(cell.cellIndex);
        }
      }
      const heads = [...matrix.querySelectorAll(".cases th")];
      heads.forEach((head, index) => { head.hidden = active && !used.has(index + 1); });
      const groups = [...matrix.querySelectorAll(".envs th[colspan]")];
      const width = heads.length / groups.length;
      groups.forEach((group, index) => {
        const left = heads.slice(index * width, (index + 1) * width).filter((h) => !h.hidden);
        group.hidden = left.length === 0;
        group.colSpan = left.length || 1;
      });
    }

    function stepper(at, by, text, title) {
      const target = fitting[at + by];
      const button = make("button", { type: "button", title, "aria-label": title }, text);
      button.disabled = at < 0 || !target;
      // Walking through cells is one visit: "back" leads to where the walk began.
      button.addEventListener("click", () => {
        route.replace({ cell: target.id });
        panel.querySelector(`button[aria-label="${title}"]`).focus();
      });
      return button;
    }

    function open(id) {
      const cell = data.cells[id];
      const at = fitting.findIndex((tile) => tile.id === id);
      const why = [cell.b, cell.o].filter(Boolean).join(", ");
      const matchers = cell.x && section("Matchers",
        table(["Result", "Matcher", "Expected", "Observed"],
          cell.x.map(([held, kind, expected, detail]) => [
            make("span", { class: held ? "" : "alarm" }, held ? "held" : "failed"),
            make("code", {}, kind), bdi(expected), bdi(detail)]), "grid matchers"));
      const facts = data.facts.map((name, index) => [name, cell.f?.[index]])
        .filter(([, value]) => value).map(([name, value]) => [name, bdi(value)]);
      fillPanel(cell.k,
        [stepper(at, -1, "←", "Previous cell (k)"), stepper(at, 1, "→", "Next cell (j)"),
          make("span", { class: "quiet" }, at < 0 ? "" : `${at + 1} of ${fitting.length}`)],
        [make("b", {}, cell.w), bdi(label(cell, "c"))],
        [make("p", {}, bdi(label(cell, "p")), " on ", bdi(label(cell, "e")), ", ",
          bdi(label(cell, "s"))),
        make("p", { class: "quiet" }, make("code", {}, id), " ",
          make("a", { href: `#${id}` }, "permalink"))],
        cell.k === "unselected" ? make("p", {},
          "This campaign did not select the cell, so nothing is known of it here.") : null,
        cell.m && section(why || "What happened", make("pre", { tabindex: "0" }, bdi(cell.m))),
        cell.v && section("Verdict of history", make("p", {}, cell.v)),
        cell.h && section("Last nights",
          make("p", { class: "nights" }, $(id).querySelector("svg")?.cloneNode(true), cell.h)),
        matchers,
        facts.length ? section("Facts", list(facts)) : null,
        cell.t && section("Turns", table(["Turn", "Queued", "Ran", "Answered after", "Lease"],
          cell.t.map((turn) => turn.map(String)))),
        cell.g && section("Screenshots", make("ul", { class: "gallery" },
          ...cell.g.map(([title, href]) => make("li", {},
            make("a", { href }, make("img", { src: href, alt: title, loading: "lazy" })),
            make("p", {}, bdi(title)))))));
    }

    // The arrows walk the visible tiles of a table; Tab goes from table to table.
    function move(tile, key) {
      const next = {
        ArrowRight: (cell) => cell.nextElementSibling,
        ArrowLeft: (cell) => cell.previousElementSibling,
        ArrowDown: (cell) => cell.parentElement.nextElementSibling?.cells[cell.cellIndex],
        ArrowUp: (cell) => cell.parentElement.previousElementSibling?.cells[cell.cellIndex],
      }[key];
      if (!next) return false;
      for (let cell = next(tile.parentElement); cell; cell = next(cell)) {
        const found = cell.querySelector("a.t:not(.off)");
        if (found?.offsetParent) {
          rove(found);
          found.focus();
          break;
        }
      }
      return true;
    }
    function rove(tile) {
      for (const other of tile.closest("table").querySelectorAll('a.t[tabindex="0"]')) {
        other.tabIndex = -1;
      }
      tile.tabIndex = 0;
    }

    for (const [name, part] of [["suite", "s"], ["profile", "p"], ["environment", "e"]]) {
      const seen = new Map(tiles.map((tile) =>
        [data.cells[tile.id][part], label(data.cells[tile.id], part)]));
      for (const [value, text] of seen) $(`f-${name}`).append(make("option", { value }, text));
    }
    for (const tile of tiles) tile.tabIndex = -1;
    for (const matrix of document.querySelectorAll("table.matrix")) {
      const first = matrix.querySelector("a.t");
      if (first) first.tabIndex = 0;
    }
    document.querySelector(".keys").hidden = false;
    document.addEventListener("click", (event) => {
      if (!plainClick(event)) return;
      const opener = event.target.closest("a.t, a[data-cell]");
      const chip = event.target.closest("a[data-filter]");
      if (!opener && !chip) return;
      event.preventDefault();
      if (chip) {
        const kind = chip.dataset.filter;
        route.go({ state: route.read().state === kind ? "" : kind });
        return;
      }
      if (opener.id) rove(opener);
      route.go({ cell: opener.dataset.cell ?? opener.id });
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (panel.open && (event.key === "j" || event.key === "k")) {
        panel.querySelectorAll("nav button")[event.key === "j" ? 1 : 0].click();
      } else if (!panel.open && event.target.matches?.("a.t") && move(event.target, event.key)) {
        event.preventDefault();
      }
    });
    tell();
    route.show();
  }

  // The page of all campaigns.
  function campaigns() {
    if (!$("rows")) return;
    const rows = [...$("rows").tBodies[0].rows];
    routed(["q", "state", "from", "to", "superseded"], () => false, (state) => {
      const words = wordsOf(state);
      let shown = 0;
      data.rows.forEach(([text, kind, day, setAside], index) => {
        const fits = (!state.state || kind === state.state)
          && (!state.from || day >= state.from)
          && (!state.to || day <= state.to)
          && (!setAside || Boolean(state.superseded))
          && words.every((word) => text.includes(word));
        rows[index].hidden = !fits;
        shown += fits;
      });
      $("shown").textContent = `${shown} of ${rows.length} campaigns shown`;
      $("nothing").hidden = shown > 0;
    }).show();
  }

  // The page of one suite over all campaigns.
  function suite() {
    const rows = [...$("rows").tBodies[0].rows];
    const nights = data.nights;
    const numbers = new Map(nights.map(([id], index) => [id, index]));
    for (const control of [$("f-a"), $("f-b")]) {
      for (const [value, at] of [...nights].reverse()) control.append(make("option", { value }, at));
    }

    // The end of an entry is cut off where it says nothing.
    const entry = ([night, kind, time = "", usd = "", attempt = 1, why = "", word = "", news = ""]) =>
      ({ night, kind: data.kinds[kind][0], word: word || data.kinds[kind][1], time, usd, attempt, why,
        news });

    function outcome(id, night) {
      const found = data.timelines[id].o.find(([at]) => at === night);
      return found ? entry(found).word : "not selected";
    }

    const known = (id) => Object.hasOwn(data.timelines, id);
    const route = routed(["q", "a", "b"], known, (state) => {
      const words = wordsOf(state);
      const [a, b] = [numbers.get(state.a), numbers.get(state.b)];
      const comparing = a !== undefined && b !== undefined;
      let shown = 0;
      for (const row of rows) {
        const before = comparing && outcome(row.id, a);
        const after = comparing && outcome(row.id, b);
        const fits = (!comparing || before !== after)
          && words.every((word) => row.id.includes(word));
        row.hidden = !fits;
        shown += fits;
        row.querySelector(".change")?.remove();
        if (comparing && fits) {
          row.cells[1].append(make("small", { class: "change" }, `${before} → ${after}`));
        }
      }
      $("shown").textContent = `${shown} of ${rows.length} cells ${comparing ? "differ" : "shown"}`;
      $("nothing").hidden = shown > 0;
      if (state.cell) open(state.cell);
    });

    function campaignLink(night, id) {
      const [campaign, when, , pruned] = nights[night];
      if (pruned) return make("span", {}, when, make("small", {}, "files pruned"));
      return make("a", { href: `../campaigns/${campaign}/index.html#${id}` }, when);
    }

    function commits(from, to) {
      const [a, b] = [nights[from][2], nights[to][2]];
      if (![a, b].every((sha) => /^[0-9a-f]{40}$/.test(sha ?? ""))) return null;
      if (a === b) return make("span", {}, "none, both ran ", make("code", {}, a.slice(0, 12)));
      const text = make("code", {}, `${a.slice(0, 12)}…${b.slice(0, 12)}`);
      const href = `${data.repository}/compare/${a}...${b}`;
      return data.repository ? make("a", { href, rel: "noreferrer" }, text) : text;
    }

    function open(id) {
      const cell = data.timelines[id];
      const range = cell.s !== undefined && cell.g !== undefined ? commits(cell.g, cell.s) : null;
      const facts = [
        ["Verdict", cell.v],
        ["Nights", cell.h],
        ["Not green for", cell.n && `${cell.n} ${cell.n === 1 ? "campaign" : "campaigns"}`],
        ["Since", cell.s !== undefined && campaignLink(cell.s, id)],
        ["Last green", cell.g !== undefined && cell.n && campaignLink(cell.g, id)],
        ["Commits between", cell.n && range],
      ].filter(([, value]) => value);
      const lines = cell.o.map(entry).map(({ night, kind, word, why, attempt, time, usd, news }) => [
        campaignLink(night, id),
        make("div", {}, make("span", { class: `outcome ${kind}` }, glyph(kind), word),
          why ? make("small", {}, bdi(why)) : null,
          news ? make("small", {}, news) : null),
        String(attempt), time, usd]);
      fillPanel(cell.k,
        [make("a", { href: `#${id}` }, "permalink"), make("span", { class: "quiet" })],
        [make("b", {}, cell.w), make("code", {}, id)], [],
        list(facts),
        section("Timeline", table(["Campaign", "Outcome", "Attempt", "Time", "Cost"], lines)));
    }

    document.addEventListener("click", (event) => {
      const link = event.target.closest("a.open");
      if (!link || !plainClick(event)) return;
      event.preventDefault();
      route.go({ cell: link.closest("tr").id });
    });
    route.show();
  }
})();
