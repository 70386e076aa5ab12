"use strict";
// Shows one node's local distribution beside the network. The list, a click or Enter selects the node.
(() => {
  const chooser = document.getElementById("node");
  const nodes = [...document.querySelectorAll(".network .node[data-node]")];
  const show = () => {
    document.querySelectorAll(".local").forEach((part) => { part.hidden = part.dataset.node !== chooser.value; });
    nodes.forEach((node) => node.classList.toggle("chosen", node.dataset.node === chooser.value));
  };
  chooser.addEventListener("change", show);
  for (const node of nodes) {
    const choose = () => { chooser.value = node.dataset.node; show(); };
    node.addEventListener("click", choose);
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose();
    });
  }
  show();
})();
