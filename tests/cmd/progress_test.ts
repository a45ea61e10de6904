/** Progress in reading many files, on a terminal. */
import assert from "node:assert/strict";
import { takeTexts } from "../../cmd/pilot-discovery/offline.ts";
import type { Output } from "../../lib/cli/command.ts";
import { NO_TERMINAL } from "../../lib/cli/terminal/terminal.ts";
import { meshOf, readsOf } from "../offline/mesh_of.ts";

Deno.test("it names documents and files, never goes back, and does not say all before all is read", async () => {
  const entry = (name: string) =>
    `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: x }
spec: { hosts: [${name}.example.com], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: DNS }
`;
  const files = Object.fromEntries(
    [1, 20, 3].map((documents, file) => [
      `f${file}.yaml`,
      Array.from({ length: documents }, (_, i) => entry(`e${file}-${i}`)).join("---\n"),
    ]),
  );
  const shown: string[] = [];
  const output: Output = {
    out: () => {},
    err: (text) => void shown.push(text.replace("\r\x1b[K", "")),
    terminals: { out: NO_TERMINAL, err: { interactive: true, colour: false, width: 80 } },
  };
  let time = 0;
  await takeTexts(
    meshOf({}),
    readsOf(files),
    output,
    () => time += 1000,
  );
  const states = shown.flatMap((text) => {
    const [, documents, done] = /^parsed (\d+) documents?, (\d) of 3 files$/.exec(text) ?? [];
    return done === undefined ? [] : [[Number(documents), Number(done)] as const];
  });
  const [first] = states;
  const last = states.at(-1)!;
  assert.deepEqual(first, [0, 0]);
  assert.equal(last[1], 2);
  for (const [i, [documents, done]] of states.entries()) {
    assert.ok(i === 0 || documents >= states[i - 1]![0] && done >= states[i - 1]![1], shown.join("\n"));
  }
  assert.ok(last[0] > 20 && last[0] <= 24, shown.join("\n"));
});
