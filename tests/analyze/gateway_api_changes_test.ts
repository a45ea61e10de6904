/** Findings about objects of the Gateway API follow every change, at the cost of the change. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { AnalyzedFolder } from "./support/analyzed.ts";
import { runs } from "../properties.ts";

/** Runs of the property. */
const RUNS = runs(100);

const NAMESPACES = ["shop", "pay"] as const;
const namespace = fc.constantFrom(...NAMESPACES);
const GROUP = "gateway.networking.k8s.io";

interface Written {
  readonly file: string;
  readonly text: string;
}

function written(kind: string, namespace: string, name: string, spec: unknown, apiVersion = `${GROUP}/v1`): Written {
  const text = JSON.stringify({ apiVersion, kind, metadata: { name, namespace }, spec });
  return { file: `${kind}.${namespace}.${name}.json`, text };
}

const listener = fc.record({
  name: fc.constantFrom("a", "b"),
  port: fc.constantFrom(80, 81),
  hostname: fc.constantFrom(undefined, "*.example.com", "x.example.com"),
  from: fc.constantFrom("Same", "All"),
}).map(({ from, ...one }) => ({ ...one, protocol: "HTTP", allowedRoutes: { namespaces: { from } } }));

const listeners = fc.uniqueArray(listener, { minLength: 1, maxLength: 2, selector: ({ name }) => name }).filter((all) =>
  new Set(all.map(({ port, hostname }) => `${port} ${hostname}`)).size === all.length
);

const gateway = fc.record({ namespace, listeners, className: fc.constantFrom("mesh", "mesh", "other") }).map((one) =>
  written("Gateway", one.namespace, "edge", {
    gatewayClassName: one.className,
    allowedListeners: { namespaces: { from: "Same" } },
    listeners: one.listeners,
  })
);

const set = fc.record({ namespace, parent: namespace, listeners }).map((one) =>
  written("ListenerSet", one.namespace, "more", {
    parentRef: { name: "edge", namespace: one.parent },
    listeners: one.listeners,
  })
);

const parent = fc.record({
  kind: fc.constantFrom("Gateway", "Gateway", "ListenerSet", "Service"),
  namespace,
  sectionName: fc.constantFrom(undefined, "a"),
}).map(({ kind, namespace, sectionName }) => ({
  ...{ kind, namespace, name: kind === "Gateway" ? "edge" : kind === "Service" ? "cart" : "more" },
  ...(kind === "Service" ? { group: "" } : { group: GROUP, ...(sectionName && { sectionName }) }),
}));

const rule = fc.record({ path: fc.constantFrom("/", "/a"), to: namespace, port: fc.constantFrom(80, 90) }).map((
  one,
) => ({
  matches: [{ path: { type: "PathPrefix", value: one.path } }],
  backendRefs: [{ name: "cart", namespace: one.to, port: one.port }],
}));

const route = fc.record({
  kind: fc.constantFrom("HTTPRoute"),
  namespace,
  name: fc.constantFrom("one", "two"),
  parentRefs: fc.array(parent, { minLength: 1, maxLength: 1 }),
  hostnames: fc.constantFrom([], ["x.example.com"], ["*.org"]),
  rules: fc.array(rule, { minLength: 1, maxLength: 2 }),
}).map(({ kind, namespace, name, ...spec }) => written(kind, namespace, name, spec));

const service = namespace.map((one) =>
  written("ServiceEntry", one, "cart", {
    hosts: [`cart.${one}.svc.cluster.local`],
    resolution: "STATIC",
    ports: [{ number: 80, name: "http", protocol: "HTTP" }],
  }, "networking.mesh.io/v1")
);

const virtualService = namespace.map((one) =>
  written("VirtualService", one, "cart", {
    hosts: [`cart.${one}.svc.cluster.local`],
    http: [{ directResponse: { status: 204 } }],
  }, "networking.mesh.io/v1")
);

const grant = fc.record({ namespace, from: namespace }).map((one) =>
  written("ReferenceGrant", one.namespace, "all", {
    from: [{ group: GROUP, kind: "HTTPRoute", namespace: one.from }],
    to: [{ group: "", kind: "Service" }],
  }, `${GROUP}/v1beta1`)
);

const policy = fc.record({ name: fc.constantFrom("a", "b"), namespace }).map((one) =>
  written("BackendTLSPolicy", one.namespace, one.name, {
    targetRefs: [{ group: "", kind: "Service", name: "cart" }],
    validation: { hostname: "x.org", wellKnownCACertificates: "System" },
  })
);

const target = namespace.map((one) =>
  written("AuthorizationPolicy", one, "p", {
    targetRefs: [{ group: GROUP, kind: "Gateway", name: "edge" }],
    rules: [{}],
  }, "security.mesh.io/v1")
);

const put = fc.oneof(
  { weight: 3, arbitrary: gateway },
  { weight: 2, arbitrary: set },
  { weight: 6, arbitrary: route },
  ...[service, virtualService, grant, policy, target].map((arbitrary) => ({ weight: 1, arbitrary })),
);

const step = fc.record({ written: put, isRemoved: fc.nat({ max: 4 }).map((one) => one === 0) });

Deno.test("findings about objects of the Gateway API after each change are those of a fresh analysis", () => {
  const names = new Set<string>();
  fc.assert(
    fc.property(fc.array(step, { minLength: 8, maxLength: 30, size: "max" }), (steps) => {
      const folder = new AnalyzedFolder();
      const files: Record<string, string | undefined> = {};
      for (const { written: { file, text }, isRemoved } of steps) {
        folder.write({ [file]: isRemoved ? undefined : text });
        files[file] = isRemoved ? undefined : text;
      }
      const fresh = new AnalyzedFolder();
      fresh.write(files);
      const findings = [...fresh.analysis.findings()];
      for (const { name } of findings) names.add(name);
      assert.deepEqual([...folder.analysis.findings()], findings);
    }),
    { numRuns: RUNS },
  );
  const expected = ["listener-without-place", "match-of-another-rule", "not-attached", "unusable-backend"];
  assert.deepEqual(expected.filter((name) => !names.has(name)), [], "the worlds show too little");
});

/** Gateway shop/edge and routes of one host, each with a path of its own. */
function shop(routes: number): Record<string, string> {
  const all = [
    written("Gateway", "shop", "edge", {
      gatewayClassName: "mesh",
      listeners: [{ name: "a", port: 80, protocol: "HTTP" }],
    }),
    ...Array.from({ length: routes }, (_, at) => oneOf(at, `/${at}`)),
  ];
  return Object.fromEntries(all.map(({ file, text }) => [file, text]));
}

function oneOf(at: number, path: string): Written {
  return written("HTTPRoute", "shop", `r${at}`, {
    parentRefs: [{ name: "edge" }],
    rules: [{ matches: [{ path: { type: "PathPrefix", value: path } }], backendRefs: [{ name: "cart", port: 80 }] }],
  });
}

Deno.test("an edit of a route analyzes as many objects among 400 routes of a host as among 50", () => {
  const edits = (routes: number) => {
    const folder = new AnalyzedFolder();
    folder.write(shop(routes));
    const looks = (path: string) => {
      const before = folder.analysis.looks;
      const { file, text } = oneOf(7, path);
      folder.write({ [file]: text });
      return folder.analysis.looks - before;
    };
    return { free: looks("/seven"), taken: looks("/8"), again: looks("/7") };
  };
  const small = edits(50);
  assert.deepEqual(edits(400), small);
  assert.ok(small.free <= 4 && small.taken <= 6, JSON.stringify(small));
});

Deno.test("a match that becomes another route's is a finding about the younger route, and ends with the other match", () => {
  const folder = new AnalyzedFolder();
  folder.write(shop(3));
  const taken = () =>
    [...folder.analysis.findings()].filter(({ name }) => name === "match-of-another-rule").map(({ place }) =>
      `${place.objects.map(({ name }) => name).join(" < ")} ${place.field}`
    );
  assert.deepEqual(taken(), []);
  const { file, text } = oneOf(0, "/2");
  folder.write({ [file]: text });
  assert.deepEqual(taken(), ["r2 < r0 spec.rules[0].matches[0]"]);
  folder.write({ [file]: oneOf(0, "/3").text });
  assert.deepEqual(taken(), []);
});
