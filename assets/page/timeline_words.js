// What a timeline's page says: of events, times and the axis. The words are the window's
// (viz/timeline/timeline_words.cpp); what depends on the record has come with its data.
"use strict";

if (typeof module !== "undefined") globalThis.TimelineModel = require("./timeline_model.js");

const TimelineWords = (() => {
  const {RUN, WAIT, OPERATION, ARRIVAL, PHASE, REPORT, FOLDED} = TimelineModel;

  function grouped(number) {
    return String(Math.round(Math.max(0, number))).replace(/\B(?=(\d{3})+$)/g, ",");
  }

  function secondsText(cycles, clock) {
    if (!(clock > 0)) return "";
    const ns = cycles / clock;
    if (ns < 10) return `${Number(ns.toPrecision(2))} ns`;
    if (ns < 1000) return `${ns.toFixed(0)} ns`;
    return ns < 1e6 ? `${(ns / 1e3).toFixed(2)} us` : `${(ns / 1e6).toFixed(2)} ms`;
  }

  function cyclesText(data, cycles) {
    const number = grouped(cycles);
    return `${number} ${data.unit}${number === "1" ? "" : "s"}`;
  }

  function timeText(data, cycles) {
    const seconds = secondsText(cycles, data.clock);
    return seconds ? `${grouped(cycles)} (${seconds})` : grouped(cycles);
  }

  function lengthText(data, cycles) {
    const seconds = secondsText(cycles, data.clock);
    return cyclesText(data, cycles) + (seconds ? `, ${seconds}` : "");
  }

  function bytesText(bytes) {
    if (bytes > 0 && bytes % 1048576 === 0) return `${bytes / 1048576} MiB`;
    if (bytes > 0 && bytes % 1024 === 0) return `${bytes / 1024} KiB`;
    return `${bytes} bytes`;
  }

  const isBytes = (model, i) => (model.kind[i] === OPERATION || model.kind[i] === ARRIVAL) && model.b[i] === 1;

  function lineText(model, pc) {
    const line = pc >= 0 ? model.data.lines[pc].line : 0;
    return line ? `line ${line}` : "";
  }

  // What a box says, the longest first: what fits is taken.
  function sayings(model, i) {
    const doing = model.data.doings[model.doing[i]], barrier = model.on[i] ? model.data.barriers[model.on[i] - 1][0] : "";
    const line = lineText(model, model.pc[i]), out = [];
    switch (model.kind[i]) {
      case WAIT: {
        const phase = barrier ? `${barrier} phase ${model.a[i]}` : "";
        if (phase && barrier.startsWith("barrier ")) out.push(`${doing.letter}  waits for ${phase}`);
        else out.push(`${doing.letter}  waits for ${doing.what}${phase ? ": " + phase : ""}`, `${doing.letter}  ${doing.what}`);
        if (phase) out.push(`${doing.letter}  ${phase}`);
        out.push(doing.letter);
        break;
      }
      case RUN:
        if (line) out.push(`${line}, ${grouped(model.amount[i])} instructions`, line);
        break;
      case OPERATION:
        if (model.amount[i] && isBytes(model, i)) {
          if (line) out.push(`${bytesText(model.amount[i])}, ${line}`);
          out.push(bytesText(model.amount[i]));
        }
        if (line) out.push(line);
        if (model.step[i]) {
          const step = `k${model.step[i] - 1}`;
          out.splice(0, out.length, ...out.map(saying => `${step}, ${saying}`), step);
        }
        break;
      case PHASE:
        out.push(`phase ${model.a[i]}`, String(model.a[i]));
        break;
    }
    return out;
  }

  function sentence(model, i) {
    return `${model.data.tracks[model.track[i]].name}: ${model.data.texts[model.text[i]]}`;
  }

  function addTimes(model, i, out) {
    const data = model.data, unit = data.unit, begin = model.begin[i];
    if (model.kind[i] === ARRIVAL || model.kind[i] === REPORT) {
      out.push([`at ${unit}`, timeText(data, begin)]);
      return;
    }
    if (model.kind[i] === OPERATION && model.issue[i] > 0) {
      out.push([`issued at ${unit}`, timeText(data, begin - model.issue[i])], ["before it began", timeText(data, model.issue[i])]);
    }
    out.push([`began at ${unit}`, timeText(data, begin)]);
    out.push(model.open[i] ? ["ended", "not when the record stops"] : [`ended at ${unit}`, timeText(data, model.stop[i])]);
    out.push(["took", lengthText(data, model.stop[i] - begin)]);
  }

  function addAmount(model, i, out) {
    const amount = model.amount[i], unit = model.data.tracks[model.track[i]].unit;
    if (!amount) return;
    if (model.kind[i] === RUN) out.push(["instructions", grouped(amount)]);
    else if (model.kind[i] === FOLDED) out.push(["events", grouped(amount)]);
    else if (isBytes(model, i)) out.push(["bytes", grouped(amount)]);
    else if (model.kind[i] === OPERATION && unit === "tensor core") out.push(["multiply-adds", grouped(amount)]);
  }

  function addWhatFor(model, i, out) {
    const data = model.data, doing = data.doings[model.doing[i]];
    const barrier = () => {
      if (!model.on[i]) return;
      out.push(["barrier", data.barriers[model.on[i] - 1][1]], ["phase", `${model.a[i]} (parity ${model.a[i] % 2})`]);
    };
    switch (model.kind[i]) {
      case WAIT:
        out.push(["waits for", doing.what]);
        barrier();
        break;
      case OPERATION: case PHASE: case ARRIVAL:
        barrier();
        break;
      case REPORT: {
        const report = data.reports[model.a[i]];
        if (!report) break;
        if (report.expected) out.push(["expected", report.expected]);
        if (report.found) out.push(["found", report.found]);
        out.push(["site", report.site]);
        if (report.count > 1) out.push(["times there", grouped(report.count)]);
        break;
      }
      case FOLDED:
        out.push(["ran or worked", cyclesText(data, model.a[i])], ["waited", cyclesText(data, model.b[i])]);
        if (doing.what) out.push(["most of it for", doing.what]);
        break;
      case RUN:
        if (data.clock > 0 && model.a[i] > 0) {
          const all = model.stop[i] - model.begin[i];
          out.push(["of it stalled", `${cyclesText(data, model.a[i])}, each stall under ${data.least_wait}`]);
          if (doing.what) out.push(["most of it for", `${doing.letter} ${doing.what}, ${cyclesText(data, model.b[i])}`]);
          out.push(["of it issuing", cyclesText(data, Math.max(0, all - model.a[i]))]);
        }
        break;
    }
  }

  // Every number of an event with its name, as the window's inspector has them.
  function inspect(model, i) {
    const data = model.data, out = [["row", data.tracks[model.track[i]].name], ["what", data.texts[model.text[i]]]];
    addTimes(model, i, out);
    addAmount(model, i, out);
    if (model.kind[i] === OPERATION && i > model.first[model.track[i]]) {
      const idle = model.begin[i] - model.reach[i - 1];
      if (idle > 0) out.push(["idle before", cyclesText(data, idle)]);
    }
    if (model.step[i]) out.push(["step of K", String(model.step[i] - 1)]);
    addWhatFor(model, i, out);
    if (model.pc[i] >= 0) out.push(...data.lines[model.pc[i]].lines);
    if (model.until[i] >= 0) {
      const last = data.lines[model.until[i]].lines[0];
      if (last) out.push(["up to", last[1]]);
    }
    return out;
  }

  // Events whose words, row or instruction have the text in them, by their begins.
  function find(model, text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    const has = words => words.toLowerCase().includes(wanted);
    const data = model.data, texts = data.texts.map(has), rows = data.tracks.map(track => has(track.name));
    const lines = data.lines.map(line => line.lines.some(([, value]) => has(value)));
    const doings = data.doings.map(doing => has(doing.text)), out = [];
    for (let i = 0; i < model.count; ++i) {
      const wait = model.kind[i] === WAIT && doings[model.doing[i]];
      if (texts[model.text[i]] || wait || rows[model.track[i]] || (model.pc[i] >= 0 && lines[model.pc[i]])) out.push(i);
    }
    return out.sort((x, y) => model.begin[x] - model.begin[y] || x - y);
  }

  // ---- The axis ---------------------------------------------------------------------------------

  // 1, 2 or 5 times a power of ten, no less than asked for.
  function roundStep(least) {
    const power = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1e-12))));
    for (const times of [1, 2, 5]) if (power * times >= least * 0.9999) return power * times;
    return power * 10;
  }

  // [time in cycles, text], at least `apart` pixels from each other; `unit`: cycles of one.
  function ticks(from, to, width, unit = 1, apart = 96) {
    let step = roundStep(apart * (to - from) / width / unit);
    if (unit === 1) step = Math.max(step, 1);
    const digits = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step) - 1e-9)), out = [];
    for (let n = Math.ceil(from / unit / step - 1e-9); n * step * unit <= to && out.length < 1000; ++n) {
      out.push([n * step * unit, digits ? (n * step).toFixed(digits) : grouped(n * step)]);
    }
    return out;
  }

  // The unit in which a time of so many cycles is told.
  function timeUnit(cycles, clock) {
    if (cycles < 2000 * clock) return ["ns", clock];
    return cycles < 2e6 * clock ? ["us", clock * 1e3] : ["ms", clock * 1e6];
  }

  // [from, to) of the run, no shorter than 8 cycles, moved inside where it can be.
  function rangeWithin(end, from, to) {
    const whole = Math.max(end, 8), length = Math.min(Math.max(to - from, 8), whole);
    const left = Math.min(Math.max((from + to - length) / 2, 0), whole - length);
    return [left, left + length];
  }

  // The range zoomed by a factor about a time, which stays where it is.
  function zoomed(end, from, to, at, factor) {
    const whole = Math.max(end, 8), length = Math.min(Math.max((to - from) / factor, 8), whole);
    const share = (at - from) / (to - from);
    const left = Math.min(Math.max(at - share * length, 0), whole - length);
    return [left, left + length];
  }

  return {
    grouped, secondsText, cyclesText, timeText, lengthText, bytesText, sayings, sentence, inspect, find, roundStep, ticks,
    timeUnit, rangeWithin, zoomed,
  };
})();

if (typeof module !== "undefined") module.exports = TimelineWords;
