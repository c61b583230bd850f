// A timeline's record as its page has it: what is where in time, what caused what, how much of which
// there is. What is said of it is in timeline_words.js. Neither needs a page: tests/python/timeline_page.js
// runs them in node.
//
// The data is what viz/timeline/timeline_data.h describes. Times are cycles, or instructions where
// the record has no time. An event is its number, a row is {group, place, level, open}.
"use strict";

const TimelineModel = (() => {
  const RUN = 0, WAIT = 1, OPERATION = 2, ARRIVAL = 3, PHASE = 4, REPORT = 5, FOLDED = 6;
  const NONE = -1;

  // ---- Events -----------------------------------------------------------------------------------

  // Columns as arrays of numbers: begins and causes are added up, and effects found.
  function unpack(data) {
    const e = data.events, n = e.begin.length;
    const model = {
      data, count: n, end: data.end,
      first: new Uint32Array(data.tracks.length + 1),  // by track: its events are [first, next first)
      track: new Uint32Array(n), begin: new Float64Array(n), until: Int32Array.from(e.until),
      stop: new Float64Array(n), open: new Uint8Array(n),
      reach: new Float64Array(n),  // the latest end among its track's events up to here
      kind: Uint8Array.from(e.kind), doing: Uint16Array.from(e.doing), text: Uint32Array.from(e.text),
      amount: Float64Array.from(e.amount), pc: Int32Array.from(e.pc), a: Float64Array.from(e.a),
      b: Float64Array.from(e.b), carried: Uint32Array.from(e.carried), issue: Float64Array.from(e.issue),
      lane: Uint8Array.from(e.lane), on: Uint32Array.from(e.on), step: Uint32Array.from(e.step), cause: new Int32Array(n),
      densities: new Map(), stripes: new Map(),
    };
    let i = 0, cause = 0;
    data.tracks.forEach((track, t) => {
      model.first[t] = i;
      let at = 0, reach = -Infinity;
      for (const last = i + track.events; i < last; ++i) {
        at += e.begin[i];
        model.track[i] = t;
        model.begin[i] = at;
        model.open[i] = e.length[i] < 0 ? 1 : 0;
        model.stop[i] = e.length[i] < 0 ? Math.max(data.end, at) : at + e.length[i];
        model.reach[i] = reach = Math.max(reach, model.stop[i]);
        const step = e.cause[i];
        if (step !== 0) cause += step > 0 ? step - 1 : step;
        model.cause[i] = step === 0 ? NONE : cause;
      }
    });
    model.first[data.tracks.length] = i;
    findEffects(model);
    findGroups(model);
    return model;
  }

  function findEffects(model) {
    const at = new Uint32Array(model.count + 1);
    for (const cause of model.cause) if (cause >= 0) ++at[cause + 1];
    for (let i = 0; i < model.count; ++i) at[i + 1] += at[i];
    const next = at.slice(), effects = new Uint32Array(at[model.count]);
    model.cause.forEach((cause, i) => { if (cause >= 0) effects[next[cause]++] = i; });
    model.effectsFrom = at;
    model.allEffects = effects;
  }

  // Of each track and group the groups around it, the outermost first.
  function findGroups(model) {
    const all = model.data.rows.all, around = [];
    model.groupsOfTrack = new Map();
    model.groupsOfGroup = new Map();
    for (let i = 0; i < all.length; i += 3) {
      around.length = all[i + 2];
      (all[i] ? model.groupsOfGroup : model.groupsOfTrack).set(all[i + 1], around.slice());
      if (all[i]) around.push(all[i + 1]);
    }
  }

  // The first place in [low, high) of which it is true, of what is false first.
  function firstWhere(low, high, holds) {
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(middle)) high = middle; else low = middle + 1;
    }
    return low;
  }

  // Events of a track that are in [from, to): all of them are in [low, high), and a few others.
  function eventsIn(model, track, from, to) {
    const first = model.first[track], last = model.first[track + 1];
    return [firstWhere(first, last, i => model.reach[i] >= from), firstWhere(first, last, i => model.begin[i] >= to)];
  }

  // What an event came from, nearest first: a run goes on since its wait was over.
  function causesOf(model, event, most = 16) {
    const out = [];
    while (event >= 0 && out.length < most) {
      let cause = model.cause[event];
      if (cause < 0 && model.kind[event] === RUN) cause = waitBefore(model, event);
      if (cause < 0 || out.includes(cause)) break;
      out.push(cause);
      event = cause;
    }
    return out;
  }

  function waitBefore(model, run) {
    for (let i = run - 1; i >= model.first[model.track[run]]; --i) {
      if (model.kind[i] !== WAIT) continue;
      const apart = model.begin[run] - model.stop[i];
      return apart >= 0 && apart <= 1 ? i : NONE;
    }
    return NONE;
  }

  function effectsOf(model, event, most = 32) {
    const from = model.effectsFrom[event], to = Math.min(model.effectsFrom[event + 1], from + most);
    return Array.from(model.allEffects.subarray(from, to));
  }

  // When an effect was brought about, and when its cause had done that (timeline_arrows.cpp).
  function arrowTimes(model, cause, effect) {
    let to = model.begin[effect];
    if (model.kind[effect] === WAIT || model.kind[effect] === PHASE) to = model.stop[effect];
    else if (model.kind[effect] === OPERATION && model.kind[cause] !== OPERATION) to -= model.issue[effect];
    return [Math.min(Math.max(to, model.begin[cause]), Math.max(model.stop[cause], model.begin[cause])), to];
  }

  // Pairs [cause, effect] of which one is an event of these tracks in [from, to); `more`: there are
  // more than so many.
  function arrowsIn(model, tracks, from, to, most) {
    const seen = new Set(), arrows = [];
    let looked = 0;
    const add = (cause, effect) => {
      if (seen.has(effect)) return;
      seen.add(effect);
      arrows.push([cause, effect]);
    };
    for (const track of tracks) {
      const [low, high] = eventsIn(model, track, from, to);
      for (let i = low; i < high; ++i) {
        if (arrows.length > most || ++looked > 16 * most) return {arrows: [], more: true};
        if (model.stop[i] < from) continue;
        if (model.cause[i] >= 0) add(model.cause[i], i);
        for (const effect of effectsOf(model, i, most)) add(i, effect);
      }
    }
    return {arrows, more: arrows.length > most};
  }

  // ---- Rows -------------------------------------------------------------------------------------

  function visibleRows(data, open) {
    const all = data.rows.all, rows = [];
    for (let i = 0; i < all.length;) {
      const row = {group: all[i] === 1, place: all[i + 1], level: all[i + 2], open: false};
      row.open = row.group && open[row.place];
      rows.push(row);
      i += 3;
      if (row.group && !row.open) while (i < all.length && all[i + 2] > row.level) i += 3;
    }
    return rows;
  }

  const lineHeight = 22, foldedHeight = 34, laneHeight = 14, padding = 2;
  function heightOf(data, row) {
    if (row.group) return !row.open && data.groups[row.place].stripes ? foldedHeight : lineHeight;
    const lanes = data.tracks[row.place].lanes;
    return lanes > 1 ? 2 * padding + lanes * laneHeight : lineHeight;
  }

  function tracksOf(data, row) {
    if (!row.group) return [row.place];
    const group = data.groups[row.place];
    return data.rows.tracks.slice(group.first, group.first + group.count);
  }

  // ---- How much of what: a track cut into equal pieces, as sums from the left --------------------

  class Density {
    constructor(begin, end, pieces) {
      const length = Math.max(end - begin, 1);
      this.begin = begin;
      this.width = Math.max(1, Math.ceil(length / Math.max(pieces, 1)));
      this.pieces = Math.ceil(length / this.width);
      this.doings = [];
      this.sums = [];
    }
    // `cycles` spread evenly over [begin, end).
    add(doing, begin, end, cycles = end - begin) {
      if (!(end > begin) || !(cycles > 0)) return;
      let k = this.doings.indexOf(doing);
      if (k < 0) {
        k = this.doings.push(doing) - 1;
        this.sums.push(new Float64Array(this.pieces + 1));
      }
      const sums = this.sums[k], rate = cycles / (end - begin), last = this.pieces - 1;
      const from = Math.max(0, Math.min(last, Math.floor((begin - this.begin) / this.width)));
      const to = Math.max(from, Math.min(last, Math.ceil((end - this.begin) / this.width) - 1));
      for (let piece = from; piece <= to; ++piece) {
        const left = piece === from ? begin : this.begin + piece * this.width;
        const right = piece === to ? end : this.begin + (piece + 1) * this.width;
        sums[piece + 1] += (right - left) * rate;
      }
    }
    close() {
      for (const sums of this.sums) for (let i = 0; i < this.pieces; ++i) sums[i + 1] += sums[i];
      return this;
    }
    before(k, time) {
      const at = (time - this.begin) / this.width, sums = this.sums[k];
      if (at <= 0) return 0;
      if (at >= this.pieces) return sums[this.pieces];
      const piece = Math.floor(at);
      return sums[piece] + (sums[piece + 1] - sums[piece]) * (at - piece);
    }
  }

  function addTrack(model, track, density) {
    const does = model.data.tracks[track].does;
    let busyUntil = -Infinity;
    for (let i = model.first[track]; i < model.first[track + 1]; ++i) {
      const begin = model.begin[i], end = model.stop[i];
      switch (model.kind[i]) {
        case RUN: density.add(does, begin, end); break;
        case WAIT: density.add(model.doing[i], begin, end); break;
        case OPERATION:  // time in which at least one works counts once
          if (end > busyUntil) density.add(does, Math.max(begin, busyUntil), end);
          busyUntil = Math.max(busyUntil, end);
          break;
        case FOLDED:
          density.add(does, begin, end, model.a[i]);
          if (model.doing[i] !== does) density.add(model.doing[i], begin, end, model.b[i]);
          break;
      }
    }
  }

  function densityOf(model, track) {
    let density = model.densities.get(track);
    if (!density) {
      const first = model.first[track], last = model.first[track + 1];
      const begin = first < last ? model.begin[first] : 0, end = first < last ? model.reach[last - 1] : 1;
      density = new Density(begin, end, Math.min(65536, Math.max(256, (last - first) / 2)));
      addTrack(model, track, density);
      model.densities.set(track, density.close());
    }
    return density;
  }

  // Of a folded group, from top to bottom: what its warps do together, then each unit.
  function stripesOf(model, place) {
    let stripes = model.stripes.get(place);
    if (stripes) return stripes;
    const data = model.data, group = data.groups[place], units = new Map();
    stripes = [];
    for (const track of tracksOf(data, {group: true, place})) {
      const unit = data.tracks[track].unit, warp = unit === "warp";
      if (group.kind === BARRIERS || (!warp && (unit === "commit" || !densityOf(model, track).doings.length))) continue;
      if (!units.has(unit)) units.set(unit, {tracks: [], height: warp && group.kind !== ROLE ? 2 : 1, begin: group.begin, end: group.end});
      units.get(unit).tracks.push(track);
    }
    for (const [unit, stripe] of units) {
      let events = 0;
      for (const track of stripe.tracks) events += data.tracks[track].events;
      stripe.of = stripe.tracks.length;
      stripe.density = new Density(group.begin, group.end, Math.min(16384, Math.max(512, events / 8)));
      for (const track of stripe.tracks) addTrack(model, track, stripe.density);
      stripe.density.close();
      if (unit === "warp") stripes.unshift(stripe); else stripes.push(stripe);
    }
    model.stripes.set(place, stripes);
    return stripes;
  }
  const ROLE = 3, BARRIERS = 4;  // TimelineView::Group::Kind

  // [doing, share] of a row in [from, to): what runs or works first, then waits, the longest first.
  function sharesOf(model, row, from, to) {
    const sums = new Map();
    const units = new Map();  // by doing that is no wait: of how many tracks
    let warps = 0;
    for (const track of tracksOf(model.data, row)) {
      const density = densityOf(model, track), does = model.data.tracks[track].does;
      if (!density.doings.length) continue;
      if (model.data.tracks[track].unit === "warp") ++warps;
      else units.set(does, (units.get(does) || 0) + 1);
      density.doings.forEach((doing, k) => {
        sums.set(doing, (sums.get(doing) || 0) + density.before(k, to) - density.before(k, from));
      });
    }
    const out = [];
    for (const [doing, cycles] of sums) {
      const of = (units.get(doing) || warps || 1) * (to - from);
      if (cycles / of >= 0.0005) out.push([doing, cycles / of]);
    }
    const waits = doing => model.data.doings[doing].letter !== undefined;
    return out.sort((x, y) => waits(x[0]) - waits(y[0]) || y[1] - x[1]);
  }

  function sharesText(model, row, from, to) {
    return sharesOf(model, row, from, to).map(([doing, share]) => {
      const known = model.data.doings[doing], warp = known.text === "runs";
      const name = known.letter ? `${known.letter} ${known.what}` : row.group || warp ? known.text : "works";
      return `${name} ${(100 * share).toFixed(1)}%`;
    }).join(", ");
  }

  return {
    RUN, WAIT, OPERATION, ARRIVAL, PHASE, REPORT, FOLDED, NONE, Density, unpack, eventsIn, causesOf, effectsOf,
    arrowTimes, arrowsIn, visibleRows, heightOf, tracksOf, densityOf, stripesOf, sharesOf, sharesText, padding,
  };
})();

if (typeof module !== "undefined") module.exports = TimelineModel;
