// One script for every page. The page says everything without it; it adds filters, the panel of
// a cell and the keyboard. Text from the data is only ever set as text.
(() => {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);

  const make = (tag, options = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(options)) {
      if (name === "class") element.className = value;
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };
  const typing = (target) => target.closest("input, select, textarea") !== null;

  if (data.cells) campaign();
  if (data.rows) campaigns();
  if (data.timelines) suite();

  function campaign() {
    const tiles = [...document.querySelectorAll("a.t")];
    const order = new Map(tiles.map((tile, index) => [tile.id, index]));
    const names = ["q", "suite", "profile", "environment", "state", "verdict"];
    const controls = new Map(
      names.map((name) => [name, $(name === "q" ? "q" : `f-${name}`)]).filter(([, c]) => c));
    const panel = $("panel");
    let filters = {};
    let texts = null;
    let shown = tiles.length;

    const label = (cell, part, id) => data.labels[cell.s][`${part}:${id}`] ?? id;

    // The address is the state: "#<cell>" or "#state=failed&cell=<cell>".
    const read = () => {
      const hash = location.hash.slice(1);
      const found = {};
      if (!hash.includes("=")) {
        const id = safeDecode(hash);
        if (order.has(id)) found.cell = id;
        return found;
      }
      for (const [name, value] of new URLSearchParams(hash)) {
        if (value && (names.includes(name) || (name === "cell" && order.has(value)))) {
          found[name] = value;
        }
      }
      return found;
    };
    const write = (state) => {
      const entries = Object.entries(state).filter(([, value]) => value);
      if (entries.length === 1 && state.cell) return `#${state.cell}`;
      return `#${new URLSearchParams(entries)}`;
    };
    const go = (changes, { replace = false } = {}) => {
      const address = write({ ...filters, cell: read().cell, ...changes });
      if (replace) {
        history.replaceState(null, "", address);
        apply();
      } else if (address !== location.hash) {
        location.hash = address;
      }
    };

    const textOf = (id) => {
      const cell = data.cells[id];
      return [id, label(cell, "p", cell.p), label(cell, "e", cell.e), label(cell, "c", cell.c),
        cell.w, cell.b, cell.o, cell.m, cell.v, cell.f?.join(" ")].join(" ").toLowerCase();
    };

    function apply() {
      const state = read();
      const { cell, ...rest } = state;
      const changed = JSON.stringify(rest) !== JSON.stringify(filters);
      filters = rest;
      for (const [name, control] of controls) {
        if (control.value !== (rest[name] ?? "")) control.value = rest[name] ?? "";
      }
      if (changed) filter();
      if (cell) open(cell);
      else if (panel.open) panel.close();
    }

    function filter() {
      const words = (filters.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length && !texts) texts = new Map(tiles.map((tile) => [tile.id, textOf(tile.id)]));
      const wanted = (id) => {
        const cell = data.cells[id];
        return (!filters.suite || cell.s === filters.suite)
          && (!filters.profile || cell.p === filters.profile)
          && (!filters.environment || cell.e === filters.environment)
          && (!filters.state || cell.k === filters.state)
          && (!filters.verdict || cell.v === filters.verdict)
          && words.every((word) => texts.get(id).includes(word));
      };
      shown = 0;
      for (const tile of tiles) {
        const fits = wanted(tile.id);
        tile.classList.toggle("off", !fits);
        shown += fits;
      }
      const active = Object.keys(filters).length > 0;
      document.querySelectorAll("section.suite").forEach((suite) => narrow(suite, active));
      for (const problem of document.querySelectorAll(".problem")) {
        const links = [...problem.querySelectorAll("a[data-cell]")];
        let any = false;
        for (const link of links) {
          const fits = wanted(link.dataset.cell);
          link.parentElement.hidden = !fits;
          any ||= fits;
        }
        problem.hidden = !any;
      }
      const look = $("look");
      if (look) look.parentElement.hidden = !document.querySelector(".problem:not([hidden])");
      for (const picture of document.querySelectorAll("[data-of]")) {
        picture.hidden = !wanted(picture.dataset.of);
      }
      const gallery = $("gallery");
      if (gallery) gallery.parentElement.hidden = !document.querySelector("[data-of]:not([hidden])");
      $("nothing").hidden = shown > 0;
      tell();
    }

    // Leave only the rows and columns that have something to show.
    function narrow(suite, active) {
      const table = suite.querySelector("table.matrix");
      if (!table) {
        suite.hidden = active;
        return;
      }
      const heads = [...table.querySelectorAll(".cases th")];
      const used = new Set();
      let any = false;
      for (const row of table.tBodies[0].rows) {
        let inRow = false;
        for (let column = 1; column < row.cells.length; column += 1) {
          const tile = row.cells[column].firstElementChild;
          if (tile && !tile.classList.contains("off")) {
            inRow = true;
            used.add(column - 1);
          }
        }
        row.hidden = active && !inRow;
        any ||= inRow;
      }
      suite.hidden = active && !any;
      const leftOut = suite.querySelector("details");
      if (leftOut) leftOut.open = active && any;
      if (suite.hidden) return;
      for (const row of table.tBodies[0].rows) {
        for (let column = 1; column < row.cells.length; column += 1) {
          row.cells[column].hidden = active && !used.has(column - 1);
        }
      }
      heads.forEach((head, column) => { head.hidden = active && !used.has(column); });
      const groups = [...table.querySelectorAll(".envs th[colspan]")];
      const width = heads.length / groups.length;
      groups.forEach((group, index) => {
        const left = heads.slice(index * width, (index + 1) * width).filter((h) => !h.hidden);
        group.hidden = left.length === 0;
        if (left.length) group.colSpan = left.length;
      });
    }

    const tell = () => {
      $("shown").textContent = `${shown} of ${tiles.length} cells shown`;
    };

    function open(id) {
      const cell = data.cells[id];
      const visible = tiles.filter((tile) => !tile.classList.contains("off"));
      const at = visible.findIndex((tile) => tile.id === id);
      const step = (title, text, by) => {
        const target = visible[at + by];
        const button = make("button", { type: "button", title, "aria-label": title }, text);
        button.disabled = !target;
        button.dataset.step = by;
        return button;
      };
      const close = make("button", { type: "button", "aria-label": "Close" }, "Close");
      close.addEventListener("click", () => panel.close());
      const head = make("div", { class: `panel-head ${cell.k}` },
        make("nav", { "aria-label": "Cells" }, step("Previous cell (k)", "←", -1),
          step("Next cell (j)", "→", 1),
          make("span", { class: "quiet" }, at < 0 ? "" : `${at + 1} of ${visible.length}`), close),
        make("h2", { id: "panel-title" }, make("i", { class: `g ${cell.k}`, "aria-hidden": "true" }),
          make("b", {}, cell.w), make("bdi", {}, label(cell, "c", cell.c))),
        make("p", {}, make("bdi", {}, label(cell, "p", cell.p)), " on ",
          make("bdi", {}, label(cell, "e", cell.e)), ", ", make("bdi", {}, data.labels[cell.s][""])),
        make("p", { class: "quiet" }, make("code", {}, id), " ",
          make("a", { href: `#${id}` }, "permalink")));
      const body = make("div", { class: `panel-body ${cell.k}` });
      const section = (title, content) => {
        body.append(make("section", {}, make("h3", {}, title), content));
      };
      if (cell.k === "unselected") {
        body.append(make("p", {}, "This campaign did not select the cell, so nothing is known of it here."));
      }
      if (cell.m) {
        const title = [cell.b, cell.o].filter(Boolean).join(", ");
        section(title || "What happened", make("pre", { tabindex: "0" }, make("bdi", {}, cell.m)));
      }
      if (cell.v) section("Verdict of history", make("p", {}, cell.v));
      if (cell.h) {
        const spark = $(id).querySelector("svg").cloneNode(true);
        section("Last nights", make("p", { class: "nights" }, spark, cell.h));
      }
      if (cell.x) section("Matchers", table(["Result", "Matcher", "Expected", "Observed"],
        cell.x.map(([ok, kind, expected, detail]) => [
          make("span", { class: ok ? "" : "alarm" }, ok ? "held" : "failed"), make("code", {}, kind),
          make("bdi", {}, expected), make("bdi", {}, detail)]), "grid matchers"));
      const facts = data.facts.map((name, index) => [name, cell.f?.[index]]).filter(([, v]) => v);
      if (facts.length) {
        section("Facts", make("dl", {}, ...facts.flatMap(([name, value]) => [
          make("dt", {}, name), make("dd", {}, make("bdi", {}, value))])));
      }
      if (cell.t) section("Turns", table(["Turn", "Queued", "Ran", "Answered after", "Lease"],
        cell.t.map((turn) => turn.map(String))));
      if (cell.g) section("Screenshots", make("ul", { class: "gallery" },
        ...cell.g.map(([title, href]) => make("li", {},
          make("a", { href }, make("img", { src: href, alt: title, loading: "lazy" })),
          make("p", {}, make("bdi", {}, title))))));
      panel.replaceChildren(head, body);
      panel.scrollTop = 0;
      if (!panel.open) panel.showModal();
      panel.dataset.cell = id;
    }

    const table = (heads, rows, name = "grid") => make("table", { class: name },
      make("thead", {}, make("tr", {}, ...heads.map((h) => make("th", { scope: "col" }, h)))),
      make("tbody", {}, ...rows.map((row) =>
        make("tr", {}, ...row.map((content) => make("td", {}, content))))));

    function step(by) {
      const visible = tiles.filter((tile) => !tile.classList.contains("off"));
      const target = visible[visible.findIndex((tile) => tile.id === panel.dataset.cell) + by];
      // Walking through cells is one visit: "back" leads to where the walk began.
      if (target) go({ cell: target.id }, { replace: true });
    }

    // The arrows walk the visible tiles of a table; Tab goes from table to table.
    function move(tile, key) {
      const cell = tile.parentElement;
      const row = cell.parentElement;
      const next = {
        ArrowRight: (c) => c.nextElementSibling,
        ArrowLeft: (c) => c.previousElementSibling,
        ArrowDown: (c) => c.parentElement.nextElementSibling?.cells[c.cellIndex],
        ArrowUp: (c) => c.parentElement.previousElementSibling?.cells[c.cellIndex],
      }[key];
      for (let at = next(cell); at; at = next(at)) {
        const found = at.querySelector("a.t:not(.off)");
        if (found && found.offsetParent) {
          rove(row.closest("table"), found);
          found.focus();
          return;
        }
      }
    }
    const rove = (matrix, tile) => {
      for (const other of matrix.querySelectorAll('a.t[tabindex="0"]')) other.tabIndex = -1;
      tile.tabIndex = 0;
    };

    function options(name, part) {
      const control = controls.get(name);
      const seen = new Map();
      for (const tile of tiles) {
        const cell = data.cells[tile.id];
        const id = part ? cell[part] : cell.s;
        if (!seen.has(id)) seen.set(id, part ? label(cell, part, id) : data.labels[id][""]);
      }
      for (const [id, text] of seen) control.append(make("option", { value: id }, text));
    }

    options("suite", null);
    options("profile", "p");
    options("environment", "e");
    for (const tile of tiles) tile.tabIndex = -1;
    for (const matrix of document.querySelectorAll("table.matrix")) {
      const first = matrix.querySelector("a.t");
      if (first) first.tabIndex = 0;
    }
    $("filters").hidden = false;
    document.querySelector(".keys").hidden = false;

    $("filters").addEventListener("submit", (event) => event.preventDefault());
    for (const [name, control] of controls) {
      control.addEventListener("input", () => go({ [name]: control.value }, { replace: true }));
    }
    $("reset").addEventListener("click", () => {
      go(Object.fromEntries(names.map((name) => [name, ""])), { replace: true });
    });
    document.addEventListener("click", (event) => {
      const { target } = event;
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      const tile = target.closest("a.t, a[data-cell]");
      const chip = target.closest("a[data-filter]");
      const button = target.closest("button[data-step]");
      if (target === panel) panel.close();
      if (button) step(Number(button.dataset.step));
      if (!tile && !chip) return;
      event.preventDefault();
      if (tile) {
        if (tile.id) rove(tile.closest("table"), tile);
        go({ cell: tile.dataset.cell ?? tile.id });
      } else {
        go({ state: filters.state === chip.dataset.filter ? "" : chip.dataset.filter });
      }
    });
    panel.addEventListener("close", () => {
      if (read().cell) go({ cell: "" });
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { key, target } = event;
      if (panel.open) {
        if (key === "j" || key === "k") step(key === "j" ? 1 : -1);
        return;
      }
      if (key === "/" && !typing(target)) {
        event.preventDefault();
        $("q").focus();
        $("q").select();
      } else if (key === "Escape" && target === $("q")) {
        go({ q: "" }, { replace: true });
        target.blur();
      } else if (key.startsWith("Arrow") && target.matches?.("a.t")) {
        event.preventDefault();
        move(target, key);
      }
    });
    addEventListener("hashchange", apply);
    tell();
    apply();
    document.documentElement.dataset.ready = "yes";
  }

  // What the three kinds of page share: filters that live in the address, "/" and reset.
  function filtering(names, apply) {
    const controls = new Map(names.map((name) => [name, $(name === "q" ? "q" : `f-${name}`)]));
    const form = $("filters");
    if (!form) return null;
    const valueOf = (control) =>
      control.type === "checkbox" ? (control.checked ? "yes" : "") : control.value;
    const read = () => {
      const hash = location.hash.slice(1);
      if (!hash.includes("=")) return hash ? { cell: safeDecode(hash) } : {};
      return Object.fromEntries([...new URLSearchParams(hash)]
        .filter(([name, value]) => value && (name === "cell" || controls.has(name))));
    };
    const write = (state) => {
      const entries = Object.entries(state).filter(([, value]) => value);
      return entries.length === 1 && state.cell ? `#${state.cell}` : `#${new URLSearchParams(entries)}`;
    };
    const show = () => {
      const state = read();
      for (const [name, control] of controls) {
        if (control.type === "checkbox") control.checked = Boolean(state[name]);
        else if (control.value !== (state[name] ?? "")) control.value = state[name] ?? "";
      }
      apply(state);
    };
    const replace = (changes) => {
      history.replaceState(null, "", write({ ...read(), ...changes }));
      show();
    };
    for (const [name, control] of controls) {
      control.addEventListener("input", () => replace({ [name]: valueOf(control) }));
    }
    $("reset").addEventListener("click", () =>
      replace(Object.fromEntries(names.map((name) => [name, ""]))));
    form.addEventListener("submit", (event) => event.preventDefault());
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      if (event.key === "/" && !typing(event.target)) {
        event.preventDefault();
        $("q").focus();
        $("q").select();
      } else if (event.key === "Escape" && event.target === $("q")) {
        replace({ q: "" });
        event.target.blur();
      }
    });
    addEventListener("hashchange", show);
    form.hidden = false;
    return { read, write, replace, show };
  }

  function campaigns() {
    const rows = [...($("rows")?.tBodies[0].rows ?? [])];
    filtering(["q", "state", "from", "to", "superseded"], (state) => {
      const words = (state.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
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
    })?.show();
    document.documentElement.dataset.ready = "yes";
  }

  function suite() {
    const rows = [...$("rows").tBodies[0].rows];
    const panel = $("panel");
    const nights = data.nights;
    const number = new Map(nights.map(([id], index) => [id, index]));
    for (const name of ["f-a", "f-b"]) {
      nights.forEach(([id, at], index) => {
        const option = make("option", { value: id }, at);
        $(name).children[0].after(option);
        option.dataset.night = index;
      });
    }
    const at = (id, night) => data.timelines[id].o.find(([n]) => n === night);
    const compared = (state) => {
      const [a, b] = [number.get(state.a), number.get(state.b)];
      return a === undefined || b === undefined ? null : [a, b];
    };

    const filters = filtering(["q", "a", "b"], (state) => {
      const words = (state.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
      const pair = compared(state);
      let shown = 0;
      for (const row of rows) {
        const [before, after] = (pair ?? []).map((night) => at(row.id, night));
        const differs = !pair || before?.[2] !== after?.[2];
        row.hidden = !(differs && words.every((word) => row.id.includes(word)));
        shown += !row.hidden;
        row.querySelector(".change")?.remove();
        if (pair && differs) {
          row.cells[1].append(make("small", { class: "change" },
            `${before?.[2] ?? "not selected"} → ${after?.[2] ?? "not selected"}`));
        }
      }
      $("shown").textContent = pair
        ? `${shown} of ${rows.length} cells differ` : `${shown} of ${rows.length} cells shown`;
      $("nothing").hidden = shown > 0;
      if (state.cell && data.timelines[state.cell]) open(state.cell);
      else if (panel.open) panel.close();
    });

    const campaignLink = (night, id) =>
      make("a", { href: `../campaigns/${nights[night][0]}/index.html#${id}` }, nights[night][1]);
    const isCommit = (sha) => /^[0-9a-f]{40}$/.test(sha ?? "");
    const range = (from, to) => {
      const [a, b] = [nights[from][2], nights[to][2]];
      if (!isCommit(a) || !isCommit(b)) return null;
      const text = a === b ? `the same commit, ${a.slice(0, 12)}` : `${a.slice(0, 12)}…${b.slice(0, 12)}`;
      if (a === b || !data.repository) return make("code", {}, text);
      return make("a", { href: `${data.repository}/compare/${a}...${b}`, rel: "noreferrer" },
        make("code", {}, text));
    };

    function open(id) {
      const cell = data.timelines[id];
      const close = make("button", { type: "button", "aria-label": "Close" }, "Close");
      close.addEventListener("click", () => panel.close());
      const head = make("div", { class: `panel-head ${cell.k}` },
        make("nav", { "aria-label": "Cell" }, make("a", { href: `#${id}` }, "permalink"),
          make("span", { class: "quiet" }), close),
        make("h2", { id: "panel-title" }, make("i", { class: `g ${cell.k}`, "aria-hidden": "true" }),
          make("b", {}, cell.w), make("code", {}, id)));
      const body = make("div", { class: "panel-body" });
      const facts = make("dl");
      const fact = (name, ...content) =>
        facts.append(make("dt", {}, name), make("dd", {}, ...content));
      if (cell.v) fact("Verdict", cell.v);
      fact("Nights", cell.h);
      if (cell.n) {
        fact("Not green for", `${cell.n} ${cell.n === 1 ? "campaign" : "campaigns"}`);
        if (cell.s !== undefined) fact("Since", campaignLink(cell.s, id));
        if (cell.g !== undefined) {
          fact("Last green", campaignLink(cell.g, id));
          const commits = cell.s === undefined ? null : range(cell.g, cell.s);
          if (commits) fact("Commits between", commits);
        }
      }
      const lines = cell.o.map(([night, kind, word, why, attempt, time, usd, news]) =>
        make("tr", {}, make("td", {}, campaignLink(night, id)),
          make("td", {}, make("span", { class: `outcome ${kind}` },
            make("i", { class: `g ${kind}`, "aria-hidden": "true" }), word),
          why ? make("small", {}, make("bdi", {}, why)) : "",
          news ? make("small", { class: "news" }, news) : ""),
          make("td", {}, String(attempt)), make("td", {}, time), make("td", {}, usd)));
      body.append(make("section", {}, facts),
        make("section", {}, make("h3", {}, "Timeline"), make("table", { class: "grid" },
          make("thead", {}, make("tr", {}, ...["Campaign", "Outcome", "Attempt", "Time", "Cost"]
            .map((name) => make("th", { scope: "col" }, name)))),
          make("tbody", {}, ...lines))));
      panel.replaceChildren(head, body);
      panel.scrollTop = 0;
      if (!panel.open) panel.showModal();
    }

    panel.addEventListener("close", () => {
      const { cell, ...rest } = filters.read();
      if (cell) location.hash = filters.write(rest);
    });
    document.addEventListener("click", (event) => {
      if (event.target === panel) panel.close();
      const link = event.target.closest("a.open");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      location.hash = filters.write({ ...filters.read(), cell: link.closest("tr").id });
    });
    filters.show();
    document.documentElement.dataset.ready = "yes";
  }

  function safeDecode(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }
})();
