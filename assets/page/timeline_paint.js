// Ink for the timeline's page: the window's themes, text, hatches, the legend.
"use strict";

class TimelinePaint {
  // What was asked for; else that of the notebook around it, or of the system.
  themeAsked() {
    const asked = this.root.dataset.theme;
    if (asked === "light" || asked === "dark") return asked;
    try {
      const around = window.parent !== window ? window.parent.document.body : null;
      if (around && around.dataset.jpThemeLight) return around.dataset.jpThemeLight === "false" ? "dark" : "light";
      if (around && around.dataset.vscodeThemeKind) return around.dataset.vscodeThemeKind.includes("dark") ? "dark" : "light";
    } catch (refused) { /* another origin: nothing is known of it */ }
    return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  setTheme(name) {
    this.themeName = name;
    this.theme = this.data.themes[name];
    for (const [role, colour] of Object.entries(this.theme)) {
      if (typeof colour === "string") this.root.style.setProperty(`--${role.replace("_", "-")}`, colour);
    }
    this.root.style.colorScheme = name;
    this.patterns = new Map();
    this.drawLegend();
  }

  fontOf(mono, bold) {
    return `${bold ? "600 " : ""}12px ${mono ? 'ui-monospace, "DejaVu Sans Mono", monospace' : 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif'}`;
  }
  widthOf(text, mono = false, bold = false) {
    const key = (mono ? "m" : bold ? "b" : "s") + text;
    let width = this.widths.get(key);
    if (width === undefined) {
      if (this.widths.size > 20000) this.widths.clear();
      this.ink.font = this.fontOf(mono, bold);
      this.widths.set(key, width = this.ink.measureText(text).width);
    }
    return width;
  }
  write(text, x, y, {colour = this.theme.text, mono = false, bold = false, align = "left"} = {}) {
    this.ink.font = this.fontOf(mono, bold);
    this.ink.fillStyle = colour;
    this.ink.textAlign = align;
    this.ink.textBaseline = "middle";
    this.ink.fillText(text, x, y + 0.5);
  }
  // Cut in its middle.
  fitted(text, room, bold = false) {
    if (this.widthOf(text, false, bold) <= room) return text;
    let keep = text.length - 1;
    for (; keep > 2; --keep) {
      const cut = `${text.slice(0, Math.ceil(keep / 2))}…${text.slice(text.length - Math.floor(keep / 2))}`;
      if (this.widthOf(cut, false, bold) <= room) return cut;
    }
    return "";
  }
  rectangle(x, y, width, height, colour) {
    this.ink.fillStyle = colour;
    this.ink.fillRect(x, y, width, height);
  }
  line(x0, y0, x1, y1, colour, width = 1) {
    const ink = this.ink;
    ink.strokeStyle = colour;
    ink.lineWidth = width;
    ink.beginPath();
    ink.moveTo(x0, y0);
    ink.lineTo(x1, y1);
    ink.stroke();
  }
  plate(x, y, width, height, fill, stroke, radius = 4) {
    const ink = this.ink;
    ink.beginPath();
    if (ink.roundRect) ink.roundRect(x, y, width, height, radius); else ink.rect(x, y, width, height);
    if (fill) { ink.fillStyle = fill; ink.fill(); }
    if (stroke) { ink.strokeStyle = stroke; ink.lineWidth = 1; ink.stroke(); }
  }

  begin(canvas) {
    this.ink = canvas.getContext("2d");
    this.ink.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    this.ink.clearRect(0, 0, this.width, this.height);
  }

  // Where steps have hues, what has none is grey.
  coloursOf(known) {
    const {paper, other, faint} = this.theme;
    return this.bySteps ? {...known[this.themeName], solid: other, flight: faint, ground: paper, stripe: faint} : known[this.themeName];
  }
  // What a doing is filled with: its colour, or the hatch of what is waited for.
  fillOf(doing) {
    const known = this.data.doings[doing], colours = this.coloursOf(known);
    if (known.hatch === undefined) return colours.solid;
    let pattern = this.patterns.get(doing);
    if (!pattern) {
      pattern = this.hatch(known, colours);
      this.patterns.set(doing, pattern);
    }
    return pattern;
  }
  hatch(known, colours) {
    const side = Math.max(2, Math.round(6 * this.scale)), stripe = Math.max(1, Math.round(2 * this.scale));
    const tile = document.createElement("canvas");
    tile.width = tile.height = side;
    const ink = tile.getContext("2d");
    ink.fillStyle = colours.ground;
    ink.fillRect(0, 0, side, side);
    ink.fillStyle = colours.stripe;
    for (let y = 0; y < side; ++y) {
      for (let x = 0; x < side; ++x) {
        const across = known.hatch === 0 ? x + y : known.hatch === 1 ? x - y + side : x;
        if (across % side < stripe) ink.fillRect(x, y, 1, 1);
      }
    }
    const pattern = this.base.getContext("2d").createPattern(tile, "repeat");
    pattern.setTransform(new DOMMatrix().scale(1 / this.scale));
    return pattern;
  }

  drawLegend() {
    const legend = this.root.querySelector(".legend"), scale = window.devicePixelRatio || 1;
    this.scale = scale;
    legend.replaceChildren();
    if (this.bySteps) return legend.append(...this.stepLegend());
    for (const entry of this.data.legend) {
      const item = document.createElement("span"), swatch = document.createElement("canvas");
      swatch.width = 24 * scale;
      swatch.height = 14 * scale;
      this.ink = swatch.getContext("2d");
      this.ink.setTransform(scale, 0, 0, scale, 0, 0);
      this.drawSwatch(entry);
      item.append(swatch, entry.text);
      legend.append(item);
    }
  }
  stepLegend() {
    const last = this.model.step.reduce((most, step) => Math.max(most, step), 0), out = [];
    for (let step = 0; step < Math.min(last, 7); ++step) {
      const item = document.createElement("span"), swatch = document.createElement("canvas");
      swatch.style.background = this.theme.steps[step][0];
      item.append(swatch, `k${step}`);
      out.push(item);
    }
    const rest = document.createElement("span");
    rest.textContent = `${last > 7 ? "and so on, lighter and darker: " : ""}steps of K of copies and products; grey has none`;
    return [...out, rest];
  }
  drawSwatch(entry) {
    const theme = this.theme, colours = this.data.doings[entry.doing][this.themeName];
    switch (entry.kind) {
      case "solid": return this.rectangle(0, 0, 24, 14, colours.solid);
      case "flight": return this.rectangle(0, 14 / 3, 24, 14 / 3, colours.flight);
      case "phase":
        this.rectangle(0, 0, 12, 14, theme.phases[0]);
        return this.rectangle(12, 0, 12, 14, theme.phases[1]);
      case "report": case "hazard": {
        const fault = entry.kind === "report";
        this.plate(0, 0, 24, 14, fault ? theme.wrong : theme.text, null, 3);
        return this.write("!", 12, 7, {colour: fault ? theme.on_wrong : theme.on_text, align: "center", bold: true});
      }
      case "hatched":
        this.rectangle(0, 0, 24, 14, this.fillOf(entry.doing));
        this.rectangle(6, 0, 12, 14, colours.ground);
        return this.write(entry.letter, 12, 7, {align: "center"});
    }
  }
}
