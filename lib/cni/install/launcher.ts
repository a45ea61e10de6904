/**
 * The launcher, for nodes without a compiled executable: a script that runs the plugin by the runtime, with the
 * program's permission set alone.
 *
 * @module
 */
import { callVariables } from "../config/network.ts";

/** The permissions of the plugin: a part of the permission set `install-cni` of deno.json. The reasons are there. */
export const pluginPermissions: Readonly<Record<"net" | "read" | "write" | "env" | "run", true | readonly string[]>> = {
  net: true,
  read: true,
  write: ["/host", "/var/run/mesh-cni", "/etc/cni", "/opt/cni", "/var/log", "/tmp"],
  env: callVariables,
  run: ["nsenter"],
};

/**
 * The script. A runtime's call goes to the plugin's bundle, if one exists: the bundle starts a third sooner than the
 * sources. Calls by people go to the program.
 * @param deno Path of the runtime on the node.
 * @param repository Folder of the tree on the node, with a slash at its end.
 * @param bundle Path of the bundle on the node. Undefined: the sources are run.
 */
export function launcherScript(deno: string, repository: string, bundle?: string): string {
  const common = [deno, "run", "--quiet", "--no-prompt", "--cached-only", "--no-check"];
  const program = [
    ...common,
    `--config=${repository}deno.json`,
    "-P=install-cni",
    `${repository}cmd/install-cni/main.ts`,
  ];
  // A runtime may call with any PATH, or none. The packet filter's tools are in folders that some PATHs lack.
  const path = `PATH="\${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"\nexport PATH\n`;
  const call = bundle === undefined
    ? ""
    : `[ -z "\${CNI_COMMAND+set}" ] || ${exec([...common, "--no-config", "--no-lock", ...permissionFlags(), bundle])}`;
  return `#!/bin/sh\n${path}${call}${exec(program)}`;
}

function exec(words: readonly string[]): string {
  return `exec ${words.map(quoted).join(" ")} "$@"\n`;
}

function permissionFlags(): string[] {
  return Object.entries(pluginPermissions).map(([kind, value]) =>
    value === true ? `--allow-${kind}` : `--allow-${kind}=${value.join(",")}`
  );
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
