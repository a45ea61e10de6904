/**
 * Generates `lib/sizing/measured.ts`, the measured rows behind `pilot-discovery size`, from the page of benchmarks. So the
 * page and the program have the same figures.
 *
 * `deno task bench --write` writes the page and the rows; `deno task sizing` writes the rows of the present page. A test
 * fails if the rows are stale.
 *
 * Permissions: read of the repository; write (lib/sizing), when run.
 *
 * @module
 */
import type { Figures, Measurements } from "../lib/sizing/measurement.ts";
import { WORKS } from "../lib/sizing/series.ts";

/** Where the page is. */
const BENCHMARKS: URL = new URL("../docs/benchmarks.md", import.meta.url);

const HEAD = `/**
 * The measured rows behind \`pilot-discovery size\`. Written by \`deno task sizing\` from docs/benchmarks.md.
 *
 * @module
 */
import type { Measurements } from "./measurement.ts";

export const MEASURED: Measurements = `;

/** The module of a page of benchmarks. The text is not formatted yet. */
function measuredText(page: string): string {
  return `${HEAD}${JSON.stringify(measurementsOf(page))};\n`;
}

/** The machine and the needed works of a page. */
export function measurementsOf(page: string): Measurements {
  const [, machine = ""] = /\n## Machine\n([^#]*)/.exec(page) ?? [];
  const facts = [...machine.matchAll(/^- ([^:\n]+): (.+)$/gm)].map(([, name, text]) => [name!, text!]);
  const works: Record<string, Record<string, string>> = {};
  let work = "";
  for (const line of page.slice(page.indexOf("\n## Figures\n")).split("\n")) {
    if (!line.startsWith("|")) continue;
    const [named = "", figure = "", measured = ""] = line.slice(1).split("|").map((cell) => cell.trim());
    if (named !== "") work = named;
    if (WORKS.has(work) && measured !== "") (works[work] ??= {})[figure] = withoutRange(measured);
  }
  return { machine: Object.fromEntries(facts), works: works satisfies Record<string, Figures> };
}

/** The median of a figure, without the least and the greatest: `1.71 CPU s (1.66-1.80)`. */
function withoutRange(text: string): string {
  return text.replace(/ \([\d.]+-[\d.]+\)$/, "");
}

/** Writes the rows of the present page, formatted. */
export async function writeMeasured(): Promise<void> {
  const path = new URL("../lib/sizing/measured.ts", import.meta.url).pathname;
  await Deno.writeTextFile(path, measuredText(await Deno.readTextFile(BENCHMARKS)));
  await new Deno.Command(Deno.execPath(), { args: ["fmt", "--quiet", path] }).output();
}

if (import.meta.main) await writeMeasured();
