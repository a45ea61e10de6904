import assert from "node:assert/strict";
import { nearestName } from "../../../lib/kernel/text/nearest.ts";

const cases: readonly (readonly [name: string, candidates: readonly string[], nearest: string | undefined])[] = [
  ["shrot", ["short", "shot"], "short"],
  ["ConfigDir", ["configDir", "config-dirs"], "configDir"],
  ["httpaddr", ["http-addr"], "http-addr"],
  ["rnu", ["run", "rename"], "run"],
  ["retires", ["retryOn", "retries"], "retries"],
  ["connectTimeuot", ["timeout", "connectTimeout"], "connectTimeout"],
  ["conf", ["configuration", "other"], "configuration"],
  ["conf", ["configuration", "configured"], undefined],
  ["ab", ["abcdef"], undefined],
  ["xyz", ["abc", "retries"], undefined],
  ["", ["abc"], undefined],
  ["a".repeat(65), ["a".repeat(64)], undefined],
];
for (const [name, candidates, nearest] of cases) {
  Deno.test(`nearest to ${JSON.stringify(name.slice(0, 20))} of ${candidates.join(", ").slice(0, 40)}: ${nearest}`, () => {
    assert.equal(nearestName(name, candidates), nearest);
  });
}
