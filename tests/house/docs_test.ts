import assert from "node:assert/strict";
import { sourceFiles } from "../../scripts/imports.ts";

const root = new URL("../..", import.meta.url).pathname;

Deno.test("`deno doc` shows every export of mod.ts with a description", async () => {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", "--quiet", "mod.ts"],
    cwd: root,
    env: { NO_COLOR: "1" },
    stdout: "piped",
    stderr: "inherit",
  }).output();
  assert(success);
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout));
  const symbols = namesAndDocs(nodes);
  assert(symbols.some(({ name }) => name === "startServer"), "the shape of deno doc's answer is another one");
  assert.deepEqual(symbols.filter(({ doc }) => doc.trim() === "").map(({ name }) => name), []);
});

interface DocEntry {
  readonly name: string;
  readonly doc: string;
}

/** Symbols anywhere in the answer, whose shape changes with Deno's versions. */
function namesAndDocs(node: unknown): DocEntry[] {
  if (Array.isArray(node)) return node.flatMap(namesAndDocs);
  if (typeof node !== "object" || node === null) return [];
  const { name, declarations, jsDoc, symbols } = node as Record<string, unknown>;
  if (symbols !== undefined) return namesAndDocs(symbols);
  const docOf = (d: unknown) => String((d as { jsDoc?: { doc?: string } }).jsDoc?.doc ?? "");
  if (typeof name === "string" && Array.isArray(declarations)) {
    return [{ name, doc: declarations.map(docOf).join("") }];
  }
  if (typeof name === "string") return [{ name, doc: docOf({ jsDoc }) }];
  return Object.values(node).flatMap(namesAndDocs);
}

Deno.test("examples in doc comments run: no example is marked to be ignored", () => {
  const ignored = sourceFiles(root, ["lib"]).filter((file) =>
    /```(?:ts|typescript) ignore/.test(Deno.readTextFileSync(`${root}/${file}`))
  );
  assert.deepEqual(ignored, []);
});
