/** Policies that close an object whose waypoint is not used. */
import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import { targetsOf, type WaypointPolicy } from "../../lib/mesh/waypoints/policies.ts";
import { inFile } from "../config/origins.ts";

function policy(kind: string, spec: object, annotations: Readonly<Record<string, string>> = {}): WaypointPolicy {
  const targetRefs = [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "door" }];
  const tree = {
    apiVersion: "security.mesh.io/v1",
    kind,
    metadata: { namespace: "shop", name: "one", annotations },
    spec: { targetRefs, ...spec },
  };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  assert.ok(object, JSON.stringify(findings));
  return object as WaypointPolicy;
}

const RULES = { rules: [{}] };

Deno.test("a policy that lets every request pass closes nothing, and every other policy closes its targets", () => {
  const passes = [
    policy("RequestAuthentication", {}),
    policy("RequestAuthentication", { jwtRules: [] }),
    policy("AuthorizationPolicy", { action: "AUDIT", ...RULES }),
    policy("AuthorizationPolicy", { action: "DENY", ...RULES }, { "mesh.io/dry-run": "true" }),
  ];
  const refuses = [
    policy("RequestAuthentication", { jwtRules: [{ issuer: "i", jwksUri: "https://i.example/keys" }] }),
    policy("AuthorizationPolicy", {}),
    policy("AuthorizationPolicy", { action: "ALLOW", ...RULES }),
    policy("AuthorizationPolicy", { action: "DENY", ...RULES }),
    policy("AuthorizationPolicy", { action: "CUSTOM", provider: { name: "asked" }, ...RULES }),
  ];
  const targets = (policies: readonly WaypointPolicy[]) => policies.map((one) => targetsOf(one, "mesh-system"));
  assert.deepEqual(targets(passes), passes.map(() => []));
  assert.deepEqual(targets(refuses), refuses.map(() => ["ApiGateway/shop/door"]));
});
