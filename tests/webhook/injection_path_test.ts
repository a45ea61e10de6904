import assert from "node:assert/strict";
import { readInjectionPath } from "../../lib/webhook/injection_path.ts";

Deno.test("keys of the path: cluster and net; any other key is a variable in upper case; --slash-- is a slash", () => {
  const read = readInjectionPath("/inject/cluster/c1/net/n--slash--1/proxy_log/a%20b/mesh_meta_x/");
  assert.deepEqual(read, {
    ...{ cluster: "c1", network: "n/1", variables: { PROXY_LOG: "a b" } },
    problems: ['path: got the key "mesh_meta_x" without a value; the key is ignored'],
  });
});

Deno.test("a path without parameters sets no variable", () => {
  for (const path of ["/inject", "/inject/"]) {
    assert.deepEqual(readInjectionPath(path), { variables: {}, problems: [] });
  }
});

Deno.test("the form of addresses with :ENV: is read", () => {
  const read = readInjectionPath("/inject/:ENV:cluster=c1:ENV:net=:ENV:a=b=c:ENV:=x");
  assert.deepEqual([read.cluster, read.network, read.variables], ["c1", "", { A: "b=c" }]);
  assert.match(read.problems.join(), /"=x", expected key=value/);
});

Deno.test("a key that cannot be the name of a variable is left out, with the reason; the other keys are kept", () => {
  const read = readInjectionPath("/inject/a b/c/__proto__/d/e/f");
  assert.match(read.problems.join(), /the key "a b", expected the name of a variable/);
  assert.deepEqual(Object.entries(read.variables), [["__PROTO__", "d"], ["E", "f"]]);
});
