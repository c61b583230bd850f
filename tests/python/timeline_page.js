// What a timeline's page reads out of its data, for test_timeline.py: node timeline_page.js assets/page DATA
// writes it as JSON.
"use strict";
const fs = require("fs");
const M = require(process.argv[2] + "/timeline_model.js"), W = require(process.argv[2] + "/timeline_words.js");
const data = JSON.parse(fs.readFileSync(process.argv[3], "utf8"));
const model = M.unpack(data);
const units = data.tracks.map(track => track.unit);
const all = Array.from({length: model.count}, (_, i) => i);
const rows = M.visibleRows(data, data.groups.map(group => group.open));

// Of every wait for an mbarrier: its row, and the units that its chain of causes leads through.
const chains = all.filter(i => model.kind[i] === M.WAIT && data.doings[model.doing[i]].letter === "m")
  .map(i => [data.tracks[model.track[i]].label, M.causesOf(model, i).map(cause => units[model.track[cause]])]);

// Arrows both ways: who has a cause is among the effects of that.
const both = all.every(i => model.cause[i] < 0 || M.effectsOf(model, model.cause[i], 1e9).includes(i));

// Shares of warps by sums of pieces beside shares by events.
const shares = [];
data.tracks.forEach((track, t) => {
  if (track.unit !== "warp") return;
  let ran = 0;
  for (let i = model.first[t]; i < model.first[t + 1]; ++i) if (model.kind[i] === M.RUN) ran += model.stop[i] - model.begin[i];
  const found = M.sharesOf(model, {group: false, place: t}, 0, data.end).find(([doing]) => data.doings[doing].text === "runs");
  shares.push([ran / data.end, found ? found[1] : 0]);
});

// Every event is found where it is, by halves.
let lost = 0;
for (const i of all) {
  const [low, high] = M.eventsIn(model, model.track[i], model.begin[i], model.begin[i] + 1);
  if (i < low || i >= high) ++lost;
}

process.stdout.write(JSON.stringify({
  rows: rows.map(row => (row.group ? data.groups : data.tracks)[row.place].label), chains, both, shares, lost,
  ran: all.reduce((sum, i) => sum + (model.kind[i] === M.RUN ? model.amount[i] : 0), 0),
  copied: all.reduce((sum, i) => sum + (model.kind[i] === M.OPERATION && units[model.track[i]] === "copies in" ? model.amount[i] : 0), 0),
  found: W.find(model, "full[0]").length, nothing: W.find(model, "no such words").length,
  sayings: all.slice(0, 50).map(i => W.sayings(model, i)), inspected: all.map(i => Object.fromEntries(W.inspect(model, i))),
  words: [W.grouped(1234567), W.secondsText(1234, 2), W.secondsText(1, 2), W.secondsText(5e6, 2), W.bytesText(16384), W.bytesText(100)],
  ticks: W.ticks(0, 1000, 800).map(([at, text]) => text), zoomed: W.zoomed(1000, 0, 1000, 250, 4), ends: W.rangeWithin(1000, 900, 1300),
}));
