// The same frames as a table: what has been played, and nothing of the future.

export function textElement(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function buildTable({ frames, painter }) {
  const { words } = frames;
  const head = document.createElement("tr");
  const titles = [words.axis, ...painter.columns(frames), words.column_note];
  head.append(...titles.map((title) => textElement("th", title, { scope: "col" })));
  const body = document.createElement("tbody");
  for (let step = 0; step < frames.numSteps; step++) {
    const row = document.createElement("tr");
    row.append(textElement("th", `${frames.numbers[step] + 1}\n${frames.timeText(frames.positions[step])}`, { scope: "row" }));
    row.append(...[...painter.cells(frames, step), frames.notes[step]].map((text) => textElement("td", text)));
    body.append(row);
  }
  const table = document.createElement("table");
  const header = document.createElement("thead");
  header.append(head);
  table.append(textElement("caption", words.table_caption), header, body);
  return table;
}

export function showTableRows(player, last) {
  if (player.tableOf !== player.frames) {
    player.table.replaceChildren(buildTable(player));
    player.tableOf = player.frames;
  }
  const rows = player.table.querySelectorAll("tbody tr");
  rows.forEach((row, step) => {
    row.hidden = step > last;
    if (step === last) row.setAttribute("aria-current", "step");
    else row.removeAttribute("aria-current");
  });
  player.table.scrollTop = rows[last].offsetTop + rows[last].offsetHeight - player.table.clientHeight;
}
