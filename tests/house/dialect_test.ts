/** One way to write each thing with several spellings. */
import assert from "node:assert/strict";
import { sourceFiles } from "../../scripts/imports.ts";

const root = new URL("../..", import.meta.url).pathname;
const files = sourceFiles(root, ["lib", "cmd", "scripts"]);

/**
 * A member or parameter property with the keyword. A constructor is exempt, because the keyword is the only way to be
 * private.
 */
const KEYWORD = /^\s*(?:static )?private (?!constructor\b)|\((?:.*, )?private (?:readonly )?\w+[:?]/m;

function withKeyword(file: string): boolean {
  return KEYWORD.test(Deno.readTextFileSync(`${root}/${file}`).replace(/\/\*[\s\S]*?\*\//g, ""));
}

Deno.test("private members are #private: the runtime holds to it, and a name says it where it is used", () => {
  assert.deepEqual(files.filter(withKeyword), []);
});

Deno.test("what a kind of proxy has is asked of its profile: nothing branches on the kind", () => {
  const branch =
    /\btype (?:===|!==) "(?:sidecar|router|proxyless|waypoint|ztunnel)"|case "(?:sidecar|router|proxyless)"/;
  const found = files.filter((file) => branch.test(Deno.readTextFileSync(`${root}/${file}`)));
  assert.deepEqual(found, [], "ask a field of ProxyProfile (lib/translate/reader/proxy_profile.ts)");
});

Deno.test("no comment states that a module needs no permissions: only needed permissions are named", () => {
  const all = sourceFiles(root, ["lib", "cmd", "scripts", "tests"]);
  assert.ok(all.length > 1500, "the walk found the tests");
  assert.deepEqual(all.filter((file) => / \* Permissions: none/.test(Deno.readTextFileSync(`${root}/${file}`))), []);
});
