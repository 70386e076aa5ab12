"use strict";
// The page of a regressor: the mean and the density of the number, from the probabilities of bins.
(() => {
  const data = JSON.parse(byId("data").textContent);
  const { means, offsets, corrections, widths, digits } = data.bins;
  const model = data.panel && sumOfTables(data, means.length);
  const shares = (p, added) => {
    const weights = p.map((share, b) => share * Math.exp(added[b]));
    const total = weights.reduce((a, b) => a + b, 0);
    return weights.map((weight) => weight / total);
  };
  whatIf(data, (states) => {
    if (!model) return;
    const p = model.probabilities(states);
    const mean = shares(p, offsets).reduce((sum, share, b) => sum + share * means[b], 0);
    byId("mean").dataset.value = String(mean);
    byId("mean").textContent = mean.toFixed(digits);
    const smooth = shares(p, offsets.map((offset, b) => offset + corrections[b]));
    const heights = smooth.map((share, b) => share / widths[b]);
    const largest = Math.max(...heights);
    all("#density .bin").forEach((bin, b) => {
      const height = (Number(bin.dataset.tall) * heights[b]) / largest;
      bin.setAttribute("height", height.toFixed(2));
      bin.setAttribute("y", (Number(bin.dataset.bottom) - height).toFixed(2));
      bin.firstElementChild.textContent = `${bin.dataset.text}: ${percent(smooth[b])}`;
    });
  });
})();
