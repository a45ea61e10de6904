/**
 * The command `version`.
 *
 * @module
 */
import { type BuildInfo, buildInfo } from "../kernel/program/build_info.ts";
import { type Command, runs } from "./command.ts";
import { boolFlag, stringFlag } from "./flag.ts";

/** Text of the version in a format. `short` holds for the plain format only. */
export function versionText(info: BuildInfo, format: string, short: boolean): string {
  const rows = [
    ["version", info.version],
    ["revision", info.revision],
    ["golang_version", info.runtime],
    ["status", info.status],
    ["tag", info.tag],
  ] as const;
  if (format === "json") return JSON.stringify({ clientVersion: Object.fromEntries(rows) }, null, 2) + "\n";
  if (format === "yaml") {
    return "clientVersion:\n" + rows.map(([key, value]) => `  ${key}: ${yamlScalar(value)}\n`).join("") + "\n";
  }
  if (short) return `client version: ${info.version}\n`;
  const fields = [
    ["Version", info.version],
    ["GitRevision", info.revision],
    ["GolangVersion", info.runtime],
    ["BuildStatus", info.status],
    ["GitTag", info.tag],
  ] as const;
  const dump = fields.map(([key, value]) => `${key}:${JSON.stringify(value)}`).join(", ");
  return `client version: version.BuildInfo{${dump}}\n`;
}

/** A YAML text, quoted where plain text would be read as something else. */
function yamlScalar(text: string): string {
  return /^[A-Za-z][\w./-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text);
}

const flags = {
  output: stringFlag("", "one of `yaml` or `json`", { short: "o", allowed: ["yaml", "json"] }),
  short: boolFlag("version number only; --short=false for everything about the build", { short: "s", value: true }),
};

export const versionCommand: Command = {
  name: "version",
  summary: "Print the version",
  description: "Prints the version of this program; with --short=false also how it was built.",
  flags,
  run: runs(flags, ({ flags, output }) => {
    output.out(versionText(buildInfo(), flags.output, flags.short));
    return 0;
  }),
};
