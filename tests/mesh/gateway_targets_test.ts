import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObject } from "../../lib/config/object.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import { GatewayTargets } from "../../lib/mesh/selection/gateway_targets.ts";
import { inFile } from "../config/origins.ts";

/** The derived Gateway of a listener of Gateway NAMESPACE/NAME. */
function derived(
  gateway: string,
  listener: number,
  selector: Readonly<Record<string, string>>,
  kind = "ApiGateway",
): ConfigObject<"Gateway"> {
  const [namespace = "", name = ""] = gateway.split("/");
  const port = { number: 80 + listener, name: "default", protocol: "HTTP" };
  const origin = { from: "derived", source: "test", of: `${kind}/${gateway}`, parent: inFile("test") } as const;
  const tree = {
    ...{ apiVersion: "networking.mesh.io/v1", kind: "Gateway", metadata: { namespace, name: `${name}-${listener}` } },
    spec: { selector, servers: [{ port, hosts: ["*"] }] },
  };
  const { object, findings } = parseObject(tree, origin, { defaultNamespace: "default" });
  assert.ok(object, JSON.stringify(findings));
  return object as ConfigObject<"Gateway">;
}

function names(targets: GatewayTargets, namespace: string, labels: Readonly<Record<string, string>>): string[] {
  return (targets.of({ namespace, labels }).targets ?? []).map(({ kind, name }) => `${kind} ${name}`);
}

Deno.test("a workload has the Gateways that it serves in its namespace, and the Gateway of its label", () => {
  const targets = new GatewayTargets();
  targets.update([], [
    derived("shop/edge", 0, { app: "door" }),
    derived("shop/both", 0, { app: "door", tier: "1" }),
    derived("shop/all", 0, {}),
    derived("pay/far", 0, { app: "door" }),
    derived("shop/ingress", 0, { app: "door" }, "Ingress"),
  ]);
  assert.deepEqual(names(targets, "shop", { app: "door" }), ["Gateway all", "Gateway edge"]);
  const labels = { tier: "1", app: "door", "gateway.networking.k8s.io/gateway-name": "named" };
  assert.deepEqual(names(targets, "shop", labels), ["Gateway all", "Gateway both", "Gateway edge", "Gateway named"]);
  assert.deepEqual(names(targets, "pay", { app: "door" }), ["Gateway far"]);
  assert.deepEqual(names(targets, "pay", { app: "x" }), []);
});

Deno.test("further listeners of a Gateway change no targets; its first and last listener, and another selector, do", () => {
  const targets = new GatewayTargets();
  const [first, second] = [derived("shop/edge", 0, { app: "door" }), derived("shop/edge", 1, { app: "door" })];
  const moved = derived("shop/edge", 0, { app: "x" });
  assert.deepEqual(targets.update([], [first]), new Set(["shop"]));
  assert.deepEqual(targets.update([], [second]), new Set());
  assert.deepEqual(targets.update([first], [derived("shop/edge", 2, { app: "door" })]), new Set());
  assert.deepEqual(targets.update([second], [moved]), new Set(["shop"]));
  assert.deepEqual(names(targets, "shop", { app: "x" }), ["Gateway edge"]);
  assert.deepEqual(targets.update([moved], []), new Set(["shop"]));
  assert.deepEqual(names(targets, "shop", { app: "x" }), []);
});

const gateway = fc.record({
  of: fc.constantFrom("shop/edge", "shop/back", "pay/edge"),
  listener: fc.nat(2),
  selector: fc.constantFrom<Readonly<Record<string, string>>>({}, { app: "door" }, { app: "door", tier: "1" }),
  isThere: fc.boolean(),
});

Deno.test("after any changes, targets are those of a fresh index, and each changed target is in a namespace that is named", () => {
  const workloads = ["shop", "pay"].flatMap((namespace) =>
    [{}, { app: "door" }, { tier: "1", app: "door" }].map((labels) => ({ namespace, labels }))
  );
  fc.assert(fc.property(fc.array(fc.array(gateway, { maxLength: 4 }), { maxLength: 8 }), (changes) => {
    const targets = new GatewayTargets();
    const there = new Map<string, ConfigObject<"Gateway">>();
    for (const change of changes) {
      const before = workloads.map((one) => targets.of(one));
      const next = new Map(change.map(({ of, listener, selector, isThere }) => {
        const object = derived(of, listener, selector);
        return [object.key, isThere ? object : undefined] as const;
      }));
      const removed = [...next.keys()].flatMap((key) => there.get(key) ?? []);
      const added = [...next.values()].filter((one) => one !== undefined);
      for (const { key } of removed) there.delete(key);
      for (const one of added) there.set(one.key, one);
      const namespaces = targets.update(removed, added);
      const fresh = new GatewayTargets();
      fresh.update([], [...there.values()]);
      for (const [at, one] of workloads.entries()) {
        assert.deepEqual(targets.of(one), fresh.of(one));
        const isSame = JSON.stringify(before[at]) === JSON.stringify(targets.of(one));
        assert.ok(isSame || namespaces.has(one.namespace));
      }
    }
  }));
});
