/** Plans of objects without a plan of their own. */
import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import type { AnyConfigObject } from "../../lib/config/types.ts";
import { defaultShares, readDefaults, type RolloutDefaults } from "../../lib/rollout/defaults.ts";
import { StagedObjects } from "../../lib/rollout/staged_objects.ts";
import { inFile } from "../config/origins.ts";

function route(namespace: string, timeout: string, annotations: Readonly<Record<string, string>> = {}) {
  const spec = { hosts: ["a.com"], http: [{ timeout, route: [{ destination: { host: "a.com" } }] }] };
  const metadata = { name: "one", namespace, annotations };
  const tree = { apiVersion: "networking.mesh.io/v1", kind: "VirtualService", metadata, spec };
  return parseObject(tree, inFile("test"), { defaultNamespace: "x" }).object as AnyConfigObject;
}

function defaultsOf(text: string): RolloutDefaults {
  const read = readDefaults(text);
  assert.ok("defaults" in read, JSON.stringify(read));
  return read.defaults;
}

Deno.test("the more specific entry gives the shares: kind of a namespace, namespace, kind", () => {
  const defaults = defaultsOf(
    "VirtualService=10%,100%; shop/*=20%,100% ;shop/VirtualService=30%,100%;edge/*=40%,100%;",
  );
  const shares = (namespace: string) => defaultShares(route(namespace, "1s"), defaults);
  assert.deepEqual(["other", "shop", "edge"].map(shares), ["10%,100%", "30%,100%", "40%,100%"]);
  assert.equal(defaultShares(route("other", "1s"), defaultsOf("EnvoyFilter=10%,100%;shop/*=100%")), undefined);
});

Deno.test("entries without a meaning are all named, with what was expected", () => {
  const read = readDefaults(
    "Gateway=10%,100%; VirtualService=10%; a/b/c=100%; /*=100%; Telemetry; Telemetry=100%;Telemetry=50%,100%",
  );
  assert.ok("faults" in read);
  assert.equal(read.faults.length, 6);
  assert.match(
    read.faults[0]!,
    /"Gateway=10%,100%", expected KIND, NAMESPACE\/\* or NAMESPACE\/KIND of DestinationRule, /,
  );
  assert.match(read.faults[1]!, /"VirtualService=10%", expected rising shares/);
  assert.match(read.faults[5]!, /"Telemetry" twice/);
  assert.deepEqual(readDefaults(""), { defaults: new Map() });
  assert.ok("faults" in readDefaults("x".repeat(200_000)));
});

Deno.test("an edit of an object without a plan is staged by the default, and a plan of its own goes before", () => {
  const defaults = defaultsOf("x/*=10%:1m,100%");
  const staged = new StagedObjects({ now: () => 0, soakMs: 7, domain: "cluster.local", defaults });
  staged.settledChange({ removed: [], added: [route("x", "1s"), route("y", "1s")] });
  staged.seal();
  const stages = () => staged.rollouts().map(({ key, plan }) => [key, plan.stages, plan.paused]);
  const { added } = staged.settledChange({ removed: [], added: [route("x", "2s"), route("y", "2s")] });
  assert.deepEqual(added.map(({ key }) => key), ["VirtualService/y/one"]);
  const byDefault = [{ percent: 10, soakMs: 60_000 }, { percent: 100, soakMs: 7 }];
  assert.deepEqual(stages(), [["VirtualService/x/one", byDefault, false]]);
  staged.settledChange({ removed: [], added: [route("x", "2s", { "mesh.io/rollout-paused": "true" })] });
  assert.deepEqual(stages(), [["VirtualService/x/one", byDefault, true]], "the pause belongs to the default plan, too");
  staged.settledChange({ removed: [], added: [route("x", "3s", { "mesh.io/rollout": "100%:0s" })] });
  assert.deepEqual(stages(), [["VirtualService/x/one", [{ percent: 100, soakMs: 0 }], false]]);
});
