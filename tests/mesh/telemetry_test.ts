/** The combined effect of several Telemetries on a workload. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObject } from "../../lib/config/object.ts";
import { defaultMeshConfig } from "../../lib/config/mesh/merge.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import type { AccessLogUse, TelemetrySide } from "../../lib/mesh/telemetry/access_logging.ts";
import { TelemetryIndex } from "../../lib/mesh/telemetry/index.ts";
import { inFile } from "../config/origins.ts";

const ROOT = "mesh-system";
type Telemetry = ConfigObject<"Telemetry">;

/** @param age A larger age is older. */
function telemetry(name: string, namespace: string, spec: object, age = 1): Telemetry {
  const creationTimestamp = new Date(1e12 - age * 1000).toISOString();
  const tree = {
    apiVersion: "telemetry.istio.io/v1",
    kind: "Telemetry",
    metadata: { name, namespace, creationTimestamp },
    spec,
  };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  assert.ok(object, JSON.stringify(findings));
  return object as Telemetry;
}

function indexOf(defaults: readonly string[], ...objects: readonly Telemetry[]): TelemetryIndex {
  const mesh = defaultMeshConfig({ systemNamespace: ROOT });
  const made = new TelemetryIndex({ ...mesh, defaultProviders: { accessLogging: defaults } });
  made.update([], objects);
  return made;
}

const cart = { namespace: "shop", labels: { app: "cart" } };
const app = (name: string) => ({ selector: { matchLabels: { app: name } } });
const providers = (...names: readonly string[]) => ({ providers: names.map((name) => ({ name })) });

/** The uses of a side in short: `name`, `!name` where disabled, `name?filter`. */
function logs(index: TelemetryIndex, side: TelemetrySide = "client"): string[] | undefined {
  const short = ({ provider, disabled, filter }: AccessLogUse) =>
    `${disabled ? "!" : ""}${provider}${filter === undefined ? "" : `?${filter}`}`;
  return index.of(cart).accessLogging[side]?.map(short);
}

Deno.test("without a Telemetry the default providers log, and without default providers the mesh's own fields apply", () => {
  assert.deepEqual(logs(indexOf(["b", "a"])), ["a", "b"]);
  assert.equal(logs(indexOf([])), undefined);
});

Deno.test("the nearest Telemetry that names providers decides which log; metrics and tracing alone change nothing", () => {
  const mesh = telemetry("mesh", ROOT, { accessLogging: [providers("m")] });
  const shop = telemetry("shop", "shop", { accessLogging: [providers("s", "t")] });
  const own = telemetry("own", "shop", { ...app("cart"), accessLogging: [providers("o")] });
  const other = telemetry("other", "shop", { ...app("till"), accessLogging: [providers("x")] });
  const metrics = telemetry("none", "shop", { ...app("cart"), metrics: [providers("prometheus")] });
  assert.deepEqual(logs(indexOf(["d"], mesh, other)), ["m"]);
  assert.deepEqual(logs(indexOf(["d"], mesh, shop, metrics)), ["s", "t"]);
  assert.deepEqual(logs(indexOf(["d"], mesh, shop, own)), ["o"]);
  assert.deepEqual(indexOf(["d"], mesh, shop, own, other).of(cart).causes, [mesh, shop, own].map(({ key }) => key));
});

Deno.test("a selector in the root namespace is for workloads there, and a target for the Gateway that it names", () => {
  const rooted = telemetry("rooted", ROOT, { ...app("cart"), accessLogging: [providers("r")] });
  assert.equal(logs(indexOf([], rooted)), undefined);
  const targetRefs = [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "door" }];
  const index = indexOf([], telemetry("door", "shop", { targetRefs, accessLogging: [providers("g")] }));
  assert.equal(logs(index), undefined);
  const labels = { "gateway.networking.k8s.io/gateway-name": "door" };
  assert.deepEqual(index.of({ namespace: "shop", labels }).accessLogging.client, [{ provider: "g" }]);
});

Deno.test("of several for a namespace the oldest holds; of several for a workload all do, the youngest last", () => {
  const old = telemetry("z", "shop", { accessLogging: [providers("old")] }, 9);
  const young = telemetry("a", "shop", { accessLogging: [providers("young")] }, 1);
  assert.deepEqual(logs(indexOf([], young, old)), ["old"]);
  const first = telemetry("y", "shop", { ...app("cart"), accessLogging: [providers("p")] }, 9);
  const last = telemetry("b", "shop", { ...app("cart"), accessLogging: [{ ...providers("p"), disabled: true }] }, 1);
  assert.deepEqual(logs(indexOf([], last, first)), ["!p"]);
});

Deno.test("an entry is for its side alone, and its filter for the providers that it names or inherits", () => {
  const index = indexOf(
    ["d"],
    telemetry("shop", "shop", {
      accessLogging: [
        { match: { mode: "SERVER" }, ...providers("s"), filter: { expression: "a" } },
        { match: { mode: "CLIENT" }, filter: { expression: "b" } },
      ],
    }),
  );
  assert.deepEqual(logs(index, "server"), ["s?a"]);
  assert.deepEqual(logs(index, "client"), ["d?b"]);
  const inherited = telemetry("own", "shop", { accessLogging: [{ filter: { expression: "c" } }] });
  assert.deepEqual(logs(indexOf(["d"], inherited)), ["d?c"]);
});

Deno.test("a provider disabled at a level stays disabled at narrower levels until an entry enables it; without any provider the mesh's file is off", () => {
  const off = telemetry("off", ROOT, { accessLogging: [{ ...providers("p"), disabled: true }] });
  assert.deepEqual(logs(indexOf([], off)), ["!p"]);
  assert.deepEqual(logs(indexOf([], off, telemetry("on", "shop", { accessLogging: [{ disabled: false }] }))), ["p"]);
  assert.deepEqual(logs(indexOf([], telemetry("off", "shop", { accessLogging: [{ disabled: true }] }))), []);
});

Deno.test("each field of tracing merges separately, for each side; without a provider nothing is traced", () => {
  const index = indexOf(
    [],
    telemetry("mesh", ROOT, { tracing: [{ ...providers("far", "second"), randomSamplingPercentage: 5 }] }),
    telemetry("shop", "shop", {
      tracing: [{ match: { mode: "SERVER" }, ...providers("near"), enableIstioTags: false }],
    }),
    telemetry("own", "shop", {
      ...app("cart"),
      tracing: [{ randomSamplingPercentage: 0, disableSpanReporting: true }],
    }),
  );
  const both = { disabled: true, sampling: 0, useRequestId: true, withoutPropagation: false };
  assert.deepEqual(index.of(cart).tracing.client, { ...both, provider: "far", meshTags: true });
  assert.deepEqual(index.of(cart).tracing.server, { ...both, provider: "near", meshTags: false });
  assert.equal(indexOf([]).of(cart).tracing.client, undefined);
  const without = indexOf([], telemetry("own", "shop", { tracing: [{ randomSamplingPercentage: 1 }] }));
  assert.equal(without.of(cart).tracing.client?.provider, undefined);
});

const anyTelemetry = fc.record({
  name: fc.constantFrom("x", "y", "z"),
  namespace: fc.constantFrom(ROOT, "shop", "bank"),
  of: fc.constantFrom({}, app("cart"), app("till"), {
    targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "door" }],
  }),
  accessLogging: fc.array(fc.constantFrom(providers("a"), providers("b"), { disabled: true }), { maxLength: 2 }),
  tracing: fc.constantFrom([], [providers("t")], [{ randomSamplingPercentage: 5 }], [
    { match: { mode: "SERVER" }, disableSpanReporting: true },
  ]),
  metrics: fc.constantFrom([], [providers("prometheus")], [{ overrides: [{ disabled: true }] }]),
  age: fc.constantFrom(1, 1, 2),
}).map(({ name, namespace, of, age, ...parts }) => telemetry(name, namespace, { ...of, ...parts }, age));

Deno.test("after any changes an index answers like a fresh index, parts of equal content are one object, and each change names its namespaces", () => {
  const workloads = ["shop", "bank", ROOT].flatMap((namespace) => [
    ...["cart", "till"].map((app) => ({ namespace, labels: { app } })),
    { namespace, labels: { app: "cart", "gateway.networking.k8s.io/gateway-name": "door" } },
  ]);
  const step = fc.record({ put: anyTelemetry, removes: fc.boolean() });
  const changes = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 20 });
  fc.assert(fc.property(changes, (list) => {
    const index = indexOf(["d"]);
    const there = new Map<string, Telemetry>();
    for (const steps of list) {
      const before = workloads.map((one) => index.of(one));
      const last = new Map(steps.map((one) => [one.put.key, one]));
      const removed = [...last.keys()].flatMap((key) => there.get(key) ?? []);
      const added = [...last.values()].flatMap(({ put, removes }) => removes ? [] : put);
      const namespaces = index.update(removed, added);
      for (const { key } of removed) there.delete(key);
      for (const one of added) there.set(one.key, one);
      for (const [at, one] of workloads.entries()) {
        const isNamed = namespaces.has("*") || namespaces.has(one.namespace);
        if (!isNamed) assert.equal(index.of(one), before[at]);
      }
    }
    const fresh = indexOf(["d"], ...[...there.values()].reverse());
    assert.equal(index.measures, fresh.measures);
    const parts = new Map<string, unknown>();
    for (const one of workloads) {
      const found = index.of(one);
      assert.deepEqual(found, fresh.of(one));
      for (const part of ["accessLogging", "tracing", "metrics"] as const) {
        for (const side of ["client", "server"] as const) {
          const content = `${part} ${JSON.stringify(found[part][side])}`;
          assert.equal(found[part][side], parts.getOrInsert(content, found[part][side]), content);
        }
      }
    }
  }));
});

/** Measurements on a side, in short: `provider: METRIC tag=expression tag- !METRIC`. */
function measured(objects: readonly Telemetry[], side: TelemetrySide, defaults: readonly string[] = []): string[] {
  const mesh = defaultMeshConfig({ systemNamespace: ROOT });
  const made = new TelemetryIndex({ ...mesh, defaultProviders: { metrics: defaults } });
  made.update([], objects);
  return made.of(cart).metrics[side].map(({ provider, changes }) => {
    const texts = Object.entries(changes).map(([metric, { disabled, tags = {} }]) =>
      [
        `${disabled ? "!" : ""}${metric}`,
        ...Object.entries(tags).map(([tag, value]) => value === null ? `${tag}-` : `${tag}=${value}`),
      ].join(" ")
    );
    return [`${provider}:`, ...texts].join(" ");
  });
}

Deno.test("metrics: without Telemetries and default providers nothing is measured; default providers measure; the last list of providers decides", () => {
  const shop = telemetry("shop", "shop", { metrics: [providers("s")] });
  assert.deepEqual(measured([], "client"), []);
  assert.deepEqual(measured([], "client", ["d"]), ["d:"]);
  assert.deepEqual(measured([shop], "client", ["d"]), ["s:"]);
});

Deno.test("metrics: tags and disabled metrics are merged by metric and side, and all metrics can be turned off and on", () => {
  const count = { metric: "REQUEST_COUNT" };
  const tags = { a: { value: "x" }, b: { operation: "REMOVE" } };
  const mesh = telemetry("mesh", ROOT, {
    metrics: [{ ...providers("p"), overrides: [{ match: count, tagOverrides: tags }] }],
  });
  const own = telemetry("own", "shop", {
    ...app("cart"),
    metrics: [{
      overrides: [{ match: { ...count, mode: "SERVER" }, disabled: true, tagOverrides: { b: { value: "y" } } }],
    }],
  });
  assert.deepEqual(measured([mesh, own], "client"), ["p: REQUEST_COUNT a=x b-"]);
  assert.deepEqual(measured([mesh, own], "server"), ["p: !REQUEST_COUNT a=x b=y"]);
  const off = telemetry("off", ROOT, { metrics: [{ ...providers("p"), overrides: [{ disabled: true }] }] });
  const on = telemetry("on", "shop", {
    metrics: [{ overrides: [{ match: { ...count, mode: "SERVER" }, disabled: false }] }],
  });
  assert.deepEqual(measured([off], "client"), []);
  assert.deepEqual([measured([off, on], "client"), measured([off, on], "server")], [[], ["p: REQUEST_COUNT"]]);
});

Deno.test("the first Telemetry with metrics and the end of the last one concern all workloads", () => {
  const index = indexOf([]);
  const [one, two] = ["one", "two"].map((name) => telemetry(name, "shop", { metrics: [providers("p")] }));
  assert.deepEqual([index.update([], [one!]), index.measures], [new Set(["*"]), true]);
  assert.deepEqual(index.update([], [two!]), new Set(["shop"]));
  assert.deepEqual(index.update([one!], []), new Set(["shop"]));
  assert.deepEqual([index.update([two!], []), index.measures], [new Set(["*"]), false]);
});
