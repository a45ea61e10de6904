/**
 * What is put on the node where no compiled executable is at hand: a script that runs the same entry by the runtime, with
 * the same permission set.
 *
 * Permissions: none.
 *
 * @module
 */

/**
 * The script.
 *
 * @param deno Path of the runtime on the node.
 * @param repository Folder of the tree on the node, with a slash at its end.
 */
export function launcherScript(deno: string, repository: string): string {
  const words = [
    deno,
    "run",
    "--quiet",
    "--no-prompt",
    "--cached-only",
    "--no-check",
    `--config=${repository}deno.json`,
    "-P=install-cni",
    `${repository}cmd/install-cni/main.ts`,
  ];
  // A runtime may call with any PATH, or none; the packet filter's tools are in folders that not every PATH has.
  const path = `PATH="\${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"\nexport PATH\n`;
  return `#!/bin/sh\n${path}exec ${words.map(quoted).join(" ")} "$@"\n`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
