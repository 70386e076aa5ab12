"use strict";
(() => {
  // -- sortable tables ------------------------------------------------------------------------
  all(".sortable").forEach((table) => {
    all("thead th", table).forEach((head, column) => {
      const button = head.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const isNumber = head.classList.contains("num");
        const before = head.getAttribute("aria-sort");
        const down = before ? before === "ascending" : isNumber;
        all("thead th", table).forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => {
          const cell = row.cells[column];
          return isNumber ? Number(cell.dataset.sort) : cell.textContent.trim().toLowerCase();
        };
        const compare = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
        const rows = [...table.tBodies[0].rows].sort((a, b) => (down ? compare(b, a) : compare(a, b)));
        table.tBodies[0].append(...rows);
      });
    });
  });

  // -- highlight a node and its neighbours -----------------------------------------------------
  for (const drawing of all(".structure")) {
    const nodes = all(".node", drawing), arcs = all(".arc", drawing);
    const look = (node) => {
      drawing.classList.toggle("looking", node !== null);
      [...nodes, ...arcs].forEach((mark) => mark.classList.remove("near"));
      if (!node) return;
      const name = node.dataset.name, near = new Set([name]);
      for (const arc of arcs) {
        if (arc.dataset.tail === name || arc.dataset.head === name) {
          arc.classList.add("near");
          near.add(arc.dataset.tail).add(arc.dataset.head);
        }
      }
      nodes.forEach((other) => other.classList.toggle("near", near.has(other.dataset.name)));
    };
    for (const node of nodes) {
      node.addEventListener("mouseenter", () => look(node));
      node.addEventListener("mouseleave", () => look(nodes.find((other) => other === document.activeElement) ?? null));
      node.addEventListener("focus", () => look(node));
      node.addEventListener("blur", () => look(null));
    }
  }

  // -- fade the edge behind which there is more ------------------------------------------------
  const boxes = all(".scroll, .fields, nav");
  const fade = (box) => {
    box.classList.toggle("more-x", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
    box.classList.toggle("more-y", box.scrollTop + box.clientHeight < box.scrollHeight - 2);
  };
  const resized = new ResizeObserver((entries) => entries.forEach((entry) => fade(entry.target)));
  boxes.forEach((box) => {
    box.addEventListener("scroll", () => fade(box), { passive: true });
    resized.observe(box);
  });

  // -- links inside a page that has no address, as in the frame of a notebook ---------------------
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link || location.protocol !== "about:") return;
    event.preventDefault();
    byId(link.getAttribute("href").slice(1))?.scrollIntoView();
  });

  // -- light and dark --------------------------------------------------------------------------
  const root = document.documentElement;
  const remembered = (theme) => {
    try {
      if (theme) localStorage.setItem("ebnc-theme", theme);
      return localStorage.getItem("ebnc-theme");
    } catch { return null; }  // browsers may deny storage to local files
  };
  const saved = remembered();
  if (saved === "light" || saved === "dark") root.dataset.theme = saved;
  byId("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remembered(root.dataset.theme);
  });
})();
