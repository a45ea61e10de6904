import assert from "node:assert/strict";
import fc from "fast-check";
import type { HttpMatchRequest, VirtualServiceSpec } from "../../lib/config/kinds/kinds.ts";
import { type ConfigObject, objectKey } from "../../lib/config/types.ts";
import { effectiveVirtualServices, VirtualServiceResolver } from "../../lib/mesh/virtual_service.ts";
import { inFile } from "../config/origins.ts";
import { runs } from "../properties.ts";

const options = { domainSuffix: "cluster.local", defaultExportTo: ["*"] };

function object(name: string, spec: VirtualServiceSpec, namespace = "default", created = 0) {
  const key = objectKey("VirtualService", namespace, name);
  return {
    kind: "VirtualService",
    key,
    meta: { name, namespace, labels: {}, annotations: {}, creationTimestamp: created },
    spec,
    origin: inFile("a.yaml"),
    hash: JSON.stringify([key, spec, created]),
  } satisfies ConfigObject<"VirtualService">;
}

const only = (...objects: ConfigObject<"VirtualService">[]) => {
  const [first] = effectiveVirtualServices(objects, options);
  assert.ok(first);
  return first;
};
const to = (host: string) => [{ destination: { host } }];

Deno.test("short hosts, destinations and mirrors become full names in the object's namespace, lower case", () => {
  const vs = only(object("a", {
    hosts: ["Reviews", "api.Example.com", "*", "10.0.0.1", "reviews"],
    http: [{ route: to("reviews"), mirror: { host: "shadow" }, mirrors: [{ destination: { host: "Other.ns" } }] }],
    tls: [{ match: [{ sniHosts: ["x"] }], route: to("tls") }],
    tcp: [{ route: to("TCP") }],
  }));
  assert.deepEqual(vs.hosts, ["reviews.default.svc.cluster.local", "api.example.com", "*", "10.0.0.1"]);
  const [http] = vs.spec.http!;
  assert.equal(http!.route![0]!.destination.host, "reviews.default.svc.cluster.local");
  assert.equal(http!.mirror!.host, "shadow.default.svc.cluster.local");
  assert.equal(http!.mirrors![0]!.destination.host, "other.ns");
  assert.equal(vs.spec.tls![0]!.route![0]!.destination.host, "tls.default.svc.cluster.local");
  assert.equal(vs.spec.tcp![0]!.route![0]!.destination.host, "tcp.default.svc.cluster.local");
});

Deno.test("a spec whose names are full is not copied, and of another the rules without short names are not", () => {
  const full = object("a", {
    hosts: ["reviews.default.svc.cluster.local"],
    gateways: ["mesh", "default/gw"],
    http: [{ match: [{ gateways: ["default/gw"] }], route: to("a.b"), mirror: { host: "c.d" } }],
    tls: [{ match: [{ sniHosts: ["x"] }], route: to("a.b") }],
  });
  assert.equal(only(full).spec, full.spec);
  const short = object("a", { hosts: ["x.y"], http: [{ route: to("a.b") }, { route: to("reviews") }] });
  const { spec } = only(short);
  assert.equal(spec.hosts, short.spec.hosts);
  assert.equal(spec.http![0], short.spec.http![0]);
  assert.deepEqual(spec.http![1], { route: to("reviews.default.svc.cluster.local") });
  assert.deepEqual(short.spec.http![1], { route: to("reviews") });
});

Deno.test("gateways become namespace/name in all their spellings, and default to mesh", () => {
  assert.deepEqual(only(object("a", { hosts: ["x.y"] })).gateways, ["mesh"]);
  const gateways = ["mesh", "gw", "./own", "other/gw", "gw.ns", "gw.ns2.svc.cluster.local"];
  const vs = only(object("a", { hosts: ["x.y"], gateways, http: [{ match: [{ gateways: ["gw", "mesh"] }] }] }));
  assert.deepEqual(vs.gateways, ["mesh", "default/gw", "default/own", "other/gw", "ns/gw", "ns2/gw"]);
  assert.deepEqual(vs.spec.http![0]!.match![0]!.gateways, ["default/gw", "mesh"]);
});

Deno.test("exportTo takes the mesh-wide default, and ~ hides it from all", () => {
  const of = (exportTo: string[], defaults = ["*"]) =>
    effectiveVirtualServices([object("a", { hosts: ["x.y"], exportTo })], {
      ...options,
      defaultExportTo: defaults,
    })[0]!.exportTo;
  assert.deepEqual(of([]), ["*"]);
  assert.deepEqual(of([], ["."]), ["default"]);
  assert.deepEqual(of(["b", "."]), ["b", "default"]);
  assert.deepEqual(of(["b", "*"]), ["*"]);
  assert.deepEqual(of(["b", "~"]), ["~"]);
});

const root = (match: HttpMatchRequest[] = [], namespace?: string) =>
  object("root", {
    hosts: ["shop.example.com"],
    gateways: ["gw"],
    http: [
      {
        name: "team",
        ...(match.length ? { match } : {}),
        timeout: 1000,
        headers: { request: { set: { root: "1" } } },
        delegate: { name: "team", ...(namespace ? { namespace } : {}) },
      },
      { route: to("fallback") },
    ],
  });

Deno.test("a delegate's rules take the place of the root's rule, in order, inheriting its unset fields", () => {
  const team = object("team", {
    http: [
      { name: "v2", match: [{ uri: { prefix: "/team/v2" } }], timeout: 5000, route: to("two") },
      { route: to("one") },
    ],
  }, "b");
  const vs = only(root([{ uri: { prefix: "/team" } }], "b"), team);
  assert.deepEqual(vs.spec.http, [
    {
      name: "team-v2",
      match: [{ uri: { prefix: "/team/v2" } }],
      timeout: 5000,
      headers: { request: { set: { root: "1" } } },
      route: to("two.b.svc.cluster.local"),
    },
    {
      name: "team",
      match: [{ uri: { prefix: "/team" } }],
      timeout: 1000,
      headers: { request: { set: { root: "1" } } },
      route: to("one.b.svc.cluster.local"),
    },
    { route: to("fallback.default.svc.cluster.local") },
  ]);
  assert.deepEqual(vs.causes, ["VirtualService/default/root", "VirtualService/b/team"]);
});

Deno.test("every match of a delegate is combined with each root match that contains it", () => {
  const wide: HttpMatchRequest[] = [
    { name: "a", headers: { x: { exact: "1" } }, port: 80 },
    { headers: { y: { exact: "1" } }, sourceLabels: { app: "a" }, gateways: ["mesh"] },
    { uri: { exact: "/else" } },
  ];
  const team = object("team", { http: [{ match: [{ name: "n", uri: { prefix: "/p" } }], route: to("t") }] });
  assert.deepEqual(only(root(wide), team).spec.http![0]!.match, [
    { name: "a-n", uri: { prefix: "/p" }, headers: { x: { exact: "1" } }, port: 80 },
    {
      name: "n",
      uri: { prefix: "/p" },
      headers: { y: { exact: "1" } },
      sourceLabels: { app: "a" },
      gateways: ["mesh"],
    },
  ]);
});

const clashes: [string, HttpMatchRequest, HttpMatchRequest, boolean][] = [
  ["equal exact", { uri: { exact: "/a" } }, { uri: { exact: "/a" } }, true],
  ["other exact", { uri: { exact: "/a" } }, { uri: { exact: "/b" } }, false],
  ["prefix in exact", { uri: { exact: "/a" } }, { uri: { prefix: "/a" } }, false],
  ["exact in prefix", { uri: { prefix: "/a" } }, { uri: { exact: "/a/b" } }, true],
  ["longer prefix", { uri: { prefix: "/a" } }, { uri: { prefix: "/a/b" } }, true],
  ["shorter prefix", { uri: { prefix: "/a/b" } }, { uri: { prefix: "/a" } }, false],
  ["regex beside anything", { uri: { regex: "/a.*" } }, { uri: { exact: "/ab" } }, false],
  ["anything beside regex", { uri: { prefix: "/" } }, { uri: { regex: "/a.*" } }, false],
  ["value where presence was asked", { headers: { x: {} } }, { headers: { x: { exact: "1" } } }, true],
  ["presence where a value was asked", { headers: { x: { exact: "1" } } }, { headers: { x: {} } }, false],
  ["other header value", { headers: { x: { exact: "1" } } }, { headers: { x: { exact: "2" } } }, false],
  ["other query value", { queryParams: { x: { exact: "1" } } }, { queryParams: { x: { exact: "2" } } }, false],
  ["other absent header", { withoutHeaders: { x: {} } }, { withoutHeaders: { y: {} } }, true],
  ["a wider exclusion", { withoutHeaders: { x: { exact: "1" } } }, { withoutHeaders: { x: {} } }, true],
  ["a smaller exclusion", { withoutHeaders: { x: {} } }, { withoutHeaders: { x: { exact: "1" } } }, false],
  ["other case rule", { ignoreUriCase: true }, { uri: { exact: "/a" } }, false],
  ["other port", { port: 80 }, { port: 81 }, false],
  ["other label value", { sourceLabels: { a: "1" } }, { sourceLabels: { a: "2" } }, false],
  ["more labels", { sourceLabels: { a: "1" } }, { sourceLabels: { b: "2" } }, true],
  ["other namespace", { sourceNamespace: "a" }, { sourceNamespace: "b" }, false],
  ["no namespace", { sourceNamespace: "a" }, { port: 1 }, true],
  ["foreign gateway", { gateways: ["a/x"] }, { gateways: ["a/y"] }, false],
  ["fewer gateways", { gateways: ["a/x", "a/y"] }, { gateways: ["a/y"] }, true],
];
for (const [name, wide, narrow, kept] of clashes) {
  Deno.test(`delegate match within root match: ${name} is ${kept ? "kept" : "dropped and reported"}`, () => {
    const team = object("team", { http: [{ match: [narrow], route: to("t") }] });
    const resolver = new VirtualServiceResolver(options);
    const { added } = resolver.update([root([wide]), team]);
    assert.equal(added[0]!.spec.http!.length, kept ? 2 : 1);
    assert.equal(resolver.problems.has("VirtualService/default/root"), !kept);
  });
}

Deno.test("a delegate that is missing, hidden, no delegate, or delegating again drops that rule alone and is reported", () => {
  const cases: [ConfigObject<"VirtualService">[], RegExp | undefined][] = [
    // The analysis reports these two cases, with the field.
    [[], undefined],
    [[object("team", { hosts: ["x.y"], http: [{ route: to("t") }] }, "b")], undefined],
    [[object("team", { exportTo: ["."], http: [{ route: to("t") }] }, "b")], /not exported to namespace default/],
    [[object("team", { http: [{ delegate: { name: "next" } }] }, "b")], /delegates again/],
  ];
  for (const [delegates, expected] of cases) {
    const resolver = new VirtualServiceResolver(options);
    const { added } = resolver.update([root([], "b"), ...delegates]);
    const vs = added.find((x) => x.name === "root")!;
    assert.deepEqual(vs.spec.http!.map((x) => x.route), [to("fallback.default.svc.cluster.local")]);
    const [problem] = resolver.problems.get("VirtualService/default/root") ?? [];
    if (expected === undefined) assert.equal(problem, undefined);
    else assert.match(problem ?? "", expected);
  }
});

Deno.test("a delegate without hosts is not a separate virtual service", () => {
  assert.deepEqual(effectiveVirtualServices([object("team", { http: [{ route: to("t") }] })], options), []);
});

Deno.test("older virtual services come first, then by namespace and name", () => {
  const spec = { hosts: ["x.y"] };
  const list = [object("b", spec, "n", 5), object("a", spec, "z"), object("b", spec, "n"), object("c", spec, "n", 1)];
  const names = effectiveVirtualServices([...list.slice(1), object("o", spec, "n", 5)], options).map((x) => x.name);
  assert.deepEqual(names, ["b", "a", "c", "o"]);
});

Deno.test("an update touches the changed object and the roots of a changed delegate, and nothing else", () => {
  const other = object("other", { hosts: ["other.example.com"] });
  const resolver = new VirtualServiceResolver(options);
  resolver.update([root(), other]);
  const kept = resolver.values().find((x) => x.name === "other");

  const appeared = resolver.update([object("team", { http: [{ route: to("one") }] })]);
  assert.deepEqual(appeared.removed.map((x) => x.name), ["root"]);
  assert.equal(appeared.added[0]!.spec.http!.length, 2);
  assert.equal(resolver.problems.size, 0);

  const gone = resolver.update([], [{ key: "VirtualService/default/team" }]);
  assert.equal(gone.added[0]!.spec.http!.length, 1);
  assert.ok(resolver.values().includes(kept!));

  assert.deepEqual(resolver.update([root(), other]), { removed: [], added: [] });

  const removed = resolver.update([], [{ key: "VirtualService/default/root" }]);
  assert.deepEqual([removed.removed.length, removed.added.length, resolver.problems.size], [1, 0, 0]);
  assert.deepEqual(resolver.update([object("team", { http: [] })]), { removed: [], added: [] });
});

Deno.test("a key that is both removed and added counts as changed", () => {
  const resolver = new VirtualServiceResolver(options);
  const old = object("a", { hosts: ["x.y"] });
  resolver.update([old]);
  const delta = resolver.update([object("a", { hosts: ["x.z"] })], [old]);
  assert.deepEqual(delta.removed.map((x) => x.hosts), [["x.y"]]);
  assert.deepEqual(delta.added.map((x) => x.hosts), [["x.z"]]);
});

Deno.test("after any updates the effective virtual services equal a fresh resolution, and untouched virtual services stay the same objects", () => {
  const rule = fc.constantFrom<VirtualServiceSpec>(
    { hosts: ["x.y"], http: [{ delegate: { name: "a" } }, { route: to("t") }] },
    { hosts: ["x.z"], http: [{ delegate: { name: "b", namespace: "n" } }] },
    { hosts: ["plain.y"], http: [{ route: to("t") }] },
    { http: [{ route: to("one") }] },
    { exportTo: ["."], http: [{ name: "two", route: to("two") }] },
  );
  const change = fc.record({
    name: fc.constantFrom("a", "b", "c"),
    namespace: fc.constantFrom("default", "n"),
    spec: fc.option(rule, { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 12 }), (updates) => {
      const resolver = new VirtualServiceResolver(options);
      const objects = new Map<string, ConfigObject<"VirtualService">>();
      let before = new Set(resolver.values());
      for (const changes of updates) {
        const added: ConfigObject<"VirtualService">[] = [];
        const removed: { key: string }[] = [];
        for (const { name, namespace, spec } of changes) {
          const key = objectKey("VirtualService", namespace, name);
          if (spec) added.push(object(name, spec, namespace));
          else removed.push({ key });
        }
        for (const { key } of removed) objects.delete(key);
        for (const one of added) objects.set(one.key, one);
        const delta = resolver.update(added, removed);
        assert.deepEqual(resolver.values(), effectiveVirtualServices(objects.values(), options));
        for (const gone of delta.removed) assert.ok(before.delete(gone));
        for (const one of delta.added) before.add(one);
        assert.deepEqual(new Set(resolver.values()), before);
        for (const one of resolver.values()) assert.ok(before.has(one));
        before = new Set(resolver.values());
      }
    }),
    { numRuns: runs(200) },
  );
});
