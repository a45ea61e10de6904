/**
 * Launchers, for nodes without a compiled executable: scripts that run the plugin by the runtime, with the program's
 * permission set alone. The runtime is the node's own, or comes with the plugin.
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

/** A runtime may call with any PATH, or none. The packet filter's tools are in folders that some PATHs lack. */
const SEARCH_PATH =
  `PATH="\${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"\nexport PATH\n`;

/**
 * The script for a plugin of this tree. A runtime's call goes to the plugin's bundle, if one exists: the bundle starts a third sooner than the
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
  const call = bundle === undefined
    ? ""
    : `[ -z "\${CNI_COMMAND+set}" ] || ${exec([...common, "--no-config", "--no-lock", ...permissionFlags(), bundle])}`;
  return `#!/bin/sh\n${SEARCH_PATH}${call}${exec(program)}`;
}

/** Names of the files that come with a plugin: runtime, plugin, and the folder of code that the runtime compiled. */
export const PLACED = { runtime: "deno", plugin: "plugin.js", compiled: "compiled" } as const;

/**
 * The script for a plugin whose files the installer has placed on the node.
 * @param files Folder of the files, from the folder of the launcher.
 */
export function placedLauncherScript(files: string): string {
  const flags = ["--quiet", "--no-prompt", "--cached-only", "--no-check", "--no-config", "--no-lock"];
  const words = ["run", ...flags, ...permissionFlags()].map(quoted).join(" ");
  return `#!/bin/sh
if [ -z "\${CNI_COMMAND+set}" ]; then
  echo "$0 is called by the container runtime, with CNI_COMMAND; for the state of the node run install-cni doctor" >&2
  exit 1
fi
${SEARCH_PATH}files="\${0%/*}"/${quoted(files)}
DENO_DIR="$files/${PLACED.compiled}" DENO_NO_UPDATE_CHECK=1
export DENO_DIR DENO_NO_UPDATE_CHECK
exec "$files/${PLACED.runtime}" ${words} "$files/${PLACED.plugin}" "$@"
`;
}

/** The folder of the files of a placed launcher, from the folder of the launcher; undefined for another script. */
export function filesOfLauncher(script: string): string | undefined {
  return /^files="\$\{0%\/\*\}"\/'([\w./-]{1,200})'$/m.exec(script)?.[1];
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
