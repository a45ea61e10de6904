import assert from "node:assert/strict";
import { programs } from "../../lib/kernel/program/program.ts";
import { spellings } from "../../lib/kernel/settings/border.ts";
import { settingsUsedBy } from "../../lib/kernel/settings/catalogue.ts";
import { OPENSSL_PATHS } from "../../lib/pki/openssl/library.ts";
import { LIBC_PATHS } from "../../lib/cni/zds/libc.ts";
import { compileArguments, compiledPrograms, permissionFlags, permissionSets } from "../../scripts/compile.ts";

const sets = permissionSets();

Deno.test("every program has a permission set, and no set allows everything", () => {
  assert.deepEqual(Object.keys(sets).toSorted(), programs.toSorted());
  assert.deepEqual([...compiledPrograms], programs);
  for (const [name, set] of Object.entries(sets)) {
    assert(!("all" in set), name);
    for (const kind of ["run", "ffi", "write", "sys"]) assert.notEqual(set[kind], true, `${name}: ${kind}`);
  }
});

/** True when a list of names and prefixes (`PILOT_*`) covers a name. */
function covered(list: readonly string[], name: string): boolean {
  return list.some((entry) => entry === name || (entry.endsWith("*") && name.startsWith(entry.slice(0, -1))));
}

Deno.test("install-cni may read exactly its variables, in every spelling", () => {
  const list = sets["install-cni"]?.["env"];
  assert(Array.isArray(list));
  const names = settingsUsedBy("install-cni").flatMap(([name]) => spellings(name));
  assert.deepEqual(names.filter((name) => !covered(list, name)), []);
  assert.deepEqual(list.filter((entry) => !names.some((name) => covered([entry], name))), [], "entries without use");
  assert.deepEqual(list, list.toSorted(), "sorted");
});

Deno.test("pilot-discovery may read all variables: the mesh configuration names some (envName), agents pass theirs on", () => {
  assert.equal(sets["pilot-discovery"]?.["env"], true);
  assert.equal(sets["pilot-agent"]?.["env"], true);
});

Deno.test("the server may call OpenSSL, the node agent's socket process the C library, by their paths; the agent none", () => {
  const libraries: Record<string, readonly string[]> = { "pilot-discovery": OPENSSL_PATHS, "install-cni": LIBC_PATHS };
  for (const [name, { ffi }] of Object.entries(sets)) assert.deepEqual(ffi, libraries[name], name);
  const flag = `--allow-ffi=${OPENSSL_PATHS.join(",")}`;
  assert(compileArguments("pilot-discovery", sets["pilot-discovery"] ?? {}).includes(flag));
  // Otherwise a request could overwrite the library.
  const writable = sets["pilot-discovery"]?.["write"];
  assert(Array.isArray(writable) && !writable.some((folder) => OPENSSL_PATHS.some((path) => path.startsWith(folder))));
});

Deno.test("the flags of deno compile are the permission set, and unknown kinds are refused", () => {
  const set = { net: true, read: ["/a", "/b"], env: false, run: [] };
  assert.deepEqual(permissionFlags(set), ["--no-prompt", "--allow-net", "--allow-read=/a,/b"]);
  assert.throws(() => permissionFlags({ teleport: true }), /permission teleport: expected one of net/);
  const line = compileArguments("install-cni", sets["install-cni"] ?? {});
  assert.equal(line[0], "compile");
  assert.deepEqual(line.slice(-3), ["--output", "dist/install-cni", "cmd/install-cni/main.ts"]);
  const server = compileArguments("pilot-discovery", sets["pilot-discovery"] ?? {});
  assert.equal(server[server.indexOf("--include") + 1], "cmd/pilot-discovery/start.ts");
  assert(!line.includes("-A") && !line.includes("--allow-all"));
  assert(
    server.includes("--v8-flags=--max-semi-space-size=8,--min-semi-space-size=8,--expose-gc"),
    "the engine's options are built in",
  );
});

Deno.test("the tasks run the programs with their permission sets", () => {
  const { tasks } = JSON.parse(Deno.readTextFileSync(new URL("../../deno.json", import.meta.url)));
  for (const program of programs) {
    assert.match(tasks[program], new RegExp(`-P=${program} cmd/${program}/main\\.ts$`));
    assert.doesNotMatch(tasks[program], / -A\b|--allow-all/);
  }
});
