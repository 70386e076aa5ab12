"use strict";
// The model is a sum of small tables; this script adds them up for the chosen states.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const nClasses = data.classes.length;
  const byId = (id) => document.getElementById(id);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  const doubles = (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Float64Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(8 * i, true));
  };
  const percent = (p) => (p > 0 && p < 0.0005 ? "< 0.1 %"
    : p >= 0.9995 && p < 1 ? "> 99.9 %" : `${(100 * p).toFixed(1)} %`);
  const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
  const size = (input, extra) => data.inputs[input].states.length + extra;
  const address = (inputs, states, extra) =>
    inputs.reduce((cell, i) => cell * size(i, extra) + states[i], 0);
  const cells = (inputs, extra) => inputs.reduce((n, i) => n * size(i, extra), 1);

  // Where each table begins among the numbers.
  const panel = data.panel && { numbers: doubles(data.panel.numbers), models: [] };
  if (panel) {
    let start = 0;
    for (const model of data.panel.models) {
      const tables = model.scopes.map((scope) => {
        const table = { scope, start };
        start += cells(scope, 1) * (nClasses - 1);
        return table;
      });
      panel.models.push({ weight: model.weight, tables });
    }
  }
  const terms = { numbers: doubles(data.termNumbers), list: [] };
  data.terms.reduce((start, inputs) => {
    terms.list.push({ inputs, start });
    return start + cells(inputs, 0) * nClasses;
  }, 0);

  // (0, λ): log odds of every class against the first.
  const logOdds = (model, states) => {
    const odds = new Array(nClasses).fill(0);
    for (const { scope, start } of model.tables) {
      const at = start + address(scope, states, 1) * (nClasses - 1);
      for (let k = 1; k < nClasses; k++) odds[k] += panel.numbers[at + k - 1];
    }
    return odds;
  };
  const softmax = (odds) => {
    const largest = Math.max(...odds);
    const shares = odds.map((value) => Math.exp(value - largest));
    const total = shares.reduce((a, b) => a + b, 0);
    return shares.map((share) => share / total);
  };
  const addTo = (total, weight, values) => values.forEach((v, k) => { total[k] += weight * v; });
  const best = (states) => softmax(logOdds(panel.models[panel.models.length - 1], states));
  const averaged = (states) => {
    const total = new Array(nClasses).fill(0);
    for (const model of panel.models) {
      if (model.weight !== 0) addTo(total, model.weight, softmax(logOdds(model, states)));
    }
    return total;
  };
  // Predictions are averaged over unknown inputs: over the states of a single unknown input, over
  // the rows of the background for several.
  const overUnknown = (predict, states) => {
    const background = data.panel.background;
    const unknown = background
      ? background.inputs.map((_, v) => v).filter((v) => states[background.inputs[v]] >= size(background.inputs[v], 0))
      : [];
    if (!unknown.length) return predict(states);
    const total = new Array(nClasses).fill(0);
    const addFilled = (weight, code) => {
      const filled = [...states];
      for (const v of unknown) filled[background.inputs[v]] = code(v);
      if (weight > 0) addTo(total, weight, predict(filled));
    };
    if (unknown.length === 1) {
      background.stateWeights[unknown[0]].forEach((weight, code) => addFilled(weight, () => code));
    } else {
      background.rows.forEach((row, l) => addFilled(background.rowWeights[l], (v) => row[v]));
    }
    return total;
  };
  const contribution = ({ inputs, start }, states, k) =>
    inputs.some((i) => states[i] >= size(i, 0)) ? 0
      : terms.numbers[start + address(inputs, states, 0) * nClasses + k];

  // -- what if ------------------------------------------------------------------------------
  const MOST_BARS = 12;
  let states = [...data.states];
  const ofClass = () => (byId("of-class") ? Number(byId("of-class").value) : 1);

  const bars = (odds, k) => {
    const mean = odds.reduce((a, b) => a + b, 0) / nClasses;
    const whole = ((odds[k] - mean) * nClasses) / (nClasses - 1);
    const values = terms.list.map((term) => contribution(term, states, k));
    const label = ({ inputs }) => inputs.map((i) => data.inputs[i].name).join(" × ") || "intercept";
    const detail = ({ inputs }) =>
      inputs.map((i) => data.inputs[i].states[states[i]] ?? "not known").join(" · ");
    const ranked = values.map((_, t) => t).slice(1)
      .sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]) || a - b);
    const shown = [];
    let total = 0;
    const add = (name, text, value, kind) => {
      shown.push({ name, text, value, kind, start: total, end: total + value });
      total += value;
    };
    for (const t of [0, ...ranked.slice(0, MOST_BARS - 1)]) {
      add(label(terms.list[t]), detail(terms.list[t]), values[t], "term");
    }
    const rest = ranked.slice(MOST_BARS - 1);
    const nRest = rest.length + data.nOthers;
    if (nRest) {
      const others = data.nOthers ? whole - values.reduce((a, b) => a + b, 0) : 0;
      const value = rest.reduce((sum, t) => sum + values[t], 0) + others;
      add(`${nRest} other ${nRest === 1 ? "term" : "terms"}`, "", value, "rest");
    }
    shown.push({ name: "log odds", text: "", value: total, kind: "total", start: 0, end: total });
    return shown;
  };

  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const named = (tag, text) => {
    const cell = make(tag);
    cell.title = text;
    cell.append(make("span", "name", text));
    return cell;
  };

  const drawBars = (shown) => {
    const ends = shown.flatMap((bar) => [bar.start, bar.end, 0]);
    const low = Math.min(...ends), span = Math.max(...ends) - low || 1;
    const percent = (value) => `${((100 * value) / span).toFixed(3)}%`;
    const rows = shown.map((bar) => {
      const row = make("tr", bar.kind);
      row.dataset.value = String(bar.value);
      const head = named("th", bar.name);
      head.scope = "row";
      const track = make("span", "track"), zero = make("b"), mark = make("i", bar.value < 0 ? "neg" : "pos");
      zero.style.left = percent(-low);
      mark.style.left = percent(Math.min(bar.start, bar.end) - low);
      mark.style.width = percent(Math.abs(bar.end - bar.start));
      track.append(zero, mark);
      const cell = make("td", "bar-cell");
      cell.append(track);
      row.append(head, named("td", bar.text), cell, make("td", "num", signed(bar.value)));
      return row;
    });
    byId("waterfall").tBodies[0].replaceChildren(...rows);
  };

  // Of many classes, the most probable ones are shown unless the reader asks for all.
  const MOST_CLASSES = 6;
  const showLargest = (p) => {
    const every = byId("all-classes");
    if (!every) return;
    const ranked = p.map((_, k) => k).sort((a, b) => p[b] - p[a]).slice(0, MOST_CLASSES);
    all(".probabilities tbody tr").forEach((row, k) => {
      row.hidden = !every.checked && !ranked.includes(k);
    });
  };

  const show = () => {
    if (!panel) return;
    const p = overUnknown(averaged, states);
    all(".probabilities output").forEach((output, k) => {
      output.dataset.value = String(p[k]);
      output.textContent = percent(p[k]);
      output.closest("tr").querySelector(".meter i").style.width = `${(100 * p[k]).toFixed(3)}%`;
    });
    showLargest(p);
    const odds = logOdds(panel.models[panel.models.length - 1], states);
    if (byId("best")) {
      const alone = overUnknown(best, states)[ofClass()];
      byId("best").dataset.value = String(alone);
      byId("best").textContent = percent(alone);
      byId("best-class").textContent = data.classes[ofClass()];
    }
    drawBars(bars(odds, ofClass()));
    const changed = states.some((code, i) => code !== data.states[i]);
    byId("case-title").hidden = changed;
    all("[data-at]").forEach((place) => {
      const [input, state] = place.dataset.at.split(":").map(Number);
      place.classList.toggle("here", states[input] === state);
    });
  };

  const choose = (input, code) => {
    states[input] = code;
    const field = byId(`i${input}`), slider = byId(`s${input}`);
    if (field) field.value = String(code);
    if (!slider) return;
    const cuts = data.inputs[input].cuts;
    slider.classList.toggle("idle", code > cuts.length);  // missing or not known
    if (code <= cuts.length) slider.value = String(code);
    slider.setAttribute("aria-valuetext", data.inputs[input].states[code] ?? "not known");
  };
  const forgetNumber = (input) => {
    const typed = byId(`n${input}`);
    if (typed) typed.value = "";
  };
  const chooseAll = (codes) => {
    codes.forEach((code, i) => choose(i, code));
    all("[data-number]").forEach((field) => { field.value = ""; });
    show();
  };
  const chosenBy = (field, input) => {
    choose(Number(input), Number(field.value));
    forgetNumber(input);
    show();
  };
  all("[data-input]").forEach((field) =>
    field.addEventListener("change", () => chosenBy(field, field.dataset.input)));
  all("[data-slider]").forEach((field) =>
    field.addEventListener("input", () => chosenBy(field, field.dataset.slider)));
  all("[data-number]").forEach((field) => field.addEventListener("input", () => {
    if (field.value === "" || Number.isNaN(field.valueAsNumber)) return;
    const input = Number(field.dataset.number), cuts = data.inputs[input].cuts;
    const above = cuts.findIndex((cut) => field.valueAsNumber <= cut);  // low < x ≤ high
    choose(input, above < 0 ? cuts.length : above);
    show();
  }));
  // -- decisions at a threshold, for two classes --------------------------------------------
  const decide = () => {
    const percentage = Number(byId("threshold").value);
    const [falsely, rightly] = data.passed[percentage], [negatives, positives] = data.passedAll;
    const share = (part, whole) => (whole > 0 ? percent(part / whole) : "–");
    const measures = {
      accuracy: share(rightly + negatives - falsely, positives + negatives),
      precision: share(rightly, rightly + falsely),
      recall: share(rightly, positives),
      specificity: share(negatives - falsely, negatives),
      "rows predicted": Math.round(rightly + falsely).toLocaleString("en"),
    };
    byId("threshold-text").textContent = `${percentage} %`;
    all("[data-measure]").forEach((output) => { output.textContent = measures[output.dataset.measure]; });
  };

  const on = (id, event, action) => byId(id) && byId(id).addEventListener(event, action);
  on("reset", "click", () => chooseAll(data.states));
  on("forget", "click", () => chooseAll(data.inputs.map((x) => x.states.length)));
  on("what-if", "submit", (event) => event.preventDefault());
  on("filter", "input", () => {
    const wanted = byId("filter").value.toLowerCase();
    all(".field").forEach((field) => { field.hidden = !field.dataset.name.includes(wanted); });
  });
  on("threshold", "input", decide);
  on("all-classes", "change", show);
  on("of-class", "change", show);
  on("table-class", "change", () => all("[data-of-class]").forEach((map) => {
    map.hidden = map.dataset.ofClass !== byId("table-class").value;
  }));
  // On reload, a browser may restore earlier choices.
  all("[data-input]").forEach((field) => choose(Number(field.dataset.input), Number(field.value)));
  show();
  if (byId("threshold")) decide();
})();
