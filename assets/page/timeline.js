// The timeline's page: what is seen and chosen, and the pointer and keys that change it. Of several on
// one page of a notebook each has a document of its own (an iframe).
"use strict";

class TimelinePage extends TimelineDrawing {
  constructor(root, data) {
    super();
    this.root = root;
    this.data = data;
    this.model = TimelineModel.unpack(data);
    this.from = 0;
    this.to = Math.max(data.end, 8);
    this.scroll = 0;
    this.open = data.groups.map(group => group.open);
    this.selected = this.hovered = TimelineModel.NONE;
    this.arrows = true;
    this.bySteps = false;  // copies and products have the hue of their step of K, all else is grey
    this.totals = null;  // [from, to) that is added up
    this.hits = [];
    this.widths = new Map();
    const part = name => root.querySelector(name);
    this.base = part(".base");
    this.over = part(".over");
    this.tip = part(".tip");
    this.aside = part("aside");
    part("h1").textContent = data.title;
    part(".about").textContent = data.about + (data.together ? `, ${TimelineWords.grouped(data.together)} of them taken together` : "");
    this.base.setAttribute("aria-label", `timeline of ${data.title}: ${data.about}`);
    this.setTheme(this.themeAsked());
    this.listen();
    if (data.reports.some(report => report.weight === "fault")) this.showReports();
    new ResizeObserver(() => this.resize()).observe(part(".stage"));
    this.resize();
  }

  // ---- What is seen -------------------------------------------------------------------------------

  see(from, to) {
    [this.from, this.to] = TimelineWords.rangeWithin(this.data.end, from, to);
    this.later();
  }
  zoom(x, factor) {
    const {x: left, width} = this.lanes, at = this.cycle(Math.min(Math.max(x, left), left + width));
    [this.from, this.to] = TimelineWords.zoomed(this.data.end, this.from, this.to, at, factor);
    this.later();
  }
  pan(dx, dy) {
    const length = this.to - this.from, whole = Math.max(this.data.end, 8);
    this.from = Math.min(Math.max(this.from - dx * this.cyclesOfPixel(), 0), whole - length);
    this.to = this.from + length;
    this.scroll -= dy;
    this.later();
  }
  // An event with what is around it, and the groups open that it is in.
  show(event) {
    const {model} = this, begin = model.begin[event] - model.issue[event], end = model.stop[event];
    const length = end - begin, share = length / (this.to - this.from);
    for (const group of model.groupsOfTrack.get(model.track[event]) || []) this.open[group] = true;
    if (begin < this.from || end > this.to || (length > 0 && share < 0.01)) {
      const want = share < 0.01 || share > 0.5 ? Math.max(length * 3, 200) : this.to - this.from;
      [this.from, this.to] = TimelineWords.rangeWithin(this.data.end, (begin + end - want) / 2, (begin + end + want) / 2);
    }
    this.arrange();
    const row = this.rowOf.get(model.track[event]), bottom = this.lanes.y + this.lanes.height;
    if (row.y < this.lanes.y) this.scroll += row.y - this.lanes.y - 22;
    else if (row.y + row.height > bottom) this.scroll += row.y + row.height - bottom + 22;
    this.later();
  }
  select(event, show = false) {
    this.selected = event;
    this.totals = null;
    if (event >= 0) this.showEvent(event); else this.closeAside();
    if (show) this.show(event); else this.later();
  }

  // ---- What is under the pointer --------------------------------------------------------------------

  rowAt(y) { return y < this.lanes.y ? undefined : this.rows.find(row => y >= row.y && y < row.y + row.height); }

  // The event there, those in front first; {event}, {many: [from, to]} or {}.
  hit(x, y) {
    for (const flag of this.flags) {
      if (x >= flag.x && x < flag.x + 14 && y >= flag.y && y < flag.y + 16) return {event: flag.event};
    }
    const M = TimelineModel, model = this.model, row = this.rowAt(y);
    if (!row || row.group || x < this.lanes.x) return {};
    const near = 3 * this.cyclesOfPixel(), at = this.cycle(x);
    const queue = Math.min(this.data.tracks[row.place].queue, this.to - this.from);
    const [low, high] = M.eventsIn(model, row.place, at - near, at + near + queue);
    if (!this.seen(row.place) && high - low > 3) return {many: [at - near / 3, at + near / 3]};
    let best = 3, event = M.NONE, short = 0;
    for (let i = low; i < high; ++i) {
      const box = this.boxOf(row, i), instant = model.kind[i] === M.ARRIVAL || model.kind[i] === M.REPORT;
      const flies = x >= this.x(model.begin[i] - model.issue[i]) && x < box.x;
      let miss = flies ? 0.5 : Math.max(0, box.x - x, x - box.x - box.width);
      if (!instant && box.width <= 1 && miss < 1) ++short;
      if (instant) miss = miss / 4 - 0.1;
      if (y < box.y || y >= box.y + box.height) miss += 1.5;
      miss += Math.min(box.width, 1e6) * 1e-7;
      if (miss < best) [best, event] = [miss, i];
    }
    return short > 1 && event >= 0 && this.boxOf(row, event).width <= 1 ? {many: [at - near / 6, at + near / 6]} : {event};
  }

  hover(x, y) {
    const {event = TimelineModel.NONE, many} = x < this.lanes.x ? {} : this.hit(x, y), row = this.rowAt(y);
    if (event !== this.hovered) {
      this.hovered = event;
      this.drawOver();
    }
    if (event >= 0) return this.showTip(x, y, this.tipOf(event));
    if (!row) return this.hideTip();
    const known = row.group ? this.data.groups[row.place] : this.data.tracks[row.place];
    if (x < this.lanes.x) {
      const shares = TimelineModel.sharesText(this.model, row, this.from, this.to);
      const lines = shares ? [["of what is seen", shares]] : [];
      return this.showTip(x, y, {title: known.name, about: known.detail, lines});
    }
    const at = this.cycle(x);
    if (many || row.group) {
      const half = 2 * this.cyclesOfPixel(), [from, to] = many || [at - half, at + half];
      const shares = TimelineModel.sharesText(this.model, row, Math.max(from, 0), to);
      if (!shares) return this.hideTip();
      const title = many ? "events too short to draw one by one: zoom in" : known.name;
      return this.showTip(x, y, {title, about: `about ${this.data.unit} ${TimelineWords.timeText(this.data, at)}`, lines: [["of this", shares]]});
    }
    this.hideTip();
  }

  tipOf(event) {
    const lines = TimelineWords.inspect(this.model, event), skip = new Set(["row", "what", "up to", "inlined from", "PTX line"]);
    const shown = lines.filter(([name]) => !skip.has(name));
    for (const cause of TimelineModel.causesOf(this.model, event, 1)) shown.push(["because", TimelineWords.sentence(this.model, cause)]);
    return {title: lines[1][1], about: lines[0][1], lines: shown};
  }

  showTip(x, y, {title, about, lines}) {
    const tip = this.tip, bold = document.createElement("b"), quiet = document.createElement("i");
    bold.textContent = title;
    quiet.textContent = about || "";
    tip.replaceChildren(bold, quiet, this.list(lines));
    tip.hidden = false;
    const stage = this.root.querySelector(".stage").getBoundingClientRect(), all = this.root.getBoundingClientRect();
    const left = stage.left - all.left + x, top = stage.top - all.top + y;
    tip.style.left = `${Math.max(4, left + 16 + tip.offsetWidth > all.width ? left - tip.offsetWidth - 12 : left + 16)}px`;
    tip.style.top = `${Math.max(4, Math.min(top + 16, all.height - tip.offsetHeight - 4))}px`;
  }
  hideTip() { this.tip.hidden = true; }

  // ---- Beside the rows ------------------------------------------------------------------------------

  list(lines) {
    const list = document.createElement("dl");
    for (const [name, value] of lines) {
      const term = document.createElement("dt"), text = document.createElement("dd");
      term.textContent = name;
      text.textContent = value;
      if (name === "instruction" || name === "up to") text.className = "code";
      list.append(term, text);
    }
    return list;
  }
  openAside(title, ...parts) {
    const heading = document.createElement("h2"), close = document.createElement("button");
    heading.textContent = title;
    close.textContent = "×";
    close.className = "close";
    close.title = "close (Escape)";
    close.onclick = () => this.select(TimelineModel.NONE);
    this.aside.replaceChildren(close, heading, ...parts);
    this.aside.scrollTop = 0;
    this.aside.hidden = false;
  }
  closeAside() { this.aside.hidden = true; }

  showEvent(event) {
    const M = TimelineModel, lines = TimelineWords.inspect(this.model, event), parts = [this.list(lines.filter(([name]) => name !== "what"))];
    const link = (name, to) => {
      const button = document.createElement("button"), what = document.createElement("b");
      button.className = "link";
      what.textContent = name;
      button.append(what, TimelineWords.sentence(this.model, to));
      button.onclick = () => this.select(to, true);
      parts.push(button);
    };
    M.causesOf(this.model, event).forEach((cause, n) => link(n ? "and that of" : "because of", cause));
    for (const effect of M.effectsOf(this.model, event)) link("caused", effect);
    this.openAside(lines[1][1], ...parts);
  }

  showReports() {
    const parts = this.data.reports.map(report => {
      const button = document.createElement("button"), site = document.createElement("small");
      button.className = `report ${report.weight}`;
      site.textContent = report.site;
      button.append(`${report.weight} (${report.kind}): ${report.sentence}`, site);
      if (report.event >= 0) button.onclick = () => this.select(report.event, true);
      return button;
    });
    this.openAside("findings", ...parts);
  }

  showTotals() {
    const [from, to] = this.totals, data = this.data, M = TimelineModel;
    const lines = [["from", TimelineWords.timeText(data, from)], ["to", TimelineWords.timeText(data, to)], ["length", TimelineWords.timeText(data, to - from)]];
    for (const row of this.order) {
      if (lines.length >= 48) break;
      if (row.group && row.open) continue;
      const shares = M.sharesText(this.model, row, from, to);
      if (shares) lines.push([(row.group ? data.groups : data.tracks)[row.place].name, shares]);
    }
    this.openAside("added up", this.list(lines));
  }

  search(text) {
    this.hits = TimelineWords.find(this.model, text);
    this.root.querySelector(".hits").textContent = text.trim() ? `${TimelineWords.grouped(this.hits.length)} found` : "";
    this.drawOver();
  }
  // The next or previous of what was found.
  walk(step) {
    if (!this.hits.length) return;
    const at = this.hits.indexOf(this.selected);
    this.select(this.hits[at < 0 ? (step > 0 ? 0 : this.hits.length - 1) : (at + step + this.hits.length) % this.hits.length], true);
  }

  // ---- Pointer and keys -----------------------------------------------------------------------------

  // On a page of a notebook the wheel is the page's, until one has clicked here.
  takesWheel(event) {
    return window.parent === window || document.hasFocus() || event.ctrlKey || event.metaKey;
  }

  listen() {
    const over = this.over, at = event => ({x: event.offsetX, y: event.offsetY});
    let drag = null;
    over.addEventListener("wheel", event => {
      if (!this.takesWheel(event)) return;
      event.preventDefault();
      const {x, y} = at(event), line = event.deltaMode === 1 ? 16 : 1;
      if (event.shiftKey && !event.deltaX) this.pan(-event.deltaY * line, 0);
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(-event.deltaX * line, 0);
      else if (x < this.lanes.x && y > this.lanes.y) this.pan(0, -event.deltaY * line);
      else this.zoom(x, Math.exp(-event.deltaY * line * (event.ctrlKey ? 0.01 : 0.0022)));
    }, {passive: false});
    over.addEventListener("pointerdown", event => {
      const {x, y} = at(event);
      this.root.focus({preventScroll: true});
      over.setPointerCapture(event.pointerId);
      const map = this.map, on = x >= map.x && y < map.y + map.height;
      drag = {x, y, fromX: x, fromY: y, moved: false, what: on ? "map" : event.shiftKey || (x >= this.lanes.x && y < this.lanes.y) ? "totals" : "pan"};
      if (on) this.centre(x);
    });
    over.addEventListener("pointermove", event => {
      const {x, y} = at(event);
      if (!drag) return this.hover(x, y);
      if (Math.hypot(x - drag.fromX, y - drag.fromY) > 3) drag.moved = true;
      if (!drag.moved) return;
      this.hideTip();
      if (drag.what === "map") this.centre(x);
      else if (drag.what === "totals") {
        const clamp = px => this.cycle(Math.min(Math.max(px, this.lanes.x), this.lanes.x + this.lanes.width));
        this.totals = [clamp(Math.min(drag.fromX, x)), clamp(Math.max(drag.fromX, x))];
        this.drawOver();
      } else this.pan(x - drag.x, y - drag.y);
      drag.x = x;
      drag.y = y;
    });
    over.addEventListener("pointerup", event => {
      const done = drag, {x, y} = at(event);
      drag = null;
      if (!done) return;
      if (done.moved) {
        if (done.what === "totals" && this.totals) this.showTotals();
      } else if (done.what !== "map") this.click(x, y);
    });
    over.addEventListener("pointercancel", () => { drag = null; });
    over.addEventListener("pointerleave", () => {
      this.hovered = TimelineModel.NONE;
      this.hideTip();
      this.drawOver();
    });
    over.addEventListener("dblclick", event => {
      if (event.offsetX < this.lanes.x || event.offsetY < this.lanes.y) return;
      const {event: found = TimelineModel.NONE} = this.hit(event.offsetX, event.offsetY);
      if (found < 0) return this.zoom(event.offsetX, 4);
      const length = Math.max(this.model.stop[found] - this.model.begin[found], 20);
      this.see(this.model.begin[found] - length, this.model.stop[found] + length);
    });
    this.root.addEventListener("keydown", event => this.key(event));
    this.listenToTools();
  }

  listenToTools() {
    const part = name => this.root.querySelector(name), find = part(".find"), findings = part(".findings");
    find.addEventListener("input", () => this.search(find.value));
    find.addEventListener("keydown", event => {
      event.stopPropagation();
      if (event.key === "Enter") this.walk(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") {
        this.search(find.value = "");
        this.root.focus();
      }
    });
    part(".steps").hidden = !this.model.step.some(step => step > 0);
    part(".steps").onclick = () => {
      this.bySteps = !this.bySteps;
      part(".steps").setAttribute("aria-pressed", this.bySteps);
      this.patterns.clear();
      this.drawLegend();
      this.later();
    };
    part(".fit").onclick = () => this.see(0, this.data.end);
    part(".theme").onclick = () => {
      this.setTheme(this.themeName === "dark" ? "light" : "dark");
      this.draw();
    };
    part(".arrows").onclick = () => this.turnArrows();
    part(".arrows").setAttribute("aria-pressed", this.arrows);
    const count = this.data.reports.length;
    findings.hidden = !count;
    findings.textContent = `${count} finding${count === 1 ? "" : "s"}`;
    findings.classList.toggle("fault", this.data.reports.some(report => report.weight === "fault"));
    findings.onclick = () => this.showReports();
  }
  turnArrows() {
    this.arrows = !this.arrows;
    this.root.querySelector(".arrows").setAttribute("aria-pressed", this.arrows);
    this.later();
  }
  centre(x) {
    const whole = Math.max(this.data.end, 8), at = (x - this.map.x) / this.map.width * whole, half = (this.to - this.from) / 2;
    this.from = Math.min(Math.max(at - half, 0), whole - 2 * half);
    this.to = this.from + 2 * half;
    this.later();
  }

  click(x, y) {
    const row = this.rowAt(y);
    if (row && row.group && x < this.lanes.x) {
      this.open[row.place] = !this.open[row.place];
      return this.later();
    }
    const {event = TimelineModel.NONE, many} = this.hit(x, y);
    if (many) return this.zoom(x, 8);
    this.select(event);
  }

  key(event) {
    if (event.target instanceof HTMLInputElement || event.altKey || event.ctrlKey || event.metaKey) return;
    const middle = this.lanes.x + this.lanes.width / 2, step = this.lanes.width / 8;
    const keys = {
      "+": () => this.zoom(middle, 1.5), "=": () => this.zoom(middle, 1.5), w: () => this.zoom(middle, 1.5),
      "-": () => this.zoom(middle, 1 / 1.5), s: () => this.zoom(middle, 1 / 1.5),
      "0": () => this.see(0, this.data.end), Home: () => this.see(0, this.data.end),
      ArrowLeft: () => this.pan(step, 0), ArrowRight: () => this.pan(-step, 0),
      ArrowUp: () => this.pan(0, 44), ArrowDown: () => this.pan(0, -44),
      Escape: () => this.select(TimelineModel.NONE), a: () => this.turnArrows(), A: () => this.turnArrows(),
      n: () => this.walk(1), N: () => this.walk(-1),
      "/": () => this.root.querySelector(".find").focus(),
      Enter: () => this.selected >= 0 && this.show(this.selected),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }
}

// The record is in the page as JSON, or packed (zlib, base64) where it is large.
async function timelineData(element) {
  if (element.type === "application/json") return JSON.parse(element.textContent);
  const bytes = Uint8Array.from(atob(element.textContent.trim()), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

if (typeof document !== "undefined") {
  const root = document.getElementById("timeline");
  timelineData(document.getElementById("record"))
    .then(data => { window.timeline = new TimelinePage(root, data); })
    .catch(error => { root.querySelector(".about").textContent = `This timeline cannot be shown here: ${error.message}`; });
}
