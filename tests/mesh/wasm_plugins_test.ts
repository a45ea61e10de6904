/** Selection, place and order of WasmPlugins for a workload. */
import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import type { SelectableWorkload } from "../../lib/mesh/selection/index.ts";
import { type WasmPlugin, WasmPluginIndex } from "../../lib/mesh/wasm_plugins.ts";
import { inFile } from "../config/origins.ts";

const ROOT = "mesh-system";

/** @param age A larger age is older. */
function plugin(name: string, namespace: string, spec: object = {}, age = 1): WasmPlugin {
  const creationTimestamp = new Date(1e12 - age * 1000).toISOString();
  const tree = {
    apiVersion: "extensions.istio.io/v1alpha1",
    kind: "WasmPlugin",
    metadata: { name, namespace, creationTimestamp },
    spec: { url: "example.com/a:1", ...spec },
  };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  assert.ok(object, JSON.stringify(findings));
  return object as WasmPlugin;
}

function indexOf(...plugins: readonly WasmPlugin[]): WasmPluginIndex {
  const made = new WasmPluginIndex(ROOT);
  made.update([], plugins);
  return made;
}

const cart = { namespace: "shop", labels: { app: "cart" } };
const app = (name: string) => ({ selector: { matchLabels: { app: name } } });

function names(index: WasmPluginIndex, workload: Omit<SelectableWorkload, "targets"> = cart): string[] {
  return index.of(workload).plugins.map(({ meta: { name } }) => name);
}

Deno.test("of one phase the higher priority runs first and one without priority last, then the own namespace, then the oldest", () => {
  const index = indexOf(
    plugin("root-old", ROOT, {}, 9),
    plugin("root-first", ROOT, { priority: 50 }),
    plugin("young", "shop", {}, 1),
    plugin("old", "shop", app("cart"), 5),
    plugin("negative", "shop", { priority: -5 }),
    plugin("zero", "shop", { priority: 0 }),
    plugin("ten", "shop", { priority: 10 }, 1),
    plugin("older-ten", "shop", { priority: 10 }, 2),
  );
  assert.deepEqual(names(index), [
    ...["root-first", "older-ten", "ten", "zero", "negative"],
    ...["old", "young", "root-old"],
  ]);
});

Deno.test("plugins apply to workloads of their namespace, plugins of the root namespace to all workloads, by labels or by a named gateway", () => {
  const target = (name: string) => ({ targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name }] });
  const index = indexOf(
    plugin("a-cart", "shop", app("cart")),
    plugin("b-pay", "shop", app("pay")),
    plugin("c-root-cart", ROOT, app("cart")),
    plugin("d-elsewhere", "other"),
    plugin("e-door", "shop", target("door")),
    plugin("f-root-door", ROOT, target("door")),
  );
  const gateway = { namespace: "shop", labels: { "gateway.networking.k8s.io/gateway-name": "door" } };
  assert.deepEqual(names(index), ["a-cart", "c-root-cart"]);
  assert.deepEqual(names(index, gateway), ["e-door"]);
  assert.deepEqual(names(index, { namespace: ROOT, labels: { app: "cart" } }), ["c-root-cart"]);
  assert.deepEqual(names(index, { namespace: "none", labels: {} }), []);
});

const PORTS: readonly (readonly [string, object[] | undefined, "client" | "server", number[] | "all" | "none"])[] = [
  ["without a match: all traffic", undefined, "client", "all"],
  ["an empty selector: all traffic", [{}], "server", "all"],
  ["CLIENT is not for inbound traffic", [{ mode: "CLIENT" }], "server", "none"],
  ["SERVER is not for outbound traffic", [{ mode: "SERVER" }], "client", "none"],
  ["both", [{ mode: "CLIENT_AND_SERVER", ports: [{ number: 80 }] }], "client", [80]],
  [
    "ports of all selectors of the side",
    [
      { mode: "SERVER", ports: [{ number: 80 }, { number: 81 }] },
      { mode: "CLIENT", ports: [{ number: 82 }] },
      { ports: [{ number: 83 }] },
    ],
    "server",
    [80, 81, 83],
  ],
  ["one selector for all ports is enough", [{ ports: [{ number: 80 }] }, { mode: "SERVER" }], "server", "all"],
];

for (const [name, match, side, ports] of PORTS) {
  Deno.test(`traffic that a plugin sees: ${name}`, () => {
    const [use] = indexOf(plugin("a", "shop", match && { match })).of(cart).uses[side];
    assert.deepEqual(use === undefined ? "none" : use.ports ?? "all", ports);
  });
}

Deno.test("another module or configuration of a plugin is the same in listeners, another place is not", () => {
  const index = new WasmPluginIndex(ROOT);
  const uses = (before: readonly WasmPlugin[], now: WasmPlugin) => {
    assert.deepEqual([...index.update(before, [now])], ["shop"]);
    return index.of(cart).uses.client;
  };
  const [one, two, three] = [
    plugin("a", "shop"),
    plugin("a", "shop", { url: "example.com/a:2", pluginConfig: { b: 1 } }),
    plugin("a", "shop", { phase: "AUTHN" }),
  ];
  const first = uses([], one);
  assert.equal(uses([one], two), first);
  assert.notEqual(uses([two], three), first);
});
