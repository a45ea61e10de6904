/** Every flag of the reference tables exists in its place, with its type and default. */
import assert from "node:assert/strict";
import { installCni } from "../../cmd/install-cni/commands.ts";
import { pilotAgent } from "../../cmd/pilot-agent/commands.ts";
import { insecureCiphers, preferredCiphers } from "../../cmd/pilot-discovery/discovery_flags.ts";
import { pilotDiscovery } from "../../cmd/pilot-discovery/commands.ts";
import { type Command, type Located, pathOf } from "../../lib/cli/command.ts";
import type { Flag } from "../../lib/cli/flag.ts";
import { showFlagValue } from "../../lib/cli/flag_value.ts";
import { formatDuration } from "../../lib/kernel/time/duration.ts";
import { flagsOf, locate } from "../../lib/cli/locate.ts";
import { copiedSurface, type FlagRow } from "../surface/spec_tables.ts";

const programs: Record<string, Command> = {
  "pilot-discovery": pilotDiscovery,
  "pilot-agent": pilotAgent,
  "install-cni": installCni,
};
const surface = copiedSurface();

/** Type names of the tables. */
const typeWords: Record<Flag["type"], string> = {
  bool: "switch",
  string: "string",
  stringArray: "string array",
  stringSlice: "string list",
  stringToString: "map string to string",
  int: "int",
  int32: "int32",
  uint16: "uint16",
  float32: "float32",
  duration: "duration",
  Level: "level",
};

/** A default in the form of the tables. */
function shownDefault(name: string, flag: Flag): string {
  if (flag.type === "bool") return name === "short" ? (flag.default ? "short" : "long") : flag.default ? "on" : "off";
  const text = flag.type === "duration" ? formatDuration(Number(flag.default)) : showFlagValue(flag);
  return text === "[]" ? "" : text;
}

function at(program: string, command: string): Located {
  const root = programs[program];
  assert(root, program);
  const found = locate(root, command.split(" ").filter((w) => w !== ""));
  assert.equal(pathOf(found), [program, command].filter((w) => w !== "").join(" "));
  return found;
}

for (const [place, rows] of Map.groupBy(surface.flags, (row) => `${row.program} ${row.command}`.trim())) {
  Deno.test(`${place} has every flag of the tables with its shorthand, type and default`, () => {
    const [{ program, command }] = rows as [FlagRow];
    const flags = flagsOf(at(program, command));
    const ours = rows.map(({ name }) => {
      const flag = flags[name];
      if (flag === undefined) return { program, command, name, missing: true };
      const { short = "", type } = flag;
      return { program, command, name, short, type: typeWords[type], default: shownDefault(name, flag) };
    });
    assert.deepEqual(ours, rows);
  });

  Deno.test(`${place} has no flag beyond the tables`, () => {
    const [{ program, command }] = rows as [FlagRow];
    const listed = new Set(rows.map((row) => row.name));
    assert.deepEqual(Object.keys(flagsOf(at(program, command))).filter((name) => !listed.has(name)), []);
  });
}

Deno.test("the programs have the subcommands of the tables and no others", () => {
  const names = (command: Command): unknown[] =>
    (command.commands ?? []).map((c) => (c.commands === undefined ? c.name : [c.name, ...names(c)]));
  const shells = ["completion", "bash", "fish", "powershell", "zsh"];
  // Our commands beyond the tables: work without a server, and verbs of istioctl.
  assert.deepEqual(names(pilotDiscovery), [
    shells,
    "discovery",
    "request",
    "check",
    "diff",
    "explain",
    "manifests",
    "size",
    "translate",
    ["waypoint", "generate", "list"],
    "create-remote-secret",
    ["tag", "list", "set", "remove"],
    "dashboard",
    ["describe", "pod", "service"],
    ["proxy-config", "clusters", "listeners", "routes", "endpoints", "secret", "bootstrap", "log"],
    "proxy-status",
    "rollout",
    "scope",
    "wait",
    "bug-report",
    "precheck",
    ["experimental", ["describe", "pod", "service"], "precheck", "proxy-status", "wait"],
    "version",
  ]);
  assert.deepEqual(names(pilotAgent), [shells, "mesh-iptables", "proxy", "request", "version", "wait"]);
  // Beyond the tables, too: `doctor` looks at a node, and `uninstall` mends a node without an installer.
  assert.deepEqual(names(installCni), [shells, "doctor", "uninstall", "version", "zds"]);
});

Deno.test("the cipher suites equal the tables", () => {
  assert.deepEqual([...preferredCiphers, ...insecureCiphers].toSorted(), surface.ciphers.toSorted());
});

Deno.test("no two flags of a command share a letter, and every flag has help", () => {
  const walk = (command: Command, line: Command[]) => {
    const flags = flagsOf({ command, line });
    const letters = Object.values(flags).map((f) => f.short).filter((s) => s !== undefined);
    assert.equal(new Set(letters).size, letters.length, command.name);
    assert(!letters.includes("h"), command.name);
    for (const [name, flag] of Object.entries(flags)) assert(flag.help.length > 10, name);
    for (const child of command.commands ?? []) walk(child, [...line, child]);
  };
  for (const root of Object.values(programs)) walk(root, [root]);
});

Deno.test("flags of mesh-iptables pair with the variable of their name, but --proxy-port has no variable", () => {
  for (const [name, flag] of Object.entries(at("pilot-agent", "mesh-iptables").command.flags ?? {})) {
    const variable = name.toUpperCase().replaceAll("-", "_");
    assert.equal(flag.env?.[0], name === "proxy-port" ? undefined : variable);
  }
});
