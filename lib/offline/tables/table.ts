/**
 * Tables of a proxy's resources, with the columns of `istioctl proxy-config`.
 *
 * @module
 */
import type { DumpJson } from "./dump.ts";

/** A row: a resource or a part of one, with what its cells and filters say. */
export interface TableRow {
  readonly cells: readonly string[];
  /** Values for filters, by the name of the flag. */
  readonly values: Readonly<Record<string, string>>;
  /** The resource of the row, for programs. */
  readonly resource: DumpJson;
}

/** A table: its heading, its rows, and the flags that choose rows. */
export interface DumpTable {
  readonly heading: readonly string[];
  readonly rows: readonly TableRow[];
}

/** The rows whose values equal the wanted values. An empty value wants everything. */
export function chosenRows(rows: readonly TableRow[], wanted: Readonly<Record<string, string>>): TableRow[] {
  const asked = Object.entries(wanted).filter(([, value]) => value !== "");
  return rows.filter(({ values }) => asked.every(([name, value]) => values[name] === value));
}

/** Puts rows in the order of their cells; numbers by their size. */
export function inOrder(rows: readonly TableRow[], columns: readonly number[]): TableRow[] {
  const order = new Intl.Collator("en", { numeric: true });
  return rows.toSorted((a, b) => {
    for (const at of columns) {
      const found = order.compare(a.cells[at] ?? "", b.cells[at] ?? "");
      if (found !== 0) return found;
    }
    return 0;
  });
}
