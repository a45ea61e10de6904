/**
 * The candidates for the word at the cursor: subcommands, flags, values. The shells' scripts ask for candidates by the
 * hidden command `__complete`.
 *
 * @module
 */
import type { Command, Located } from "../command.ts";
import { type Flag, type FlagSet, NAME_SORTS, type NameSort } from "../flag.ts";
import { type Addressed, byShort, flagsOf, locate, takesValue } from "../locate.ts";

/** How the shell goes on after a candidate: with a space, without, with file names, with folder names. */
export type Directive = "space" | "nospace" | "files" | "folders";

/** A candidate: the whole word that replaces the word at the cursor. */
export interface CompletionCandidate {
  readonly value: string;
  readonly description: string;
}

/** Candidates, and the shell's next step after a choice. */
export interface Completion {
  readonly candidates: readonly CompletionCandidate[];
  readonly directive: Directive;
  /** Names that the program looks up; absent: none. */
  readonly names?: WantedNames;
}

/** Names that complete a word. */
export interface WantedNames {
  readonly sort: NameSort;
  /** The part of the word before the name. */
  readonly kept: string;
  /** The beginning of the name. */
  readonly start: string;
}

const NOTHING: Completion = { candidates: [], directive: "space" };

/**
 * Candidates for the last of `words`, which may be empty.
 *
 * @param words The command line behind the program's name, up to the cursor.
 */
export function complete(root: Command, words: readonly string[]): Completion {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const helping = before[0] === "help";
  const located = locate(root, helping ? before.slice(1) : before);
  if (before.includes("--")) return argumentValues(located, current);
  const flags = flagsOf(located);
  const waiting = flagWaiting(flags, before.at(-1));
  if (waiting !== undefined) return flagValues(waiting, "", current);
  const equals = current.indexOf("=");
  if (current.startsWith("--") && equals > 0) {
    const flag = flags[current.slice(2, equals)];
    return flag === undefined ? NOTHING : flagValues(flag, current.slice(0, equals + 1), current.slice(equals + 1));
  }
  if (current.startsWith("-")) return { candidates: flagNames(flags, current), directive: "space" };
  if (located.command.commands !== undefined) {
    return located.argument === undefined ? commandNames(located, current, root, helping) : NOTHING;
  }
  return helping ? NOTHING : argumentValues(located, current);
}

/** The flag whose value is the next word. */
function flagWaiting(flags: FlagSet, word: string | undefined): Flag | undefined {
  if (word === undefined || !word.startsWith("-") || word.includes("=")) return undefined;
  const name = word.startsWith("--") ? word.slice(2) : byShort(flags, word.at(-1) ?? "");
  const flag = name === undefined ? undefined : flags[name];
  return flag !== undefined && takesValue(flag) ? flag : undefined;
}

function flagNames(flags: FlagSet, current: string): CompletionCandidate[] {
  const rows = Object.entries(flags)
    .filter(([, flag]) => flag.hidden !== true)
    .map(([name, flag]) => ({ value: `--${name}`, description: flag.help }));
  rows.push({ value: "--help", description: "help for this command" });
  return rows.filter((row) => row.value.startsWith(current)).sort(byValue);
}

function byValue(a: CompletionCandidate, b: CompletionCandidate): number {
  return a.value < b.value ? -1 : 1;
}

function commandNames(located: Located, current: string, root: Command, helping: boolean): Completion {
  const rows = (located.command.commands ?? [])
    .filter((c) => c.hidden !== true)
    .map((c) => ({ value: c.name, description: c.summary }));
  if (located.command === root && !helping) rows.push({ value: "help", description: "Help about any command" });
  return { candidates: rows.filter((row) => row.value.startsWith(current)), directive: "space" };
}

function argumentValues(located: Addressed, current: string): Completion {
  const { values = [], complete: kind } = located.command.args ?? {};
  if (kind === "file") return { candidates: [], directive: "files" };
  if (kind !== undefined && (values.length === 0 || located.argument !== undefined)) {
    return { candidates: [], directive: "space", names: { sort: kind, kept: "", start: current } };
  }
  const candidates = values.filter((v) => v.startsWith(current)).map((value) => ({ value, description: "" }));
  return { candidates, directive: "space" };
}

/** Values of a flag. Of lists, the element after the last comma. `prefix` is the part of the word that stays. */
function flagValues(flag: Flag, prefix: string, current: string): Completion {
  if (flag.complete === "file") return { candidates: [], directive: "files" };
  if (flag.complete === "folder") return { candidates: [], directive: "folders" };
  const isList = flag.type === "stringSlice" || flag.commas === true;
  const comma = isList ? current.lastIndexOf(",") + 1 : 0;
  const kept = prefix + current.slice(0, comma);
  const element = current.slice(comma);
  const colon = element.indexOf(":");
  if (flag.pairedWith !== undefined && colon >= 0) {
    const head = element.slice(0, colon + 1);
    return { candidates: matching(flag.pairedWith, kept + head, element.slice(colon + 1)), directive: "space" };
  }
  if (isNameSort(flag.complete)) {
    return { candidates: [], directive: "space", names: { sort: flag.complete, kept, start: element } };
  }
  const values = flag.complete ?? flag.allowed ?? (flag.type === "bool" ? ["true", "false"] : []);
  const suffix = flag.pairedWith === undefined ? "" : ":";
  const candidates = matching(values.map((v) => v + suffix), kept, element);
  return { candidates, directive: suffix === "" ? "space" : "nospace" };
}

function matching(values: readonly string[], kept: string, start: string): CompletionCandidate[] {
  return values
    .filter((v) => v !== "" && v.startsWith(start))
    .map((value) => ({ value: kept + value, description: "" }));
}

function isNameSort(complete: Flag["complete"]): complete is NameSort {
  return (NAME_SORTS as readonly unknown[]).includes(complete);
}

/** A completion with the names that were found. */
export function withNames(completion: Completion, names: readonly string[]): Completion {
  const { kept = "", start = "" } = completion.names ?? {};
  const found = matching([...new Set(names)].sort(), kept, start).slice(0, MAX_NAMES);
  // A page goes on with its query.
  const isOpen = found.length === 1 && found[0]!.value.endsWith("=");
  return { candidates: found, directive: isOpen ? "nospace" : "space" };
}

/** The most names that a shell shows. */
const MAX_NAMES = 1000;

/** Text for the scripts: a candidate per line, the description after a tab, the directive last after a colon. */
export function completionText(completion: Completion, descriptions: boolean): string {
  const lines = completion.candidates.map(({ value, description }) =>
    descriptions && description !== "" ? `${value}\t${description.replace(/\s+/g, " ")}` : value
  );
  return [...lines, `:${completion.directive}`].join("\n") + "\n";
}

/** The subcommands of `completion`, for the command tree and for the scripts. */
export const shells = ["bash", "zsh", "fish", "powershell"] as const;

/** A shell with a script. */
export type Shell = (typeof shells)[number];
