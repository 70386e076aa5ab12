"use strict";
// The network: choose a node, click states as evidence, zoom and pan.
(() => {
  const data = JSON.parse(byId("data").textContent), { nodes, program } = data;
  const chooser = byId("node"), list = byId("states");
  const boxes = all(".network .node");
  const statesOf = (box) => box.nextElementSibling?.matches(".states") ? box.nextElementSibling : null;
  const evidence = new Map();  // states by the number of their node
  let marginals = nodes.map((node) => node.p);

  // -- p(x | evidence) --------------------------------------------------------------------------
  const start = () => {
    const numbers = doubles(program.numbers), sizes = program.axes.map((i) => nodes[i].states.length);
    let end = 0;
    const tables = program.scopes.map((scope) => {
      const begin = end;
      end += scope.reduce((n, axis) => n * sizes[axis], 1);
      return { scope, values: numbers.subarray(begin, end) };
    });
    return eliminator(sizes, tables);
  };
  let ask = null;  // made at the first question
  const answer = () => {
    if (!evidence.size) return { marginals: nodes.map((node) => node.p), logP: 0 };
    ask ??= start();
    const weights = program.axes.map((i) => (evidence.has(i)
      ? nodes[i].states.map((_, state) => Number(state === evidence.get(i))) : null));
    const found = ask(weights);
    if (!found) return { marginals: nodes.map((node) => node.states.map(() => 0)), logP: -Infinity };
    const byNode = [];
    program.axes.forEach((i, axis) => { byNode[i] = weights[axis] ?? found.marginals[axis]; });
    return { marginals: byNode, logP: found.logP };
  };

  // -- show it ----------------------------------------------------------------------------------
  const showStates = () => {
    const i = Number(chooser.value), node = nodes[i];
    if (list.dataset.of !== chooser.value) {
      list.dataset.of = chooser.value;
      list.replaceChildren(...node.states.map((state, k) => {
        const line = document.createElement(program ? "button" : "div");
        line.className = "state-line";
        for (const part of ["name", "meter", "output"]) {
          line.append(document.createElement(part === "output" ? "output" : "span"));
          line.lastChild.className = part;
        }
        line.children[0].textContent = state;
        line.children[1].append(document.createElement("i"));
        if (program) {
          line.type = "button";
          line.addEventListener("click", () => toggle(i, k));
        }
        return line;
      }));
    }
    [...list.children].forEach((line, k) => {
      const p = marginals[i][k], [, meter, output] = line.children;
      meter.firstChild.style.width = `${100 * p}%`;
      output.textContent = percent(p);
      output.dataset.value = p;
      if (program) line.setAttribute("aria-pressed", String(evidence.get(i) === k));
    });
  };
  const showBoxes = () => {
    for (const box of boxes) {
      const i = Number(box.dataset.node), p = marginals[i];
      box.classList.toggle("known", evidence.has(i));
      all(".state", statesOf(box) ?? box).forEach((group, k) => {
        const bar = group.querySelector(".share"), upright = "upright" in bar.dataset;
        const share = upright ? p[k] / (Math.max(...p) || 1) : p[k];
        bar.setAttribute(upright ? "height" : "width", share * bar.dataset.length);
        group.classList.toggle("given", evidence.get(i) === k);
        const text = group.querySelector(upright ? "title" : ".percent");
        text.textContent = upright ? `${nodes[i].states[k]}: ${percent(p[k])}` : percent(p[k]);
      });
    }
  };
  const showEvidence = (logP) => {
    const known = [...evidence].map(([i, k]) => `${nodes[i].name} = ${nodes[i].states[k]}`);
    byId("forget").disabled = !known.length;
    const p = Math.exp(logP);
    const probability = logP === -Infinity ? "These states never occur together: forget one of them."
      : `Their probability is ${p >= 0.001 ? percent(p) : p.toExponential(2)}.`;
    byId("evidence").textContent = known.length ? `Known: ${known.join(", ")}. ${probability}` : "";
    byId("evidence").dataset.value = logP;
  };
  const toggle = (i, state) => {
    if (evidence.get(i) === state) evidence.delete(i);
    else evidence.set(i, state);
    update();
  };
  const update = () => {
    const found = answer();
    marginals = found.marginals;
    showEvidence(found.logP);
    showBoxes();
    showStates();
  };

  // -- choose a node ----------------------------------------------------------------------------
  const show = () => {
    all(".local").forEach((part) => { part.hidden = part.dataset.node !== chooser.value; });
    boxes.forEach((box) => box.classList.toggle("chosen", box.dataset.node === chooser.value));
    showStates();
  };
  chooser.addEventListener("change", () => { show(); centre(); });
  for (const box of boxes) {
    const choose = () => { chooser.value = box.dataset.node; show(); };
    box.addEventListener("click", choose);
    statesOf(box)?.addEventListener("click", (event) => {
      choose();
      const state = event.target.closest(".state");
      if (state && program) toggle(Number(box.dataset.node), Number(state.dataset.state));
    });
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose();
    });
  }
  if (program) byId("forget").addEventListener("click", () => { evidence.clear(); update(); });
  show();

  // -- zoom and pan -----------------------------------------------------------------------------
  const view = document.querySelector(".network .view"), drawing = view.querySelector("svg");
  const { width, height } = drawing.viewBox.baseVal;
  let scale = 1;
  // (x, y): the point of the view that stays where it is.
  const zoom = (wanted, x = view.clientWidth / 2, y = view.clientHeight / 2) => {
    const before = scale;
    scale = Math.min(3, Math.max(Math.min(0.1, whole()), wanted));
    const left = (view.scrollLeft + x) * (scale / before) - x, top = (view.scrollTop + y) * (scale / before) - y;
    drawing.setAttribute("width", width * scale);
    view.scrollTo({ left, top, behavior: "instant" });
  };
  const centre = () => {  // show the chosen node in the middle, large enough to be read
    const box = boxes.find((other) => other.dataset.node === chooser.value);
    if (!box) return;
    if (scale < 0.8) zoom(1);
    const { e, f } = box.transform.baseVal.consolidate().matrix;
    view.scrollTo({ left: e * scale - view.clientWidth / 2, top: f * scale - view.clientHeight / 2 });
  };
  const whole = () => Math.min(view.clientWidth / width, (view.clientHeight - 4) / height);
  byId("closer").addEventListener("click", () => zoom(scale * 1.25));
  byId("farther").addEventListener("click", () => zoom(scale / 1.25));
  byId("whole").addEventListener("click", () => zoom(Math.min(1, whole())));
  view.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;  // the wheel alone scrolls
    event.preventDefault();
    const frame = view.getBoundingClientRect();
    zoom(scale * Math.exp(-event.deltaY / 300), event.clientX - frame.left, event.clientY - frame.top);
  }, { passive: false });
  let held = null, dragged = false;
  view.addEventListener("pointerdown", (event) => {
    dragged = false;
    if (event.pointerType === "mouse" && event.button === 0) held = { x: event.clientX, y: event.clientY, left: view.scrollLeft, top: view.scrollTop };
  });
  window.addEventListener("pointermove", (event) => {
    if (!held) return;
    const x = event.clientX - held.x, y = event.clientY - held.y;
    dragged ||= Math.hypot(x, y) > 5;
    if (dragged) view.scrollTo({ left: held.left - x, top: held.top - y, behavior: "instant" });
  });
  window.addEventListener("pointerup", () => { held = null; });
  view.addEventListener("click", (event) => { if (dragged) event.stopPropagation(); }, true);
  const fits = view.clientWidth / width;
  zoom(fits > 0.8 ? Math.min(1, fits) : 0.8);
  if (fits < 0.8) centre();
})();
