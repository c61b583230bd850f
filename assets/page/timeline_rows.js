// The rows of a timeline: boxes of events, what is too short for that as shares of its time, words in
// boxes, steps of K, reports (viz/timeline/timeline_raster.cpp, timeline_scene.cpp).
"use strict";

class TimelineRows extends TimelinePaint {
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
      for (const saying of TimelineWords.sayings(model, i)) {
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
}
