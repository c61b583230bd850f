// A timeline drawn as the window draws it (viz/timeline): what is where, axis, all of the run, arrows.
//
// Two canvases: `base` holds what changes with what is seen; `over` holds what is pointed at,
// selected and added up.
"use strict";

class TimelineDrawing extends TimelineRows {
  resize() {
    const stage = this.root.querySelector(".stage");
    this.width = Math.max(stage.clientWidth, 120);
    this.height = Math.max(stage.clientHeight, 80);
    this.scale = window.devicePixelRatio || 1;
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(this.width * this.scale);
      canvas.height = Math.round(this.height * this.scale);
    }
    this.patterns = new Map();
    this.draw();
  }

  // Where rows are: this.rows with y and height.
  arrange() {
    const data = this.data, left = Math.min(Math.max(Math.round(this.width * 0.2), Math.min(188, this.width / 3)), 256);
    const map = this.height < 240 ? 0 : data.overview.length * 6 + 6;
    this.map = {x: left, y: 0, width: this.width - left - 16, height: map};
    this.axis = {x: left, y: map ? map + 8 : 0, width: this.map.width, height: data.clock > 0 ? 40 : 20};
    const top = this.axis.y + this.axis.height;
    this.lanes = {x: left, y: top, width: this.map.width, height: Math.max(this.height - top, 1)};
    const rows = TimelineModel.visibleRows(data, this.open);
    let all = 0;
    for (const row of rows) all += row.height = TimelineModel.heightOf(data, row);
    this.allRows = all;
    this.scroll = Math.min(Math.max(this.scroll, 0), Math.max(0, all - this.lanes.height));
    let y = top - this.scroll;
    this.rowOf = new Map();  // by track or -1 - group
    this.order = rows;
    this.rows = [];
    for (const row of rows) {
      row.y = y;
      y += row.height;
      this.rowOf.set(row.group ? -1 - row.place : row.place, row);
      if (row.y < this.height && y > top) this.rows.push(row);
    }
  }

  x(cycle) { return this.lanes.x + (cycle - this.from) / (this.to - this.from) * this.lanes.width; }
  cycle(x) { return this.from + (x - this.lanes.x) / this.lanes.width * (this.to - this.from); }
  cyclesOfPixel() { return (this.to - this.from) / this.lanes.width; }

  draw() {
    this.stale = false;
    this.begin(this.base);
    this.ink.fillStyle = this.theme.paper;
    this.ink.fillRect(0, 0, this.width, this.height);
    this.arrange();
    this.drawMap();
    this.drawAxis();
    this.clipped(() => {
      for (const row of this.rows) this.drawRow(row);
      this.drawTail();
    });
    this.drawLabels();
    this.clipped(() => {
      this.drawReports();
      if (this.arrows) this.drawAllArrows();
    });
    this.drawOver();
  }
  later() {
    if (this.stale) return;
    this.stale = true;
    requestAnimationFrame(() => this.stale && this.draw());
  }
  clipped(paint) {
    const {x, y, width, height} = this.lanes;
    this.ink.save();
    this.ink.beginPath();
    this.ink.rect(x, y, width, height);
    this.ink.clip();
    paint();
    this.ink.restore();
  }

  drawMap() {
    const map = this.map;
    if (!map.height) return;
    this.write("all of the run", map.x - 8, map.y + map.height / 2, {colour: this.theme.quiet, align: "right"});
    this.plate(map.x + 0.5, map.y + 0.5, map.width - 1, map.height - 1, this.theme.panel, this.theme.line, 2);
    const whole = Math.max(this.data.end, 8), wide = map.width * this.data.end / whole;
    this.data.overview.forEach((lane, n) => {
      const piece = wide / lane.share.length;
      this.ink.fillStyle = this.data.doings[lane.doing][this.themeName].solid;
      lane.share.forEach((share, i) => {
        if (!share) return;
        const left = Math.round(map.x + i * piece), right = Math.round(map.x + (i + 1) * piece);
        this.ink.globalAlpha = 0.3 + 0.7 * share / 100;
        this.ink.fillRect(left, map.y + 3 + n * 6, right - left, 5);
      });
      this.ink.globalAlpha = 1;
    });
    if (this.showsAll()) return;
    const at = cycle => map.x + cycle / whole * map.width, left = at(this.from), right = Math.max(at(this.to), left + 3);
    this.ink.globalAlpha = 0.65;
    this.rectangle(map.x, map.y, left - map.x, map.height, this.theme.paper);
    this.rectangle(right, map.y, map.x + map.width - right, map.height, this.theme.paper);
    this.ink.globalAlpha = 1;
    this.plate(left, map.y + 0.5, right - left, map.height - 1, null, this.theme.text, 2);
  }
  showsAll() { return this.to - this.from >= Math.max(this.data.end, 8) * 0.999; }

  drawAxis() {
    const {axis, lanes, data, theme} = this, clock = data.clock;
    const draw = (y, name, unit, down) => {
      this.write(name, axis.x - 8, y, {colour: theme.quiet, align: "right"});
      for (const [cycle, text] of TimelineWords.ticks(this.from, this.to, lanes.width, unit)) {
        const x = Math.round(this.x(cycle)) + 0.5;
        if (down) {
          this.ink.globalAlpha = 0.18;
          this.line(x, lanes.y, x, lanes.y + lanes.height, theme.quiet);
          this.ink.globalAlpha = 1;
        }
        if (x + 4 + this.widthOf(text, true) > axis.x + axis.width) continue;
        this.line(x, y - 6, x, y + 6, theme.line);
        this.write(text, x + 4, y, {colour: theme.quiet, mono: true});
      }
    };
    draw(axis.y + 10, `${data.unit}s`, 1, true);
    if (clock > 0) {
      const [name, unit] = TimelineWords.timeUnit(this.to, clock);
      draw(axis.y + 30, name, unit, false);
    }
  }

  drawLabels() {
    const {lanes, theme, data} = this, ink = this.ink;
    ink.save();
    ink.beginPath();
    ink.rect(0, lanes.y, this.width, lanes.height);
    ink.clip();
    for (const row of this.rows) {
      const known = row.group ? data.groups[row.place] : data.tracks[row.place];
      const x = 22 + 12 * row.level, y = row.y + row.height / 2, bold = row.group && row.level === 0, room = lanes.x - 8 - x;
      if (row.group) {
        const m = x - 14;
        ink.strokeStyle = theme.quiet;
        ink.lineWidth = 1.5;
        ink.beginPath();
        const points = row.open ? [[m, y - 2], [m + 4, y + 2], [m + 8, y - 2]] : [[m + 2, y - 4], [m + 6, y], [m + 2, y + 4]];
        points.forEach(([px, py], i) => i ? ink.lineTo(px, py) : ink.moveTo(px, py));
        ink.stroke();
      }
      const label = this.fitted(known.label, room, bold), wide = this.widthOf(label, false, bold);
      this.write(label, x, y, {bold});
      if (known.detail && wide + 8 + this.widthOf(known.detail) <= room) this.write(known.detail, x + wide + 8, y, {colour: theme.quiet});
      const bottom = Math.round(row.y + row.height) - 0.5;
      this.line(0, bottom, lanes.x + lanes.width, bottom, theme.line);
    }
    ink.restore();
    this.line(0, lanes.y - 0.5, lanes.x + lanes.width, lanes.y - 0.5, theme.line);
    this.line(lanes.x - 0.5, this.axis.y, lanes.x - 0.5, lanes.y + lanes.height, theme.line);
  }

  // ---- Arrows -------------------------------------------------------------------------------------

  // The middle of an event's box; of what is folded, of its row; of what is scrolled away, the edge.
  middleOf(i) {
    const track = this.model.track[i];
    let row = this.rowOf.get(track);
    for (const group of this.model.groupsOfTrack.get(track) || []) {
      if (this.open[group]) continue;
      row = this.rowOf.get(-1 - group);
      break;
    }
    if (!row) return this.lanes.y;
    const y = row.group ? row.y + row.height / 2 : this.boxOf(row, i).y + this.boxOf(row, i).height / 2;
    return Math.min(Math.max(y, this.lanes.y), this.lanes.y + this.lanes.height);
  }

  // Answers where it went, or null where it is out of sight.
  arrow(cause, effect, colour, width) {
    const [from, to] = TimelineModel.arrowTimes(this.model, cause, effect);
    const a = {x: this.x(from), y: this.middleOf(cause)}, b = {x: this.x(to), y: this.middleOf(effect)};
    const {x: left, width: wide} = this.lanes;
    if (Math.max(a.x, b.x) < left || Math.min(a.x, b.x) > left + wide) return null;
    const length = Math.hypot(b.x - a.x, b.y - a.y), ink = this.ink;
    if (length < 1) return null;
    ink.globalAlpha = 0.85;
    this.line(a.x, a.y, b.x, b.y, this.theme.paper, width + 2);
    ink.globalAlpha = 1;
    this.line(a.x, a.y, b.x, b.y, colour, width);
    const head = Math.min(5 + 2 * width, length), u = (b.x - a.x) / length, v = (b.y - a.y) / length;
    ink.fillStyle = colour;
    ink.beginPath();
    ink.moveTo(b.x, b.y);
    ink.lineTo(b.x - head * u + head * 0.4 * v, b.y - head * v - head * 0.4 * u);
    ink.lineTo(b.x - head * u - head * 0.4 * v, b.y - head * v + head * 0.4 * u);
    ink.fill();
    return [a, b];
  }

  drawAllArrows() {
    const tracks = this.rows.filter(row => !row.group).map(row => row.place);
    const all = TimelineModel.arrowsIn(this.model, tracks, this.from, this.to, 150);
    this.root.querySelector(".arrows").title = all.more
      ? "too many arrows: zoom in to see them (A)" : "arrows from causes to effects of all that is seen (A)";
    if (all.more) return;
    for (const [cause, effect] of all.arrows) this.arrow(cause, effect, this.theme.quiet, 1);
  }

  // What led to an event, and what came of it, with what each arrow carries.
  drawChain(event, labelled) {
    const model = this.model, chain = [];
    let effect = event;
    for (const cause of TimelineModel.causesOf(model, event)) {
      chain.push([cause, effect, 2]);
      effect = cause;
    }
    for (const each of TimelineModel.effectsOf(model, event)) chain.push([event, each, 1]);
    const labels = [];
    for (const [cause, to, width] of chain.reverse()) {
      const ends = this.arrow(cause, to, this.theme.accent, width);
      const text = this.data.texts[model.carried[to]];
      if (ends && labelled && text && model.cause[to] === cause) labels.push([ends, text]);
    }
    const taken = [];
    for (const [[a, b], text] of labels.reverse()) this.labelArrow(a, b, text, taken);
  }
  labelArrow(a, b, text, taken) {
    const wide = this.widthOf(text) + 10, {x, y, width, height} = this.lanes;
    for (const share of [0.5, 0.35, 0.65, 0.2, 0.8]) {
      const box = {x: a.x + (b.x - a.x) * share - wide / 2, y: a.y + (b.y - a.y) * share - 9};
      box.x = Math.min(Math.max(box.x, x), Math.max(x, x + width - wide));
      if (box.y < y || box.y + 18 > y + height) continue;
      if (taken.some(o => box.x < o.x + o.width && o.x < box.x + wide && Math.abs(o.y - box.y) < 18)) continue;
      taken.push({...box, width: wide});
      this.plate(box.x, box.y, wide, 18, this.theme.paper, this.theme.accent, 3);
      this.write(text, box.x + wide / 2, box.y + 9, {align: "center"});
      return;
    }
  }

  // ---- What is over the rows ------------------------------------------------------------------------

  drawOver() {
    this.begin(this.over);
    this.clipped(() => {
      this.drawHits();
      if (this.selected >= 0) this.drawChain(this.selected, true);
      if (this.hovered >= 0 && this.hovered !== this.selected) {
        this.drawChain(this.hovered, false);
        this.frame(this.hovered, this.theme.text, [3, 2]);
      }
      if (this.selected >= 0) this.frame(this.selected, this.theme.accent, []);
    });
    if (this.totals) this.drawTotals();
  }
  frame(event, colour, dash) {
    const row = this.rowOf.get(this.model.track[event]);
    if (!row) return;
    const box = this.boxOf(row, event), ink = this.ink;
    const left = Math.max(box.x, this.lanes.x), right = Math.min(box.x + box.width, this.lanes.x + this.lanes.width);
    if (right < left) return;
    ink.strokeStyle = colour;
    ink.lineWidth = dash.length ? 1.5 : 2;
    ink.setLineDash(dash);
    ink.strokeRect(left - 1, box.y - 1, right - left + 2, box.height + 2);
    ink.setLineDash([]);
  }
  drawHits() {
    let last = new Map();
    for (const event of this.hits) {
      if (this.model.stop[event] < this.from || this.model.begin[event] > this.to) continue;
      const row = this.rowOf.get(this.model.track[event]);
      if (!row || row.y > this.height || row.y + row.height < this.lanes.y) continue;
      const box = this.boxOf(row, event), left = Math.max(box.x, last.get(row) || 0);
      if (box.x + box.width <= left) continue;
      const right = Math.max(box.x + box.width - 1, left + 3);
      last.set(row, right);
      this.rectangle(left, box.y + box.height - 2, right - left, 3, this.theme.accent);
    }
  }
  drawTotals() {
    const [from, to] = this.totals, {x, y, width, height} = this.lanes, clamp = at => Math.min(Math.max(at, x), x + width);
    const left = clamp(this.x(from)), right = clamp(this.x(to));
    this.ink.globalAlpha = 0.12;
    this.rectangle(left, y, right - left, height, this.theme.accent);
    this.ink.globalAlpha = 1;
    for (const at of [left, right]) this.line(at, this.axis.y, at, y + height, this.theme.accent);
    const text = TimelineWords.lengthText(this.data, to - from), wide = this.widthOf(text, false, true) + 16;
    const at = Math.min(Math.max((left + right - wide) / 2, x), Math.max(x, x + width - wide));
    this.plate(at, y + 4, wide, 20, this.theme.panel, this.theme.accent);
    this.write(text, at + wide / 2, y + 14, {bold: true, align: "center"});
  }
}
