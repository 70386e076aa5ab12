"use strict";
// The page of a classifier. Its model is a sum of small tables; ``sum.js`` adds them up.
(() => {
  const data = JSON.parse(byId("data").textContent);
  const nClasses = data.classes.length;
  const model = data.panel && sumOfTables(data, nClasses);
  const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
  const terms = { numbers: doubles(data.termNumbers), list: [] };
  data.terms.reduce((start, inputs) => {
    terms.list.push({ inputs, start });
    return start + nCells(data, inputs, 0) * nClasses;
  }, 0);

  const contribution = ({ inputs, start }, states, k) =>
    inputs.some((i) => states[i] >= nStates(data, i, 0)) ? 0
      : terms.numbers[start + address(data, inputs, states, 0) * nClasses + k];

  // -- what if ------------------------------------------------------------------------------
  const MOST_BARS = 12;
  let states = data.states;
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

  const show = (chosen) => {
    states = chosen;
    if (!model) return;
    const p = model.probabilities(states);
    all(".probabilities output").forEach((output, k) => {
      output.dataset.value = String(p[k]);
      output.textContent = percent(p[k]);
      output.closest("tr").querySelector(".meter i").style.width = `${(100 * p[k]).toFixed(3)}%`;
    });
    showLargest(p);
    if (byId("best")) {
      const alone = model.bestProbabilities(states)[ofClass()];
      byId("best").dataset.value = String(alone);
      byId("best").textContent = percent(alone);
      byId("best-class").textContent = data.classes[ofClass()];
    }
    drawBars(bars(model.bestLogOdds(states), ofClass()));
  };

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

  for (const id of ["all-classes", "of-class"]) {
    if (byId(id)) byId(id).addEventListener("change", () => show(states));
  }
  if (byId("table-class")) {
    byId("table-class").addEventListener("change", () => all("[data-of-class]").forEach((map) => {
      map.hidden = map.dataset.ofClass !== byId("table-class").value;
    }));
  }
  if (byId("threshold")) {
    byId("threshold").addEventListener("input", decide);
    decide();
  }
  whatIf(data, show);
})();
