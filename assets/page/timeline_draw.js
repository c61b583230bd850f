// A timeline drawn as the window draws it (viz/timeline): rows, axis, all of the run, arrows.
//
// Two canvases: `base` holds what changes with what is seen; `over` holds what is pointed at,
// selected and added up.
"use strict";

class TimelineDrawing extends TimelinePaint {
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
      for (const [cycle, text] of TimelineModel.ticks(this.from, this.to, lanes.width, unit)) {
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
      const [name, unit] = TimelineModel.timeUnit(this.to, clock);
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

  // ---- Rows ---------------------------------------------------------------------------------------

  bodyOf(row) { return {y: row.y + TimelineModel.padding, height: row.height - 2 * TimelineModel.padding}; }

  drawRow(row) {
    this.layers = [new Map(), new Map(), new Map()];  // rectangles by their fill: behind, the boxes, before
    if (!row.group) this.drawTrack(row);
    else if (row.open || !this.drawFolded(row)) this.drawLife(row);
    for (const layer of this.layers) this.paint(layer);
    if (row.group) return;
    this.drawSayings(row);
    this.drawStepRuns(row);
  }
  put(layer, fill, x, y, width, height) {
    const left = Math.max(x, this.lanes.x - 8), right = Math.min(x + width, this.lanes.x + this.lanes.width + 8);
    if (right <= left) return;
    let all = this.layers[layer].get(fill);
    if (!all) this.layers[layer].set(fill, all = []);
    all.push(left, y, right - left, height);
  }
  paint(layer) {
    for (const [fill, all] of layer) {
      this.ink.fillStyle = typeof fill === "number" ? this.fillOf(fill) : fill;
      this.ink.beginPath();
      for (let i = 0; i < all.length; i += 4) this.ink.rect(all[i], all[i + 1], all[i + 2], all[i + 3]);
      this.ink.fill();
    }
  }

  drawLife(row) {
    const group = this.data.groups[row.place], x = this.x(group.begin);
    this.put(0, this.theme.line, x, row.y + row.height / 2 - 1, this.x(group.end) - x, 2);
  }
  drawFolded(row) {
    const stripes = TimelineModel.stripesOf(this.model, row.place), body = this.bodyOf(row);
    if (!stripes.length) return false;
    const parts = stripes.reduce((sum, stripe) => sum + stripe.height, 0);
    let y = body.y;
    for (const stripe of stripes) {
      const height = body.height * stripe.height / parts;
      this.drawShares(stripe.density, Math.max(this.from, stripe.begin), Math.min(this.to, stripe.end), y,
                      height - (stripes.length > 1 ? 1 : 0), stripe.of);
      y += height;
    }
    return true;
  }

  // Of two pixels' time, so much of the height has the colour of a doing, from the bottom up.
  drawShares(density, from, to, y, height, of = 1) {
    const step = this.cyclesOfPixel() * 2, order = density.doings.map((doing, k) => k);
    const waits = k => this.data.doings[density.doings[k]].hatch !== undefined;
    order.sort((a, b) => waits(a) - waits(b) || density.doings[a] - density.doings[b]);
    const before = order.map(k => density.before(k, from));
    for (let at = from; at < to; at += step) {
      const end = Math.min(at + step, to), x = this.x(at), width = this.x(end) - x;
      let bottom = y + height, whole = (end - at) * of, sum = 0;
      const parts = order.map((k, n) => {
        const now = density.before(k, end), part = now - before[n];
        before[n] = now;
        sum += part;
        return part;
      });
      whole = Math.max(whole, sum);
      parts.forEach((part, n) => {
        if (!(part > 0)) return;
        const high = height * part / whole;
        this.put(1, density.doings[order[n]], x, bottom - high, width, high);
        bottom -= high;
      });
    }
  }

  // Which of a track's events are seen; null: too many to be drawn one by one.
  seen(track) {
    const queue = Math.min(this.data.tracks[track].queue, this.to - this.from);
    const [low, high] = TimelineModel.eventsIn(this.model, track, this.from, this.to + queue);
    return high - low > Math.max(3000, 4 * this.lanes.width) ? null : [low, high];
  }

  boxOf(row, i) {
    const model = this.model, body = this.bodyOf(row);
    let {y, height} = body;
    if (model.kind[i] === TimelineModel.OPERATION) {
      height /= this.data.tracks[row.place].lanes;
      y += height * model.lane[i];
    }
    const x = this.x(model.begin[i]);
    return {x, y, width: Math.max(this.x(model.stop[i]) - x, 1), height};
  }

  drawTrack(row) {
    const M = TimelineModel, model = this.model, range = this.seen(row.place), body = this.bodyOf(row), theme = this.theme;
    if (!range) {
      const density = M.densityOf(model, row.place);
      if (density.doings.length) {
        this.drawShares(density, Math.max(this.from, density.begin), this.to, body.y, body.height);
      } else {
        const first = model.first[row.place], last = model.first[row.place + 1] - 1, x = this.x(model.begin[first]);
        this.put(1, theme.phases[1], x, body.y, this.x(model.reach[last]) - x, body.height);
      }
      return;
    }
    const does = this.data.tracks[row.place].does, lanes = this.data.tracks[row.place].lanes;
    const column = {at: -1, parts: new Map()};  // what is shorter than a pixel, together
    for (let i = range[0]; i < range[1]; ++i) {
      if (model.stop[i] < this.from) continue;
      const box = this.boxOf(row, i), kind = model.kind[i], wide = box.width >= 4 ? box.width - 1 : box.width;
      const exact = (model.stop[i] - model.begin[i]) / this.cyclesOfPixel();
      switch (kind) {
        case M.RUN: case M.WAIT: {
          const doing = kind === M.RUN ? does : model.doing[i];
          if (exact < 1) this.addToColumn(column, body, box.x, [[doing, exact]]);
          else this.put(1, doing, box.x, box.y, wide, box.height);
          break;
        }
        case M.OPERATION:
          if (model.issue[i] > 0) {
            const x = this.x(model.begin[i] - model.issue[i]);
            this.put(0, this.coloursOf(this.data.doings[does]).flight, x, box.y + box.height / 3, box.x - x, box.height / 3);
          }
          this.put(1, this.operationFill(i, does), box.x, box.y, wide, box.height - (lanes > 1 ? 1 : 0));
          break;
        case M.PHASE:
          this.put(1, (this.bySteps ? theme.grey_phases : theme.phases)[model.a[i] % 2], box.x, box.y, wide, box.height);
          break;
        case M.ARRIVAL:
          this.put(2, theme.text, box.x, box.y, 1, box.height / 2);
          break;
        case M.FOLDED: {
          const length = Math.max(model.stop[i] - model.begin[i], 1), parts = [[does, model.a[i] / length]];
          if (model.doing[i] !== does) parts.push([model.doing[i], model.b[i] / length]);
          if (exact < 1) {
            this.addToColumn(column, body, box.x, parts.map(([doing, share]) => [doing, share * exact]));
          } else {
            this.stack(parts, Math.max(1, parts.reduce((sum, part) => sum + part[1], 0)), box.x, box.width, body);
          }
          break;
        }
      }
    }
    this.closeColumn(column, body);
  }
  // Its unit's colour; or, where steps have hues, its step's.
  operationFill(i, does) {
    if (!this.bySteps) return does;
    return this.model.step[i] ? this.theme.steps[(this.model.step[i] - 1) % 21][0] : this.theme.other;
  }
  operationInk(i, does) {
    if (this.bySteps && this.model.step[i]) return this.theme.steps[(this.model.step[i] - 1) % 21][1];
    return this.bySteps ? this.theme.text : this.data.doings[does][this.themeName].ink;
  }
  addToColumn(column, body, x, parts) {
    const at = Math.floor(x);
    if (at !== column.at) {
      this.closeColumn(column, body);
      column.at = at;
    }
    for (const [doing, share] of parts) column.parts.set(doing, (column.parts.get(doing) || 0) + share);
  }
  closeColumn(column, body) {
    if (!column.parts.size) return;
    const parts = Array.from(column.parts), sum = parts.reduce((all, part) => all + part[1], 0);
    this.stack(parts, Math.max(sum, 0.25), column.at, 1, body);
    column.parts.clear();
  }
  stack(parts, whole, x, width, body) {
    let bottom = body.y + body.height;
    for (const [doing, share] of parts) {
      const high = body.height * share / whole;
      if (high > 0) this.put(1, doing, x, bottom - high, width, high);
      bottom -= high;
    }
  }

  // Words in boxes: the longest that fits.
  drawSayings(row) {
    const M = TimelineModel, model = this.model, range = this.seen(row.place);
    if (!range) return;
    const limits = [];  // by lane: where the next box begins
    for (let i = range[1] - 1; i >= range[0]; --i) {
      const kind = model.kind[i];
      if (kind === M.ARRIVAL || kind === M.REPORT || kind === M.FOLDED || model.stop[i] < this.from) continue;
      const box = this.boxOf(row, i), lane = kind === M.OPERATION ? model.lane[i] : 0;
      const left = Math.max(box.x, this.lanes.x);
      const right = Math.min(box.x + box.width, this.lanes.x + this.lanes.width, limits[lane] === undefined ? Infinity : limits[lane]);
      limits[lane] = box.x;
      if (right - left < 14) continue;
      for (const saying of M.sayings(model, i)) {
        const wide = this.widthOf(saying);
        if (wide > right - left - 6) continue;
        let colour = this.theme.text;
        if (kind === M.WAIT) {
          this.rectangle(left + 1, box.y + 1, wide + 6, box.height - 2, this.coloursOf(this.data.doings[model.doing[i]]).ground);
        } else if (kind !== M.PHASE) {
          const does = this.data.tracks[row.place].does;
          colour = kind === M.OPERATION ? this.operationInk(i, does) : this.data.doings[does][this.themeName].ink;
        }
        this.write(saying, left + 4, box.y + box.height / 2, {colour});
        break;
      }
    }
  }

  // Products are short: their step is said over all that are of one.
  drawStepRuns(row) {
    const model = this.model, range = this.seen(row.place), runs = [];  // by lane
    if (!range || this.data.tracks[row.place].unit !== "tensor core") return;
    const does = this.data.tracks[row.place].does, left = this.lanes.x, right = left + this.lanes.width;
    const say = run => {
      const name = `k${run.step - 1}`, wide = this.widthOf(name);
      if (run.widest >= Math.max(14, wide + 6) || run.right - run.left < wide + 4) return;
      const middle = (run.left + run.right) / 2, fill = this.operationFill(run.event, does);
      this.rectangle(middle - wide / 2 - 2, run.y, wide + 4, run.height - 1, typeof fill === "number" ? this.fillOf(fill) : fill);
      this.write(name, middle, run.y + run.height / 2, {colour: this.operationInk(run.event, does), align: "center"});
    };
    for (let i = range[0]; i < range[1]; ++i) {
      const box = this.boxOf(row, i), lane = model.lane[i], from = Math.max(box.x, left), to = Math.min(box.x + box.width, right);
      if (model.kind[i] !== TimelineModel.OPERATION || to - from < 1) continue;
      let run = runs[lane];
      if (run && (run.step !== model.step[i] || from - run.right > 12)) {
        say(run);
        run = runs[lane] = undefined;
      }
      if (!model.step[i]) continue;
      if (!run) run = runs[lane] = {step: model.step[i], event: i, left: from, right: to, y: box.y, height: box.height, widest: 0};
      run.right = Math.max(run.right, to);
      run.widest = Math.max(run.widest, to - from);
    }
    for (const run of runs) if (run) say(run);
  }

  // What was stored is on its way when nobody works any more.
  drawTail() {
    if (!this.data.tail) return;
    let last = 0;
    for (let t = 0; t < this.data.tracks.length; ++t) {
      const end = this.model.first[t + 1];
      if (end > this.model.first[t]) last = Math.max(last, this.model.reach[end - 1]);
    }
    const left = this.x(last), right = this.x(this.data.end);
    if (right - left < 4) return;
    this.ink.globalAlpha = 0.35;
    this.rectangle(left, this.lanes.y, right - left, this.lanes.height, this.theme.line);
    this.ink.globalAlpha = 1;
    let y = this.lanes.y + 10;
    for (const word of ["stores", "on their", "way"]) {
      if (this.widthOf(word) > right - left - 4) break;
      this.write(word, (left + right) / 2, y, {colour: this.theme.quiet, align: "center"});
      y += 16;
    }
  }

  // A report is a flag that no zoom hides.
  drawReports() {
    this.flags = [];
    if (!this.data.reports.length) return;
    const M = TimelineModel, model = this.model;
    for (const row of this.rows) {
      if (row.group) continue;
      const [low, high] = M.eventsIn(model, row.place, this.from, this.to + 1);  // one at the end, too
      let drawn = 0;
      for (let i = low; i < high && drawn < 16; ++i) {
        if (model.kind[i] !== M.REPORT) continue;
        ++drawn;
        const report = this.data.reports[model.a[i]], fault = !report || report.weight === "fault";
        const x = Math.min(Math.max(this.x(model.begin[i]), this.lanes.x + 8), this.lanes.x + this.lanes.width - 8);
        const y = row.y + row.height / 2;
        this.plate(x - 7, y - 8, 14, 16, fault ? this.theme.wrong : this.theme.text, null, 3);
        this.write("!", x, y, {colour: fault ? this.theme.on_wrong : this.theme.on_text, bold: true, align: "center"});
        this.flags.push({x: x - 7, y: y - 8, event: i});
      }
    }
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
    const text = TimelineModel.lengthText(this.data, to - from), wide = this.widthOf(text, false, true) + 16;
    const at = Math.min(Math.max((left + right - wide) / 2, x), Math.max(x, x + width - wide));
    this.plate(at, y + 4, wide, 20, this.theme.panel, this.theme.accent);
    this.write(text, at + wide / 2, y + 14, {bold: true, align: "center"});
  }
}
