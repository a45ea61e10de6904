/**
 * Help in the layout of Istio's programs: description, usage, aliases, commands, flags, global flags.
 *
 * @module
 */
import { notBuilt } from "../kernel/not_built/catalogue.ts";
import { type Command, inheritedFlags, localFlags, type Located, pathOf } from "./command.ts";
import type { Flag, FlagSet } from "./flag.ts";
import { showFlagValue } from "./flag_value.ts";
import { wrap } from "./terminal/layout.ts";

const HELP: Flag<boolean> = { type: "bool", default: false, short: "h", help: "" };

/**
 * Help of a command. Ends with a line break.
 *
 * @param width Characters in a line; default: lines are never broken.
 */
export function helpText(located: Located, width = Infinity): string {
  const { command } = located;
  const path = pathOf(located);
  const shown = (command.commands ?? []).filter((c) => c.hidden !== true);
  const inherited = inheritedFlags(located);
  const sections = [wrap(command.description ?? command.summary, width)];
  const waiting = notBuilt("command", path);
  if (waiting !== undefined) sections.push(wrap(`Not built in this version: ${path} ${waiting.effect}.`, width));
  sections.push(usage(located, shown.length > 0));
  if (command.aliases !== undefined) {
    sections.push(`Aliases:\n  ${[command.name, ...command.aliases].join(", ")}`);
  }
  if (command.examples !== undefined) sections.push(`Examples:\n${command.examples}`);
  if (shown.length > 0) sections.push(commandLines(path, shown, width));
  const flags = (set: FlagSet) => flagLines(located.line[0]?.name ?? "", set, width);
  const local = { ...localFlags(located), help: { ...HELP, help: `help for ${command.name}` } };
  sections.push(`Flags:\n${flags(local)}`);
  if (Object.keys(inherited).length > 0) sections.push(`Global Flags:\n${flags(inherited)}`);
  if (shown.length > 0) sections.push(`Use "${path} [command] --help" for more information about a command.`);
  return sections.join("\n\n") + "\n";
}

function commandLines(path: string, commands: readonly Command[], width: number): string {
  const column = Math.max(...commands.map((c) => c.name.length)) + 1;
  const lines = commands.map(({ name, summary }) => {
    const waiting = notBuilt("command", `${path} ${name}`) === undefined ? "" : " (not built in this version)";
    return wrap(summary + waiting, width, `  ${name.padEnd(column)} `);
  });
  return ["Available Commands:", ...lines].join("\n");
}

/** Only the usage block. */
export function usage(located: Located, hasCommands: boolean): string {
  const path = pathOf(located);
  const { command } = located;
  const args = command.args === undefined ? "" : ` ${command.args.usage}`;
  const lines = command.run !== undefined || !hasCommands ? [`  ${path}${args} [flags]`] : [];
  if (hasCommands) lines.push(`  ${path} [command]`);
  return ["Usage:", ...lines].join("\n");
}

/** Narrowest column of descriptions. If the width leaves less, descriptions begin on a new line. */
const LEAST_COLUMN = 30;

/** Flags sorted by name, descriptions aligned. */
function flagLines(program: string, flags: FlagSet, width: number): string {
  const rows = Object.entries(flags)
    .filter(([, flag]) => flag.hidden !== true)
    .sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
    .map(([name, flag]) => {
      const short = flag.short === undefined ? "    " : `-${flag.short}, `;
      const type = flag.type === "bool" ? "" : " " + typeWord(flag);
      const text = flag.help + variables(flag) + defaultNote(flag) + waitingNote(program, name);
      return [`  ${short}--${name}${type}`, text] as const;
    });
  const column = Math.max(...rows.map(([left]) => left.length)) + 3;
  if (width - column >= LEAST_COLUMN) {
    return rows.map(([left, text]) => wrap(text, width, left.padEnd(column), " ".repeat(column))).join("\n");
  }
  return rows.map(([left, text]) => `${left}\n${wrap(text, width, " ".repeat(8))}`).join("\n");
}

/** The note that a flag has no effect in this version, with the missing part. Empty: the flag has an effect. */
function waitingNote(program: string, name: string): string {
  const waiting = notBuilt("flag", `${program} --${name}`);
  return waiting === undefined ? "" : ` (no effect in this version: waits for ${waiting.part})`;
}

/** The type in help: for lists, the type of one element. */
function typeWord(flag: Flag): string {
  return flag.type === "stringSlice" ? "strings" : flag.type;
}

function variables(flag: Flag): string {
  return flag.env === undefined ? "" : ` [$${flag.env.join(", $")}]`;
}

/** ` (default ...)`, left out where the default is nothing: off, empty, zero. */
function defaultNote(flag: Flag): string {
  const text = showFlagValue(flag);
  const nothing = ["false", "", "0", "[]", "0s"].includes(text) && flag.type !== "Level";
  return nothing ? "" : ` (default ${flag.type === "string" ? JSON.stringify(text) : text})`;
}
