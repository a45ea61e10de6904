/**
 * Help in the layout of Istio's programs: description, usage, aliases, commands, flags, global flags.
 *
 * @module
 */
import { inheritedFlags, localFlags, type Located, pathOf } from "./command.ts";
import type { Flag, FlagSet } from "./flag.ts";
import { showFlagValue } from "./flag_value.ts";

const HELP: Flag<boolean> = { type: "bool", default: false, short: "h", help: "" };

/** Help of a command. Ends with a line break. */
export function helpText(located: Located): string {
  const { command } = located;
  const path = pathOf(located);
  const shown = (command.commands ?? []).filter((c) => c.hidden !== true);
  const inherited = inheritedFlags(located);
  const sections = [command.description ?? command.summary, usage(located, shown.length > 0)];
  if (command.aliases !== undefined) {
    sections.push(`Aliases:\n  ${[command.name, ...command.aliases].join(", ")}`);
  }
  if (command.examples !== undefined) sections.push(`Examples:\n${command.examples}`);
  if (shown.length > 0) {
    const width = Math.max(...shown.map((c) => c.name.length)) + 1;
    sections.push(["Available Commands:", ...shown.map((c) => `  ${c.name.padEnd(width)} ${c.summary}`)].join("\n"));
  }
  const local = { ...localFlags(located), help: { ...HELP, help: `help for ${command.name}` } };
  sections.push(`Flags:\n${flagLines(local)}`);
  if (Object.keys(inherited).length > 0) sections.push(`Global Flags:\n${flagLines(inherited)}`);
  if (shown.length > 0) sections.push(`Use "${path} [command] --help" for more information about a command.`);
  return sections.join("\n\n") + "\n";
}

/** The usage block alone. */
export function usage(located: Located, hasCommands: boolean): string {
  const path = pathOf(located);
  const { command } = located;
  const args = command.args === undefined ? "" : ` ${command.args.usage}`;
  const lines = command.run !== undefined || !hasCommands ? [`  ${path}${args} [flags]`] : [];
  if (hasCommands) lines.push(`  ${path} [command]`);
  return ["Usage:", ...lines].join("\n");
}

/** One line per flag, sorted by name, descriptions aligned. */
function flagLines(flags: FlagSet): string {
  const rows = Object.entries(flags)
    .filter(([, flag]) => flag.hidden !== true)
    .sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
    .map(([name, flag]) => {
      const short = flag.short === undefined ? "    " : `-${flag.short}, `;
      const type = flag.type === "bool" ? "" : " " + typeWord(flag);
      return [`  ${short}--${name}${type}`, flag.help + variables(flag) + defaultNote(flag)] as const;
    });
  const width = Math.max(...rows.map(([left]) => left.length)) + 3;
  return rows.map(([left, right]) => left.padEnd(width) + right).join("\n");
}

/** The type as help prints it: lists by the type of one element. */
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
