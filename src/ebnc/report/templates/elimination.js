"use strict";
// Exact p(x | evidence) of every variable by variable elimination, forwards and then backwards, as in
// ebnc/network/inference/two_passes.py. ``sizes``: states of each axis. ``tables``: {scope, values}; the
// axes of a scope ascend. The last axis is summed out first: every table waits at its last axis, and
// the sum over that axis is a table that waits at the last of its own axes.
const eliminator = (sizes, tables) => {
  // For every cell of a table over ``scope``, the cell of a table over ``own``, a part of it.
  const cellsOf = (own, scope) => {
    let cells = new Int32Array(1), stride = own.reduce((n, x) => n * sizes[x], 1);
    for (const x of scope) {
      const isOwn = own.includes(x), next = new Int32Array(cells.length * sizes[x]);
      if (isOwn) stride /= sizes[x];
      cells.forEach((cell, i) => {
        for (let s = 0; s < sizes[x]; s++) next[i * sizes[x] + s] = cell + (isOwn ? s * stride : 0);
      });
      cells = next;
    }
    return cells;
  };
  const waiting = sizes.map(() => []);
  tables.forEach(({ scope }, number) => waiting[scope[scope.length - 1]].push({ number, scope }));
  const steps = [];
  for (let axis = sizes.length - 1; axis >= 0; axis--) {
    const scope = [...new Set(waiting[axis].flatMap((table) => table.scope))].sort((a, b) => a - b);
    const inputs = waiting[axis].map((table) => ({ number: table.number, cells: cellsOf(table.scope, scope) }));
    const rest = scope.slice(0, -1), result = tables.length + steps.length;
    steps.push({ axis, inputs, result, rest: rest.length });
    if (rest.length) waiting[rest[rest.length - 1]].push({ number: result, scope: rest });
  }

  // ``weights``: for each axis null, or a weight of each of its states: 1 for the observed one.
  return (weights) => {
    const values = tables.map((table) => table.values), products = [];
    let logP = 0;
    for (const { axis, inputs, result, rest } of steps) {
      const size = sizes[axis], product = new Float64Array(inputs[0].cells.length).fill(1);
      for (const { number, cells } of inputs) {
        for (let i = 0; i < product.length; i++) product[i] *= values[number][cells[i]];
      }
      const sums = new Float64Array(product.length / size);
      for (let i = 0, r = 0; r < sums.length; r++) {
        for (let s = 0; s < size; s++, i++) {
          if (weights[axis]) product[i] *= weights[axis][s];
          sums[r] += product[i];
        }
      }
      const largest = sums.reduce((a, b) => Math.max(a, b), 0);
      if (!(largest > 0)) return null;  // the evidence is impossible
      for (let i = 0, r = 0; r < sums.length; r++) {  // products become p(axis | rest)
        for (let s = 0; s < size; s++, i++) product[i] = sums[r] ? product[i] / sums[r] : 0;
        sums[r] /= largest;  // so that long products stay numbers
      }
      logP += Math.log(largest) + (rest ? 0 : Math.log(sums[0]));
      products.push(product);
      values[result] = sums;
    }
    const known = {}, marginals = sizes.map((size) => new Float64Array(size));
    for (let k = steps.length - 1; k >= 0; k--) {
      const { axis, inputs, result, rest } = steps[k], size = sizes[axis], p = products[k];
      for (let i = 0; i < p.length; i++) {
        if (rest) p[i] *= known[result][Math.floor(i / size)];
        marginals[axis][i % size] += p[i];
      }
      for (const { number, cells } of inputs) {
        if (number < tables.length) continue;  // only results of other steps need their probabilities
        known[number] = new Float64Array(values[number].length);
        for (let i = 0; i < p.length; i++) known[number][cells[i]] += p[i];
      }
    }
    return { marginals, logP };
  };
};
