/**
 * Texts laid out for a width: wrapped paragraphs, columns, shortened lines.
 *
 * @module
 */
import { plainText } from "./style.ts";

/**
 * Breaks a text at its blanks so that no line is longer than the width. A longer word stands alone.
 * @param text May hold line breaks, which stay.
 * @param width Characters with indents. `Infinity`: nothing is broken.
 * @param first The beginning of the first line.
 * @param rest The beginning of the other lines. Default: as many blanks.
 */
export function wrap(text: string, width: number, first = "", rest = " ".repeat(shownLength(first))): string {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = lines.length === 0 ? first : rest;
    let isEmpty = true;
    for (const word of paragraph.split(" ")) {
      const next = isEmpty ? line + word : `${line} ${word}`;
      if (!isEmpty && shownLength(next) > width) {
        lines.push(line);
        line = rest + word;
      } else line = next;
      isEmpty = false;
    }
    lines.push(line);
  }
  return lines.join("\n");
}

/** Width of a text on a terminal, in characters. Colours have no width. */
export function shownLength(text: string): number {
  return [...plainText(text)].length;
}

/** Pads a text with blanks up to a width. */
export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - shownLength(text)));
}

/** A text without colours, shortened to a width with an ellipsis. */
export function shortened(text: string, width: number): string {
  const letters = [...text];
  return letters.length <= width ? text : `${letters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

/** Longest cell that counts for the alignment. After a longer cell the next cell begins at once. */
const WIDEST_CELL = 60;

/**
 * Rows with aligned cells, two blanks between cells. Blanks at the end of a line are left out.
 * @param width A longer row is broken: its other cells stand below each other, beside the first cell.
 */
export function columns(rows: readonly (readonly string[])[], width = Infinity): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.slice(0, -1).forEach((cell, at) => {
      const length = shownLength(cell);
      if (length <= WIDEST_CELL) widths[at] = Math.max(widths[at] ?? 0, length);
    });
  }
  return rows.map((row) => {
    const line = row.map((cell, at) => at === row.length - 1 ? cell : padded(cell, widths[at] ?? 0)).join("  ")
      .trimEnd();
    return shownLength(line) <= width ? line : broken(row, widths[0] ?? 0, width);
  });
}

/** A row in several lines. A first cell that would leave less than half of the width stands alone. */
function broken([first = "", ...rest]: readonly string[], firstWidth: number, width: number): string {
  const head = `${padded(first, firstWidth)}  `;
  const isNarrow = shownLength(head) > width / 2;
  const indent = " ".repeat(isNarrow ? leadingBlanks(first) + 4 : shownLength(head));
  const lines: string[] = isNarrow ? [first.trimEnd()] : [];
  for (const cell of rest.filter((one) => shownLength(one.trim()) > 0)) {
    const last = lines.at(-1) ?? "";
    const longer = `${last}  ${cell}`;
    // The first cell alone on its line takes no cell beside it.
    if (lines.length > (isNarrow ? 1 : 0) && shownLength(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(...wrap(cell, width, lines.length === 0 ? head : indent, indent).split("\n"));
  }
  return lines.join("\n");
}

function leadingBlanks(text: string): number {
  return text.length - text.trimStart().length;
}
