/** Prefixes of whole segments, for Ingresses, in a form that Envoy accepts. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { routeMatch } from "../../../lib/translate/route/match.ts";

const of = (prefix: string) => routeMatch({ uri: { prefix } }, true);

Deno.test("a prefix of whole segments has no slashes at its end; / stays a plain prefix", () => {
  assert.deepEqual(of("/a"), { path_separated_prefix: "/a" });
  assert.deepEqual(of("/a/b//"), { path_separated_prefix: "/a/b" });
  assert.deepEqual(of("/"), { prefix: "/" });
  assert.deepEqual(routeMatch({ uri: { prefix: "/a" } }), { prefix: "/a" });
  assert.deepEqual(routeMatch({ uri: { exact: "/a" } }, true), { path: "/a" });
});

Deno.test("a prefix of segments always has the form that Envoy accepts", () => {
  const text = fc.string({ unit: fc.constantFrom("/", "a", "?", "#", ".", "*"), minLength: 1, maxLength: 6 });
  fc.assert(fc.property(text, (prefix) => {
    const { path_separated_prefix: sent } = of(prefix);
    assert.ok(sent === undefined || /^[^?#]+[^?#/]$/.test(sent));
  }));
});
