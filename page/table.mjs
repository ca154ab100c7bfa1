// SPDX-License-Identifier: MIT
// Tables and other elements. All texts are set as text, so that none of them is taken for HTML.

/** Makes an element with properties and children. */
export function element(name, properties = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") e.className = value;
    else if (key === "data") Object.assign(e.dataset, value);
    else if (key === "on") for (const [event, f] of Object.entries(value)) e.addEventListener(event, f);
    else if (key in e) e[key] = value;
    else e.setAttribute(key, value);
  }
  e.append(...children);
  return e;
}

/**
 * Makes a table. A column is {head, cell, left}: `cell` returns what is in it for a row: a text, an
 * element, or {text, figure} where `figure` is the place in the report's JSON.
 */
export function table(columns, rows, caption) {
  const head = element("tr");
  for (const c of columns)
    head.append(element("th", { scope: "col", class: c.left ? "left" : "" }, c.head));
  const body = element("tbody");
  rows.forEach((row, at) => {
    const line = element("tr");
    for (const c of columns) {
      const made = c.cell(row, at);
      const cell = element("td", { class: [c.left && "left", c.long && "long"].filter((n) => n).join(" ") });
      if (made && made.figure) cell.dataset.figure = made.figure;
      cell.append(made && made.figure ? made.text : made);
      line.append(cell);
    }
    body.append(line);
  });
  const whole = element("table", {}, element("thead", {}, head), body);
  const scroll = element("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": caption ?? "Table" }, whole);
  return caption ? element("div", {}, element("p", { class: "note" }, caption), scroll) : scroll;
}

/** Makes a table of names and values, [name, text, place in the report's JSON]. */
export function list(rows, caption) {
  return table(
    [
      { head: "", left: true, cell: (r) => r[0] },
      { head: "", cell: (r) => ({ text: r[1], figure: r[2] }) },
    ],
    rows,
    caption,
  );
}

/** Makes a part that is closed at first; `fill` makes its content each time it is opened. */
export function folded(summary, fill) {
  const details = element("details", {}, element("summary", {}, summary));
  details.addEventListener("toggle", () => {
    if (!details.open) return;
    while (details.children.length > 1) details.lastChild.remove();
    details.append(fill());
  });
  return details;
}
