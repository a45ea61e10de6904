/**
 * Rows as a Markdown table, the page around it, and comparisons of two trees as text.
 *
 * @module
 */
import type { MachineFacts } from "./machine.ts";
import { REFERENCE } from "./calibration.ts";
import type { Comparison } from "./pairs.ts";
import { headlineFigures, plain } from "./headlines.ts";
import { atReference, dependsOnSpeed, type Figure, meets, met, type Row, spread, type Unit } from "./result.ts";

/** How the figures came to be. */
export interface RunFacts {
  readonly machine: MachineFacts;
  readonly runs: number;
  /** Edits in each run. */
  readonly rounds: number;
  /** Small sizes, to try the benchmarks themselves. */
  readonly quick: boolean;
}

const DIGITS: Readonly<Record<Unit, number>> = {
  "CPU s": 2,
  s: 1,
  ms: 0,
  MB: 0,
  kB: 0,
  MiB: 0,
  resources: 0,
  messages: 0,
  "events/s": 0,
  "certificates/s": 0,
  "queries/s": 0,
  "%": 0,
  x: 2,
};

function number(value: number, unit: Unit): string {
  // Small figures of coarse units keep two significant digits.
  const digits = unit === "CPU s" && value < 0.1
    ? 3
    : unit === "ms" && value < 10
    ? 2
    : (unit === "MB" || unit === "%") && value < 10
    ? 1
    : DIGITS[unit];
  return value.toFixed(digits);
}

/**
 * A figure with its spread, and the median at reference speed if the speed of the machine matters: `1.71 CPU s
 * (1.66-1.80) -> 2.14`.
 */
export function showFigure(figure: Figure, calibrations: readonly number[]): string {
  const { name, unit, values } = figure;
  const { median } = spread(values);
  const reference = dependsOnSpeed(figure)
    ? ` -> ${number(spread(atReference(figure, calibrations)).median, unit)}`
    : "";
  return `${number(median, unit)} ${unit}${range(figure)}${reference}${name === "" ? "" : ` ${name}`}`;
}

/** The minimum and maximum in parentheses. Empty for a single value. */
function range({ unit, values }: Figure): string {
  const { min, max } = spread(values);
  return values.length > 1 ? ` (${number(min, unit)}-${number(max, unit)})` : "";
}

/** The target of a figure; empty where there is none. */
function boundOf({ unit, atMost, atLeast }: Figure): string {
  return atMost !== undefined ? `<= ${atMost} ${unit}` : atLeast !== undefined ? `>= ${atLeast} ${unit}` : "";
}

/** A target with its verdict: `<= 2 CPU s: met`. Empty without a target. */
export function showTarget(figure: Figure, calibrations: readonly number[]): string {
  const verdict = met(figure, calibrations);
  if (verdict === undefined) return "";
  const { name } = figure;
  return `${boundOf(figure)}${name === "" ? "" : ` ${name}`}: ${verdictText(verdict)}`;
}

/** Undefined: there is no target. */
function verdictText(isMet: boolean | undefined): string {
  if (isMet === undefined) return "";
  return isMet ? "met" : "**missed**";
}

/** A comparison as a line: `worse: 1.12 (1.07-1.20) raw 1.10 2.10 / 1.88 CPU s`. */
export function showComparison({ figure: { name, unit }, ratio, raw, here, there, verdict }: Comparison): string {
  const ratios = `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}-${ratio.max.toFixed(2)})`;
  const values = `${number(here, unit)} / ${number(there, unit)} ${unit}`;
  return `${verdict}:`.padEnd(8) + ratios.padEnd(20) + `raw ${raw.toFixed(2)}`.padEnd(12) + values +
    (name === "" ? "" : ` ${name}`);
}

const cell = (text: string) => text.replaceAll("|", "\\|");

/** Subjects of the page, each with its works. A row belongs to the first fitting subject. */
const SUBJECTS: readonly { readonly title: string; readonly works: RegExp }[] = [
  { title: "Sidecars that ask", works: /that ask,|that asks calls/ },
  { title: "Certificates", works: /^(?:RSA|ECDSA)/ },
  { title: "The agent", works: /^an agent|^an Envoy rests|^of 1600 services|pass the client's Envoy/ },
  { title: "An orchestrator's API", works: /API server|pod with two containers/ },
  { title: "Starts, rest and analysis", works: /^start |are loaded|^\d+ services: a start/ },
  {
    title: "Many events, many requests, many viewers",
    works: /a second for|overviews|pages? for people|flood|subscribes/,
  },
  { title: "Policies, telemetry, names, mutual TLS", works: /^1000 Auth|^metrics, logs|, DNS: |mutual TLS/ },
  { title: "The mesh configuration", works: /the mesh configuration changes/ },
  { title: "5,000 services", works: /^5000 services/ },
  { title: "100 proxies", works: /^100 proxies/ },
  { title: "400 proxies", works: /^400 proxies/ },
  { title: "2,000 proxies", works: /2000 proxies/ },
  { title: "Others", works: /(?:)/ },
];

/** Subjects in the order of the page. */
const ORDER = ["400 proxies", "100 proxies", "5,000 services", "The mesh configuration"];

/** The columns of a subject's table. */
const COLUMNS = ["Work", "Figure", "Measured", "At reference", "Target", "Met", "Met at reference", "Istio"];

function tableLines(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `| ${cells.map(cell).join(" | ")} |\n`).join("");
}

/** A line per figure. The work and Istio's figures are in the first line. */
export function figureLines({ work, istio, figures, calibrations, note }: Row): string[][] {
  const lines = figures.map((figure) => {
    const { name, unit, values } = figure;
    const raw = spread(values), reference = spread(atReference(figure, calibrations));
    return [
      name === "" ? NAMES[unit] ?? unit : name,
      `${number(raw.median, unit)} ${unit}${range(figure)}`,
      dependsOnSpeed(figure) ? `${number(reference.median, unit)} ${unit}` : "",
      boundOf(figure),
      verdictText(meets(figure, raw.median)),
      verdictText(meets(figure, reference.median)),
    ];
  });
  if (note !== undefined) lines.push([note, "", "", "", "", ""]);
  return lines.map((cells, index) => [index === 0 ? work : "", ...cells, index === 0 ? istio : ""]);
}

/** Names of figures whose unit is enough. */
const NAMES: Readonly<Partial<Record<Unit, string>>> = { "CPU s": "CPU", s: "time", ms: "time", MiB: "memory" };

/** A table per subject with rows. */
export function tables(rows: readonly Row[]): string {
  const bySubject = Map.groupBy(rows, ({ work }) => SUBJECTS.find(({ works }) => works.test(work))!.title);
  const titles = [...ORDER, ...SUBJECTS.map(({ title }) => title).filter((title) => !ORDER.includes(title))];
  return titles.filter((title) => bySubject.has(title)).map((title) => {
    const lines = bySubject.get(title)!.flatMap(figureLines);
    return `### ${title}\n\n${tableLines([COLUMNS, COLUMNS.map(() => "---"), ...lines])}`;
  }).join("\n");
}

/** The headlines as a table. */
export function headlineTable(rows: readonly Row[]): string {
  const lines = headlineFigures(rows).map(({ headline: { label, istio, unit }, median }) => [
    label,
    istio === undefined ? "not measured" : `${plain(istio)} ${unit}`,
    `${plain(median)} ${unit}`,
    istio === undefined ? "" : `1 : ${plain(istio / median)}`,
  ]);
  return tableLines([["Work", "Istio", "Here", "Ratio"], ["---", "---", "---", "---"], ...lines]);
}

/** The whole page. */
export function page(rows: readonly Row[], { machine, runs, rounds, quick }: RunFacts): string {
  const warning = quick
    ? "\n**These are the figures of a quick run with small sizes. They compare with nothing.**\n"
    : "";
  return `# Benchmarks

The figures are raw times and sizes, beside Istio's figures for the same shapes of mesh. The section below says how
both were measured.

${headlineTable(rows)}
![CPU beside Istio's](benchmarks/cpu.svg)

![Time to the last proxy beside Istio's](benchmarks/time.svg)

## How it is measured

\`deno task bench --write\` writes this page; do not edit the figures by hand.
${warning}
The measured program is \`pilot-discovery\` in the form of images (\`deno task bundle\`), on a folder of
configuration, with simulated proxies in another process on the same machine. Unless a row says otherwise the folder
holds 1,000 services with 10 endpoints each in 10 namespaces; a VirtualService routes 100 of them over two subsets.
Each proxy is another workload, on a connection of its own, and sends Envoy's requests.

The rows about the agent measure only \`pilot-agent\`, packed by \`deno task bundle\`: with a certificate and a stream
over TLS from a server in another process, beside an idle Envoy, or with a simulated proxy in Envoy's place. The
memory is read from \`smaps_rollup\`.

- **CPU s**: user and system time of the server only. Trust this figure: the simulated proxies share the cores with
  the server, so times on the clock include the time for unpacking and reading the messages.
- **s, ms**: time on the clock. For a connect: until the last proxy has all requested resources. For an edit: from the
  moment after the file was renamed into place until a proxy has a message with the new content, including the
  watching of the folder and the debounce of 100 ms (\`PILOT_DEBOUNCE_AFTER\`).
- **At reference**: the same time at reference speed. Machines differ threefold, and a machine differs from minute to
  minute. So just before and after each step a fixed piece of work is measured (\`tests/bench/mesh/calibration.ts\`).
  The reference machine needs ${REFERENCE} CPU s for that work; the figure is divided by the CPU time needed here and
  multiplied by the reference. Waiting time (the debounce) stays unchanged.
- **MiB**: memory, 2^20 bytes. Resident: \`VmRSS\` of the server at rest; peak: \`VmHWM\` since the start.
- **MB, kB**: 10^6 and 10^3 bytes on the wire: everything on the connections, both ways, in compressed form if
  compressed.
- **longest delay of the event loop**: the largest delay of a timer of 50 ms in the server during the row.
- An edit is made ${rounds} times a run; bytes are per edit, CPU is the mean of the middle half of the edits. The most
  expensive edit is a figure of its own: V8 compiles code that ran for the first time, or collects the garbage of the
  connect (once, some seconds after a storm, 1 to 2 ms for each MB of heap). Each figure is the median of ${runs}
  run${runs === 1 ? "" : "s"} of new processes, with the least and the greatest in parentheses.
- **gzip** says that proxies offer compression (Envoy does not, this project's agent does).
- **Istio**: commit 46aaf05beec, same shapes of mesh, on a machine of the same kind with 2 cores shared with the load
  generator, measured on 2026-11-20 and 22 by another generator. It was another time and another tool: read orders of
  magnitude, not percents. Istio was measured without gzip, because Istio does not use compression.

\`deno task bench --against FOLDER\` compares two trees: both run in turn, at least seven times, with the load
generator of this tree, and ratios are formed pair by pair.

## Machine

${Object.entries(machine).map(([name, value]) => `- ${name}: ${value}`).join("\n")}

## Figures

A target is judged twice: by the measured figure, and by the figure at reference speed.

${tables(rows)}
${missed(rows)}
`;
}

/** A sentence about the targets, and a list of missed targets. */
export function missed(rows: readonly Row[]): string {
  const verdicts = rows.flatMap((row) =>
    row.figures.map((figure) => ({ row, figure, verdict: met(figure, row.calibrations) }))
  );
  const targets = verdicts.filter(({ verdict }) => verdict !== undefined);
  const bad = targets.filter(({ verdict }) => verdict === false);
  if (targets.length === 0) return "No target was measured.";
  if (bad.length === 0) return `All ${targets.length} targets are met.`;
  const list = bad.map(({ row: { work, calibrations }, figure }) =>
    `- ${work}: ${showFigure(figure, calibrations)}, ${showTarget(figure, calibrations)}`
  );
  return `${bad.length} of ${targets.length} targets are missed:\n\n${list.join("\n")}`;
}
