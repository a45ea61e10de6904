import assert from "node:assert/strict";
import fc from "fast-check";
import { covers } from "../../lib/mesh/host_match.ts";
import { FOR_SERVICE_OF } from "./for_service.ts";
import { assertShared, networkingObject, ROOT, ScopeWorld, seen } from "./scope_world.ts";
import { runs } from "../properties.ts";

const NAMESPACES = ["a", "b", "c", ROOT] as const;

function world(): ScopeWorld {
  const made = new ScopeWorld({ shared: true });
  made.put([{ host: "x.com", namespace: "a" }, { host: "y.com", namespace: "b" }], []);
  return made;
}

/** Whether two namespaces share a scope without a Sidecar. */
function share({ mesh }: ScopeWorld, a: string, b: string): boolean {
  return mesh.scope(a, {}) === mesh.scope(b, {});
}

Deno.test("namespaces that see the same objects share a scope, also with gateways", () => {
  const { mesh } = world();
  for (const namespace of NAMESPACES) {
    assert.equal(mesh.scope(namespace, {}), mesh.scope("a", {}));
    assert.equal(mesh.scope(namespace), mesh.scope("a", {}));
  }
});

Deno.test("objects exported to some namespaces distinguish these namespaces; namespaces that see the same objects share a scope", () => {
  const made = world();
  made.put([{ host: "z.com", namespace: "c", exportTo: ["a", "b"] }], []);
  assert.ok(share(made, "a", "b"));
  assert.ok(!share(made, "a", "c"), "not exported to its own namespace either");
  made.put([{ host: "z.com", namespace: "c", exportTo: ["a", "b", "c"] }], []);
  assert.ok(share(made, "a", "b"));
  assert.ok(share(made, "a", "c"));
  assert.ok(!share(made, "a", ROOT));
  made.put([{ host: "z.com", namespace: "c", exportTo: ["*"] }], []);
  assert.ok(share(made, "a", ROOT), "they come together again");
});

Deno.test("of two services of one host a namespace gets its own service, and has its own scope if the other service is older", () => {
  const made = world();
  made.put([{ host: "x.com", namespace: "b", created: 1 }], []);
  assert.ok(!share(made, "a", "b"));
  assert.ok(share(made, "a", "c"));
});

Deno.test("rules for services of their own namespace distinguish no namespace, rules for services of other namespaces do", () => {
  const made = world();
  made.put([], [networkingObject("DestinationRule", "a", "own", { host: "x.com" })]);
  assert.ok(share(made, "a", "c"));
  made.put([], [networkingObject("DestinationRule", "a", "other", { host: "y.com" })]);
  assert.ok(!share(made, "a", "c"));
  made.remove("DestinationRule/a/other");
  assert.ok(share(made, "a", "c"));
  made.put([], [networkingObject("DestinationRule", "a", "own", { host: "x.com", exportTo: ["."] })]);
  assert.ok(!share(made, "a", "c"));
});

Deno.test("virtual services that two namespaces export to each other give them different scopes: each prefers its own", () => {
  const made = world();
  const spec = { hosts: ["x.com"], exportTo: ["a", "b"], http: [{ route: [{ destination: { host: "x.com" } }] }] };
  made.put([], ["a", "b"].map((namespace) => networkingObject("VirtualService", namespace, "one", spec)));
  assert.ok(!share(made, "a", "b"));
  assert.ok(share(made, "c", ROOT));
});

Deno.test("a scope stays the same object for namespaces that still see the same as each other", () => {
  const made = world();
  const before = made.mesh.scope("a", {});
  assert.equal(made.mesh.scope("b", {}), before);
  made.put([{ host: "z.com", namespace: "a", exportTo: ["."] }], []);
  assert.equal(made.mesh.scope("b", {}), before, "b sees what it saw");
  const own = made.mesh.scope("a", {});
  made.put([{ host: "w.com", namespace: "a", exportTo: ["."] }], []);
  assert.equal(
    made.mesh.scope("a", {}),
    own,
    "a namespace that is alone in its scope keeps the scope, also when it sees other objects",
  );
  assert.ok(made.mesh.hasScope(own));
  made.put([{ host: "z.com", namespace: "a" }, { host: "w.com", namespace: "a" }], []);
  assert.equal(made.mesh.scope("a", {}), before);
  assert.ok(!made.mesh.hasScope(own), "no namespace has it any more");
});

Deno.test("a Sidecar of the root namespace makes one scope for all namespaces that see the same objects, unless its hosts name namespaces", () => {
  const made = world();
  const sidecar = (hosts: string[]) => networkingObject("Sidecar", ROOT, "default", { egress: [{ hosts }] });
  made.put([], [sidecar(["*/x.com"])]);
  assertShared(made.mesh.scope("b", {}), made.mesh.scope("c", {}), true, "the same imports");
  made.put([], [sidecar(["./*", "*/x.com"])]);
  assertShared(made.mesh.scope("b", {}), made.mesh.scope("c", {}), false, "its own namespace is another one for each");
  made.put([], [sidecar(["*/x.com"]), networkingObject("DestinationRule", "b", "own", { host: "y.com" })]);
  assertShared(
    made.mesh.scope("b", {}),
    made.mesh.scope("c", {}),
    false,
    "y.com is hidden: rules of b are for b alone",
  );
});

Deno.test("scopes of namespaces without queries are dropped", () => {
  const made = world();
  made.put([{ host: "z.com", namespace: "a", exportTo: ["."] }], []);
  const scope = made.mesh.scope("a", {});
  made.mesh.scope("b", {});
  made.mesh.keepScopes(new Set(["b"]));
  assert.ok(!made.mesh.hasScope(scope));
  assert.notEqual(made.mesh.scope("a", {}), scope);
});

const HOSTS = ["x.com", "y.com", "z.y.com", "svc.a.svc.cluster.local"] as const;
const namespace = fc.constantFrom(...NAMESPACES);
const host = fc.constantFrom(...HOSTS);
const pattern = fc.constantFrom(...HOSTS, "*.y.com", "*.com");
const exportTo = fc.constantFrom(undefined, ["*"], ["."], ["a"], ["a", "b"], ["b", "c"], ["~"]);
const name = fc.constantFrom("one", "two");
const exported = (to: readonly string[] | undefined) => to ? { exportTo: to } : {};

type Step = (world: ScopeWorld) => void;

const putService = fc.record({ namespace, host, exportTo, created: fc.constantFrom(0, 1) }).map((sketch): Step => {
  const { namespace, host, created } = sketch;
  return (world) => world.put([{ namespace, host, created, ...exported(sketch.exportTo) }], []);
});

const rule = fc.record({
  namespace,
  name,
  host: pattern,
  exportTo,
  selector: fc.constantFrom(undefined, { matchLabels: { app: "p" } }),
}).map(({ namespace, name, host, exportTo, selector }) =>
  networkingObject("DestinationRule", namespace, name, {
    host,
    ...selector ? { workloadSelector: selector } : exported(exportTo),
  })
);

const virtualService = fc.record({
  namespace,
  name,
  hosts: fc.uniqueArray(pattern, { minLength: 1 }),
  to: host,
  exportTo,
  annotations: fc.option(namespace, { nil: undefined }).map((of): Record<string, string> =>
    of === undefined ? {} : { [FOR_SERVICE_OF]: of }
  ),
})
  .map(({ namespace, name, hosts, to, exportTo, annotations }) =>
    networkingObject("VirtualService", namespace, name, {
      hosts,
      ...exported(exportTo),
      http: [{ route: [{ destination: { host: to } }] }],
    }, annotations)
  );

const sidecar = fc.record({
  namespace,
  name,
  hosts: fc.uniqueArray(fc.constantFrom("*/*", "./*", "a/*", "*/x.com"), { minLength: 1, maxLength: 2 }),
  egress: fc.boolean(),
}).map(({ namespace, name, hosts, egress }) =>
  networkingObject("Sidecar", namespace, name, egress ? { egress: [{ hosts }] } : {})
);

const putObjects = fc.array(fc.oneof(rule, rule, virtualService, virtualService, sidecar), {
  minLength: 1,
  maxLength: 2,
})
  .map((objects): Step => (world) => {
    world.put([], [...new Map(objects.map((object) => [object?.key, object])).values()]);
  });

const remove = fc.nat().map((at): Step => (world) => {
  const keys = [...world.services.keys(), ...world.objects.keys()];
  if (keys.length > 0) world.remove(keys[at % keys.length]!);
});

const keep = fc.uniqueArray(namespace).map((some): Step => (world) => world.mesh.keepScopes(new Set(some)));

/** A query, so that the scope exists at the next change. */
const look = namespace.map((namespace): Step => (world) => void world.mesh.scope(namespace, {}));

const step = fc.oneof(
  { weight: 4, arbitrary: putService },
  { weight: 4, arbitrary: putObjects },
  { weight: 2, arbitrary: remove },
  { weight: 1, arbitrary: keep },
  { weight: 2, arbitrary: look },
);

Deno.test("after any changes a shared scope shows each namespace the same objects as a separate scope", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: "max" }), (steps) => {
      const world = new ScopeWorld({ shared: true });
      for (const step of steps) step(world);
      const alone = world.fresh();
      for (const namespace of NAMESPACES) {
        for (const labels of [undefined, {}]) {
          const shared = seen(world.mesh.scope(namespace, labels), HOSTS);
          assert.deepEqual(shared, seen(alone.scope(namespace, labels), HOSTS), namespace);
        }
      }
    }),
    { numRuns: runs(500) },
  );
});

Deno.test("the difference of two scopes names every difference", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20, size: "max" }), namespace, namespace, (steps, a, b) => {
      const world = new ScopeWorld({ shared: true });
      for (const step of steps) step(world);
      const [ofA, ofB] = [world.mesh.scope(a), world.mesh.scope(b)];
      const differences = world.mesh.differences(ofA, ofB) ?? assert.fail("neither is narrow");
      const touches = (host: string, kinds: readonly string[]) =>
        differences.some(({ kind, hosts }) => kinds.includes(kind) && hosts.some((pattern) => covers(pattern, host)));
      for (const host of HOSTS) {
        if (ofA.service(host) !== ofB.service(host)) assert.ok(touches(host, ["services"]), host);
        if (ofA.virtualService(host, "http") !== ofB.virtualService(host, "http")) {
          assert.ok(touches(host, ["services", "virtualServices"]), host);
        }
        if (ofA.destinationRules(host) !== ofB.destinationRules(host)) {
          assert.ok(touches(host, ["services", "destinationRules"]), host);
        }
      }
    }),
    { numRuns: runs(500) },
  );
});
