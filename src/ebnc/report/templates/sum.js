"use strict";
// Shared by pages of classifiers and of regressors. ``sumOfTables``: p(y|x) from the page's data.
const byId = (id) => document.getElementById(id);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const percent = (p) => (p > 0 && p < 0.0005 ? "< 0.1 %"
  : p >= 0.9995 && p < 1 ? "> 99.9 %" : `${(100 * p).toFixed(1)} %`);

const doubles = (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float64Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(8 * i, true));
};
// The number of states of an input (``extra``: 1 counts the state of unknown entries), and the
// place of a cell in a table of several inputs.
const nStates = (data, input, extra) => data.inputs[input].states.length + extra;
const address = (data, inputs, states, extra) =>
  inputs.reduce((cell, i) => cell * nStates(data, i, extra) + states[i], 0);
const nCells = (data, inputs, extra) => inputs.reduce((n, i) => n * nStates(data, i, extra), 1);

const sumOfTables = (data, nClasses) => {
  const panel = { numbers: doubles(data.panel.numbers), models: [] };
  let start = 0;  // where each table begins among the numbers
  for (const model of data.panel.models) {
    const tables = model.scopes.map((scope) => {
      const table = { scope, start };
      start += nCells(data, scope, 1) * (nClasses - 1);
      return table;
    });
    panel.models.push({ weight: model.weight, tables });
  }
  const bestModel = panel.models[panel.models.length - 1];  // of weight 0 in the average

  // (0, λ): log odds of every class against the first.
  const logOdds = (model, states) => {
    const odds = new Array(nClasses).fill(0);
    for (const { scope, start } of model.tables) {
      const at = start + address(data, scope, states, 1) * (nClasses - 1);
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
  const best = (states) => softmax(logOdds(bestModel, states));
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
      ? background.inputs.map((_, v) => v).filter((v) => states[background.inputs[v]] >= nStates(data, background.inputs[v], 0))
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
  return {
    probabilities: (states) => overUnknown(averaged, states),
    bestProbabilities: (states) => overUnknown(best, states),
    bestLogOdds: (states) => logOdds(bestModel, states),
  };
};
