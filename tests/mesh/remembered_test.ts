import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import type { AnyConfigObject, ConfigObject } from "../../lib/config/types.ts";
import { AuthorizationPolicyIndex } from "../../lib/mesh/authorization_policy.ts";
import { PeerAuthenticationIndex } from "../../lib/mesh/peer_authentication.ts";
import { type PolicyWorkload, RememberedPolicies } from "../../lib/mesh/selection/remembered.ts";
import { inFile } from "../config/origins.ts";

Deno.test("the policy of a workload is looked up once, until it is dropped; an equal workload counts as another workload", () => {
  const asked: PolicyWorkload[] = [];
  const policies = new RememberedPolicies((workload) => asked.push(workload));
  const one = { namespace: "x", labels: { app: "a" } };
  const other = { ...one };
  assert.deepEqual([policies.of(one), policies.of(one), policies.of(other)], [1, 1, 2]);
  policies.forget();
  assert.deepEqual([policies.of(one), policies.of(one)], [3, 3]);
  assert.deepEqual(asked, [one, other, one]);
});

function object<K extends AnyConfigObject["kind"]>(kind: K, spec: object): ConfigObject<K> {
  const tree = { apiVersion: "security.mesh.io/v1", kind, metadata: { name: "p", namespace: "x" }, spec };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  assert.ok(object, JSON.stringify(findings));
  return object as ConfigObject<K>;
}

Deno.test("a workload with a remembered answer gets later policies, and loses removed policies", () => {
  const workload = { namespace: "x", labels: { app: "a" } };
  const authorizations = new AuthorizationPolicyIndex("mesh-system");
  const peers = new PeerAuthenticationIndex("mesh-system");
  const found = () => [authorizations.of(workload).length, peers.of(workload).mode];
  assert.deepEqual(found(), [0, "PERMISSIVE"]);
  const [policy, strict] = [
    object("AuthorizationPolicy", {}),
    object("PeerAuthentication", { mtls: { mode: "STRICT" } }),
  ];
  authorizations.update([], [policy]);
  peers.update([], [strict]);
  assert.deepEqual(found(), [1, "STRICT"]);
  authorizations.update([policy], []);
  peers.update([strict], []);
  assert.deepEqual(found(), [0, "PERMISSIVE"]);
});
