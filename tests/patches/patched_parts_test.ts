import assert from "node:assert/strict";
import { PatchedContents, PatchedParts } from "../../lib/patches/patched_parts.ts";
import type { PatchOutcome } from "../../lib/patches/types.ts";
import { patchesOf } from "./patches.ts";

const remove = { applyTo: "CLUSTER", patch: { operation: "REMOVE" } } as const;

Deno.test("a part is patched once for each list of patches, and the outcome is reported to each user", () => {
  const parts = new PatchedParts<{ readonly text: string }>();
  const [one, two] = [patchesOf(remove), patchesOf(remove)];
  const part = { text: "a" };
  let applied = 0;
  const patched = (patches: typeof one) => {
    const heard: PatchOutcome[] = [];
    const result = parts.patched(part, patches, (outcome) => heard.push(outcome), (report) => {
      applied++;
      report({ patch: patches[0]! });
      return { text: `a${applied}` };
    });
    return { text: result.text, heard: heard.map(({ patch }) => patch) };
  };
  assert.deepEqual(patched(one), { text: "a1", heard: one });
  assert.deepEqual(patched([...one]), { text: "a1", heard: one }, "the same patches in another list");
  assert.deepEqual(patched(two), { text: "a2", heard: two });
  assert.deepEqual(patched([...one, ...two]).text, "a3");
  assert.equal(applied, 3);
});

Deno.test("results of few lists are kept for a part that stays", () => {
  const parts = new PatchedParts<object>();
  const part = {};
  let applied = 0;
  const apply = () => {
    applied++;
    return part;
  };
  const first = patchesOf(remove);
  parts.patched(part, first, () => {}, apply);
  for (let i = 0; i < 10; i++) parts.patched(part, patchesOf(remove), () => {}, apply);
  parts.patched(part, first, () => {}, apply);
  assert.equal(applied, 12, "the first list was forgotten");
});

Deno.test("equal contents are patched once, whoever has them, and one that nothing changes is known to be so", () => {
  const contents = new PatchedContents();
  const patches = patchesOf(remove);
  let applied = 0;
  const patched = (content: number, list = patches) => {
    const heard: PatchOutcome[] = [];
    const result = contents.patched(Uint8Array.of(content), list, (outcome) => heard.push(outcome), (report) => {
      applied++;
      if (content === 0) return undefined;
      report({ patch: list[0]! });
      return Uint8Array.of(content, applied);
    });
    return { result: result && [...result], heard: heard.map(({ patch }) => patch) };
  };
  assert.deepEqual(patched(1), { result: [1, 1], heard: patches });
  assert.deepEqual(patched(1), { result: [1, 1], heard: patches });
  assert.deepEqual(patched(2), { result: [2, 2], heard: patches });
  assert.deepEqual(patched(1, patchesOf(remove)).result, [1, 3], "other patches");
  for (let i = 0; i < 2; i++) assert.deepEqual(patched(0), { result: undefined, heard: [] });
  assert.equal(applied, 4);
});

Deno.test("the contents that came first are forgotten when many have come", () => {
  const contents = new PatchedContents();
  const patches = patchesOf(remove);
  const applied: number[] = [];
  const patched = (content: number) =>
    contents.patched(Uint8Array.of(content, content >> 8), patches, () => {}, () => {
      applied.push(content);
      return undefined;
    });
  for (let i = 0; i < 300; i++) patched(i);
  applied.length = 0;
  for (const i of [299, 0]) patched(i);
  assert.deepEqual(applied, [0]);
});
