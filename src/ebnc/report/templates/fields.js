"use strict";
// The fields of the what-if panel. ``show`` is called with the states after every change.
const whatIf = (data, show) => {
  const states = [...data.states];
  const changed = () => {
    show(states);
    if (byId("case-title")) byId("case-title").hidden = states.some((code, i) => code !== data.states[i]);
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
    changed();
  };
  const chosenBy = (field, input) => {
    choose(Number(input), Number(field.value));
    forgetNumber(input);
    changed();
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
    changed();
  }));
  const on = (id, event, action) => byId(id) && byId(id).addEventListener(event, action);
  on("reset", "click", () => chooseAll(data.states));
  on("forget", "click", () => chooseAll(data.inputs.map((x) => x.states.length)));
  on("what-if", "submit", (event) => event.preventDefault());
  on("filter", "input", () => {
    const wanted = byId("filter").value.toLowerCase();
    all(".field").forEach((field) => { field.hidden = !field.dataset.name.includes(wanted); });
  });
  // On reload, a browser may restore earlier choices.
  all("[data-input]").forEach((field) => choose(Number(field.dataset.input), Number(field.value)));
  changed();
};
