import assert from "node:assert/strict";
import { importsOf, sourceFiles } from "../../scripts/imports.ts";

const root = new URL("../..", import.meta.url).pathname;

/** Imports of each file, with a line of the sources for each arrow. */
type Arrows = Map<string, Map<string, string>>;

function put(arrows: Arrows, from: string, to: string, where: string): void {
  const row = arrows.get(from) ?? new Map<string, string>();
  if (!row.has(to)) row.set(to, where);
  arrows.set(from, row);
}

/** The circles on a walk from each node, each as its lines. */
function circlesOf(arrows: Arrows): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const walk = (node: string, trail: readonly string[]) => {
    const start = trail.indexOf(node);
    if (start >= 0) {
      const ring = [...trail.slice(start), node];
      circles.push(ring.slice(1).map((to, i) => arrows.get(ring[i]!)!.get(to)!));
    }
    if (start >= 0 || done.has(node)) return;
    for (const to of arrows.get(node)?.keys() ?? []) walk(to, [...trail, node]);
    done.add(node);
  };
  for (const node of arrows.keys()) walk(node, []);
  return circles;
}

const files = sourceFiles(root, ["lib", "cmd", "scripts"]);

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

const modules: Arrows = new Map();
/** Between folders only imports at run time count: a type of the folder above is not a dependency. */
const folders: Arrows = new Map();
for (const file of files) {
  for (const { to, line, typeOnly } of importsOf(root, file)) {
    if (!/^(?:lib|cmd|scripts)\//.test(to)) continue;
    const where = `${file}:${line} imports ${to}`;
    put(modules, file, to, where);
    if (!typeOnly && folderOf(file) !== folderOf(to)) put(folders, folderOf(file), folderOf(to), where);
  }
}

Deno.test("the walk finds a cycle of any length, and no cycle in a graph without cycles", () => {
  const arrows: Arrows = new Map();
  for (const [from, to] of ["12", "23", "31", "34"]) put(arrows, from!, to!, `${from}${to}`);
  assert.deepEqual(circlesOf(arrows), [["12", "23", "31"]]);
  arrows.get("3")!.delete("1");
  assert.deepEqual(circlesOf(arrows), []);
});

Deno.test("no files import each other in a circle, types included", () => {
  assert.deepEqual(circlesOf(modules), [], "move what both need into a file of its own, or pass it in");
});

Deno.test("no folders import each other in a circle, nor a folder and its parent", () => {
  assert.deepEqual(circlesOf(folders), [], "move what both need into a folder of its own, or pass it in");
});

Deno.test("only a package that the library exports has a mod.ts", () => {
  const exported = importsOf(root, "mod.ts").map(({ to }) => to);
  const doors = files.filter((file) => file.endsWith("/mod.ts"));
  assert.deepEqual(doors.filter((file) => !exported.includes(file)), []);
});
