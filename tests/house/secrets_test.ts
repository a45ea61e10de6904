import assert from "node:assert/strict";
import { sourceFiles } from "../../scripts/imports.ts";

const root = new URL("../..", import.meta.url).pathname;

/** The modules that may reveal the bytes of `ConcealedBytes`, and why. */
const REVEALING: Readonly<Record<string, string>> = {
  "lib/config/facts/credential.ts":
    "judges whether a certificate and its key can be used, and says nothing else of them",
  "lib/discovery/credentials/envoy_secret.ts": "makes the resource that is sent to proxies that may read it",
  "lib/config/facts/hashed_fact.ts": "hashes a secret with a key of this process",
};

Deno.test("the bytes of secrets are taken out where the table says so, and nowhere else", () => {
  const found = sourceFiles(root, ["lib", "cmd", "scripts"]).filter((file) =>
    /\.reveal\(/.test(Deno.readTextFileSync(`${root}/${file}`))
  );
  assert.deepEqual(found.sort(), Object.keys(REVEALING).sort());
});
