/**
 * Files are opened, and folders are watched, in one place: a file made by others may be a named pipe, a device or 100
 * GB, and the file system may not answer. `lib/kernel/files/regular.ts` handles all of that.
 */
import assert from "node:assert/strict";
import { sourceFiles } from "../../scripts/imports.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** Calls that open a path, and modules with such calls. */
const OPENS =
  /\bDeno\.(?:open|openSync|create|createSync|readFile|readFileSync|readTextFile|readTextFileSync|writeFile|writeFileSync|writeTextFile|writeTextFileSync|copyFile|copyFileSync|truncate|truncateSync|watchFs)\(|"node:fs(?:\/promises)?"/g;

/** Exempt files: number of calls, and the reason. */
const MAY: Readonly<Record<string, { readonly times: number; readonly why: string }>> = {
  "lib/kernel/files/regular.ts": { times: 2, why: "it is the place" },
  "lib/kernel/files/events.ts": { times: 1, why: "it is the place for watchers" },
  "lib/kernel/files/whole_file.ts": {
    times: 2,
    why: "a new file of a random name; its folder, to have the names on the disk",
  },
  "lib/kernel/log/target.ts": { times: 2, why: "the log's own file; a named pipe is refused before" },
  "lib/kernel/program/build_info.ts": { times: 1, why: "files of the program's own clone" },
  "lib/agent/wasm/cache/module_files.ts": { times: 1, why: "a new file of a random name" },
  "lib/cni/node/lock.ts": { times: 1, why: "the installer's lock; what is not a regular file is refused before" },
  "lib/cni/node/file_calls.ts": {
    times: 6,
    why: "the installer's files on a node; what is not a regular file is refused before; a folder is opened to sync it",
  },
  "lib/cni/plugin/calls.ts": { times: 1, why: "the plugin's own list; what is not a regular file is refused before" },
  "lib/offline/inputs.ts": { times: 1, why: "a pipe that the user names on the command line" },
  "lib/cni/plugin/system_redirector.ts": {
    times: 1,
    why: "the plugin's own notes; what is not a regular file is refused before",
  },
  "cmd/pilot-agent/mesh_iptables.ts": {
    times: 1,
    why: "the file that the user names; what is not a regular file is refused before",
  },
  "cmd/pilot-discovery/bug_report_command.ts": { times: 1, why: "a new file, which no other program has made" },
  "cmd/program_bundle.ts": { times: 4, why: "it makes the bundle from the program's own files" },
};

Deno.test("no file is opened, and no folder watched, outside of the one place that knows what may lie there", () => {
  const found: Record<string, number> = {};
  for (const file of sourceFiles(root, ["lib", "cmd"])) {
    const code = Deno.readTextFileSync(`${root}/${file}`).replace(/^\s*(?:\*|\/\/).*$/gm, "");
    const times = [...code.matchAll(OPENS)].length;
    if (times > 0) found[file] = times;
  }
  assert.deepEqual(found, Object.fromEntries(Object.entries(MAY).map(([file, { times }]) => [file, times])));
});

Deno.test("the expression sees each way to open a file", () => {
  for (
    const line of [
      "await Deno.readTextFile(path)",
      "Deno.openSync(path, { append: true })",
      "Deno.watchFs(folder)",
      'import { readFileSync } from "node:fs";',
    ]
  ) assert.match(line, new RegExp(OPENS.source));
});
