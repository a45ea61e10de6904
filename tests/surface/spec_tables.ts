/**
 * Reads the reference tables of the three programs (Markdown) into plain rows, and keeps a compact copy of them under
 * `tests/testdata/surface/`: names, types, defaults. The copy is what the tests compare with; where the documents are
 * at hand, another test compares the copy with them.
 *
 * `deno run --allow-read --allow-write tests/surface/spec_tables.ts` writes the copy anew.
 *
 * Permissions: read (the documents, the copy); write (the copy) when run.
 *
 * @module
 */

/** A variable of the documents. `users` is letters of programs. */
export interface SettingRow {
  name: string;
  type: string;
  default: string;
  users: string;
}

/** A metric of the documents. */
export interface MetricRow {
  name: string;
  type: string;
  users: string;
}

/** A flag of the documents; `command` is empty for a program's root. */
export interface FlagRow {
  program: string;
  command: string;
  name: string;
  short: string;
  type: string;
  default: string;
}

/** All tables. */
export interface Surface {
  settings: SettingRow[];
  metrics: MetricRow[];
  flags: FlagRow[];
  scopes: Record<string, string[]>;
  ciphers: string[];
}

/** Folder of the documents, beside the repository. */
export const specFolder = new URL("../../../shared/spec/", import.meta.url);

/** Folder of the copy. */
export const copyFolder = new URL("../testdata/surface/", import.meta.url);

const documents = [
  "1-shared-environment.md",
  "2-pilot-discovery.md",
  "3-pilot-agent-and-install-cni.md",
];

interface Section {
  title: string;
  rows: string[][];
}

/** Sections with the rows of their tables, header rows included. */
function sections(text: string): Section[] {
  const found: Section[] = [{ title: "", rows: [] }];
  for (const line of text.split("\n")) {
    if (line.startsWith("#")) found.push({ title: line.replace(/^#+\s*/, ""), rows: [] });
    else if (/^`pilot-agent` metrics:|^`install-cni` metrics:/.test(line)) found.push({ title: line, rows: [] });
    else if (/^\|(?!---)/.test(line)) {
      const cells = line.slice(1, line.lastIndexOf("|")).split(" | ").map((c) => c.trim());
      found.at(-1)?.rows.push(cells);
    }
  }
  return found;
}

function plain(cell = ""): string {
  return cell.replaceAll("`", "");
}

function settingsOf(section: Section): SettingRow[] {
  const only = /used only by `([a-z-]+)`/.exec(section.title)?.[1];
  const users = { discovery: "D", "pilot-agent": "A", "install-cni": "C" }[only ?? ""] ?? "DAC";
  const column = section.rows[0]?.indexOf("Used by") ?? -1;
  return section.rows
    .filter(([name = ""]) => /^[A-Z][A-Z0-9_]+$/.test(name))
    .map((row) => ({
      name: row[0] ?? "",
      type: row[1] ?? "",
      default: row[2] === "(empty)" ? "" : row[2] ?? "",
      users: column < 0 ? users : (row[column] ?? "").replaceAll(" ", ""),
    }));
}

function metricsOf(section: Section, letter: string): { name: string; type: string; letter: string }[] {
  return section.rows
    .filter(([name = "", type = ""]) => /^[a-z0-9_]+$/.test(name) && /^(Sum|LastValue|Distribution)$/.test(type))
    .map(([name = "", type = ""]) => ({ name, type, letter }));
}

function flagRow(program: string, command: string, cells: string[]): FlagRow[] {
  const match = /^--([\w-]+)(?: \(-(\w)\))?$/.exec(plain(cells[0]).replace(" (shorthand)", ""));
  if (match === null) return [];
  const [, name = "", short = ""] = match;
  const value = plain(cells[2]);
  return [{ program, command, name, short, type: plain(cells[1]), default: value === "empty" ? "" : value }];
}

const LOGGING: [string, string, string][] = [
  ["log_as_json", "switch", "off"],
  ["log_caller", "string", ""],
  ["log_output_level", "string", ""],
  ["log_stacktrace_level", "string", "default:none"],
  ["log_target", "string array", "[stdout]"],
];
const VKLOG: [string, string, string] = ["vklog", "level", "0"];
const CTRLZ: [string, string, string][] = [["ctrlz_address", "string", "localhost"], ["ctrlz_port", "uint16", "9876"]];
const SHELLS = ["bash", "fish", "powershell", "zsh"];

/** Flags in the prose of the documents: logging flags in all their places, version, completion. */
function proseFlags(): FlagRow[] {
  const rows: FlagRow[] = [];
  const add = (program: string, command: string, list: [string, string, string][], short = "") =>
    rows.push(...list.map(([name, type, value]) => ({ program, command, name, short, type, default: value })));
  const commands: Record<string, string[]> = {
    "pilot-discovery": ["discovery", "request", "version", "completion"],
    "pilot-agent": ["", "completion", "mesh-iptables", "proxy", "request", "version", "wait"],
    "install-cni": ["", "version", "completion"],
  };
  for (const [program, list] of Object.entries(commands)) {
    const everywhere = program === "pilot-discovery" ? [VKLOG] : [...LOGGING, VKLOG];
    if (program === "install-cni") everywhere.push(...CTRLZ);
    for (const command of [...list, ...SHELLS.map((s) => `completion ${s}`)]) add(program, command, everywhere);
    for (const shell of SHELLS) add(program, `completion ${shell}`, [["no-descriptions", "switch", "off"]]);
    add(program, "version", [["output", "string", ""]], "o");
    add(program, "version", [["short", "switch", "short"]], "s");
  }
  return rows;
}

/** Reads the documents. */
export function readSurface(read: (name: string) => string): Surface {
  const [one = [], two = [], three = []] = documents.map((name) => sections(read(name)));
  const all = [...one, ...two, ...three];
  const settings = all.filter((s) => /variables/i.test(s.title)).flatMap(settingsOf);
  const metricRows = [
    ...two.filter((s) => s.title === "Events").flatMap((s) => metricsOf(s, "D")),
    ...three.filter((s) => s.title.includes("`pilot-agent` metrics")).flatMap((s) => metricsOf(s, "A")),
    ...three.filter((s) => s.title.includes("`install-cni` metrics")).flatMap((s) => metricsOf(s, "C")),
  ];
  const metrics = [...Map.groupBy(metricRows, (m) => m.name)].map(([name, rows]) => ({
    name,
    type: [...new Set(rows.map((r) => r.type))].join("/"),
    users: rows.map((r) => r.letter).join(""),
  }));
  const table = (list: Section[], title: string) => list.find((s) => s.title === title)?.rows ?? [];
  const flags = [
    ...table(two, "Flags of `discovery`").flatMap((row) => flagRow("pilot-discovery", "discovery", row)),
    ...table(three, "Flags of `pilot-agent proxy`").flatMap((row) => flagRow("pilot-agent", "proxy", row)),
    ...table(three, "Flags of `pilot-agent mesh-iptables`").flatMap((row) =>
      flagRow("pilot-agent", "mesh-iptables", row)
    ),
    ...table(three, "Other `pilot-agent` flags")
      .filter(([command = ""]) => /^`(request|wait)`$/.test(command))
      .flatMap(([command, ...row]) => flagRow("pilot-agent", plain(command), row)),
    ...table(three, "Flags of `install-cni`").flatMap((row) => flagRow("install-cni", "", row)),
    ...proseFlags(),
  ];
  const unique = new Map(flags.map((f) => [`${f.program} ${f.command} ${f.name}`, f]));
  return {
    settings,
    metrics: metrics.sort((a, b) => (a.name < b.name ? -1 : 1)),
    flags: [...unique.values()],
    scopes: readScopes(read),
    ciphers: [...new Set(read(documents[1] ?? "").match(/\bTLS_[A-Z0-9_]+\b/g) ?? [])],
  };
}

function readScopes(read: (name: string) => string): Record<string, string[]> {
  const [, two = [], three = []] = documents.map((name) => sections(read(name)));
  const groups = (list: Section[], section: string, from: string) => {
    const rows = list.find((s) => s.title === section)?.rows ?? [];
    const at = rows.findIndex((row) => row[1] === from);
    const scopes: string[] = [];
    for (const row of rows.slice(at + 1)) if (/^\d$/.test(row[0] ?? "")) scopes.push(...(row[1] ?? "").split(", "));
    return scopes;
  };
  const cni = /Scopes: ([^.]+)\./.exec(read(documents[2] ?? ""))?.[1]?.split(", ") ?? [];
  return {
    "pilot-discovery": groups(two, "Flags of `discovery`", "Scopes"),
    "pilot-agent": groups(three, "Other `pilot-agent` flags", "Scopes"),
    "install-cni": cni,
  };
}

/** The documents; undefined where they are not at hand. */
export function specSurface(): Surface | undefined {
  try {
    return readSurface((name) => Deno.readTextFileSync(new URL(name, specFolder)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The checked-in copy. */
export function copiedSurface(): Surface {
  return JSON.parse(Deno.readTextFileSync(new URL("surface.json", copyFolder)));
}

/** Text of the copy: one row a line, so that a change shows as a single line. */
export function copyText(surface: Surface): string {
  const lists = Object.entries(surface).map(([key, value]) =>
    Array.isArray(value)
      ? `  ${JSON.stringify(key)}: [\n${value.map((row) => `    ${JSON.stringify(row)}`).join(",\n")}\n  ]`
      : `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`
  );
  return `{\n${lists.join(",\n")}\n}\n`;
}

if (import.meta.main) {
  const surface = specSurface();
  if (surface === undefined) throw new Error(`the documents are not at ${specFolder.pathname}`);
  Deno.mkdirSync(copyFolder, { recursive: true });
  Deno.writeTextFileSync(new URL("surface.json", copyFolder), copyText(surface));
}
