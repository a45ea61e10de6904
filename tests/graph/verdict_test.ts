/** What policies say about callers. */
import assert from "node:assert/strict";
import { edgesOf, object, policy, service } from "./world.ts";

const WORLD = [service("a", "x"), service("b", "y")];

/** The edges to the service of `y`, with policies there. */
function callsWith(...texts: readonly string[]): string[] {
  return edgesOf([...WORLD, ...texts], "y").filter((edge) => edge.includes("-> service y/b.y"))
    .map((edge) => edge.replace("call ", "").replace(" -> service y/b.y", ""));
}

const from = (source: string) => `rules: [{ from: [{ source: { ${source} } }] }]`;

Deno.test("without policies any workload may call; an ALLOW policy leaves the named callers alone", () => {
  assert.deepEqual(callsWith(), ["anyone: allowed"]);
  assert.deepEqual(callsWith(policy("p", "y", from("namespaces: [x]"))), ["namespace x: allowed"]);
  assert.deepEqual(callsWith(policy("p", "y", from("serviceAccounts: [x/a]"))), ["namespace x: allowed"]);
  assert.deepEqual(callsWith(policy("none", "y", "")), []);
});

Deno.test("a DENY policy wins over an ALLOW policy, for exactly its callers", () => {
  const allow = policy("p", "y", from("namespaces: [x, z]"));
  assert.deepEqual(callsWith(allow, policy("d", "y", `action: DENY, ${from("namespaces: [z]")}`)), [
    "namespace x: allowed",
    "namespace z: denied",
  ]);
  assert.deepEqual(callsWith(allow, policy("d", "y", "action: DENY, rules: [{}]")), [
    "namespace x: denied",
    "namespace z: denied",
  ]);
  assert.deepEqual(callsWith(policy("d", "y", `action: DENY, ${from("notNamespaces: [x]")}`)), [
    "namespace x: allowed",
  ]);
});

Deno.test("rules about requests make calls conditional, with the names of the attributes", () => {
  const rule = `rules: [{ from: [{ source: { namespaces: [x] } }], to: [{ operation: { methods: [GET] } }],
    when: [{ key: "request.headers[a]", values: [b] }] }]`;
  assert.deepEqual(callsWith(policy("p", "y", rule)), ["namespace x: conditional; if methods, request.headers[a]"]);
  assert.deepEqual(callsWith(policy("d", "y", "action: DENY, rules: [{ to: [{ operation: { paths: [/a] } }] }]")), [
    "anyone: conditional; if paths",
  ]);
});

Deno.test("a policy on trial and an AUDIT policy decide nothing", () => {
  const trial = policy("d", "y", "action: DENY, rules: [{}]", "", '{ mesh.io/dry-run: "true" }');
  assert.deepEqual(callsWith(trial), ["anyone: allowed"]);
  assert.deepEqual(callsWith(policy("d", "y", "action: AUDIT, rules: [{}]")), ["anyone: allowed"]);
});

Deno.test("all identities are any workload where mutual TLS is strict, and nobody where it is off", () => {
  const all = policy("p", "y", from('principals: ["*"]'));
  const mode = (name: string) => object("PeerAuthentication", "m", "y", `{ mtls: { mode: ${name} } }`);
  assert.deepEqual(callsWith(all), ["anyone: conditional; if identity of the caller"]);
  assert.deepEqual(callsWith(all, mode("STRICT")), ["anyone: allowed"]);
  assert.deepEqual(callsWith(all, mode("DISABLE")), []);
  assert.deepEqual(callsWith(policy("p", "y", from("namespaces: [x]")), mode("DISABLE")), ["namespace x: denied"]);
});

Deno.test("trust domains of the mesh are equivalent, and patterns are callers of their own", () => {
  assert.deepEqual(callsWith(policy("p", "y", from("principals: [cluster.local/ns/y/sa/b, '*/sa/admin']"))), [
    "identity y/b: allowed",
    "pattern */sa/admin: allowed",
  ]);
  assert.deepEqual(callsWith(policy("p", "y", from("principals: [cluster.local/ns/x/*]"))), ["namespace x: allowed"]);
});
