/** The verdicts of the graph agree with the way of real requests through the resources of both proxies. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ServiceGuards } from "../../lib/graph/guard.ts";
import type { Explanation } from "../../lib/debug/explanation.ts";
import { explainRequest } from "../../lib/offline/explain/explain.ts";
import { onWay, worldOf } from "../../lib/offline/explain/of_mesh.ts";
import { readQuestion } from "../../lib/offline/explain/question.ts";
import { FieldPlaces } from "../../lib/offline/field_place.ts";
import { findProxy } from "../../lib/offline/find_proxy.ts";
import { proxiesOf } from "../../lib/offline/workloads.ts";
import { meshOf } from "../offline/mesh_of.ts";
import { object, policy } from "./world.ts";
import { runs } from "../properties.ts";

const NAMESPACES = ["x", "y"] as const;
const NAMES = ["a", "b"] as const;

/** A namespace that no policy names. */
const STRANGER = "stranger";

/** All workloads, each with the account of its name. */
const WORKLOADS = [...NAMESPACES.flatMap((namespace) => NAMES.map((name) => ({ namespace, name }))), {
  namespace: STRANGER,
  name: "s",
}].map((one, at) => ({ ...one, address: `10.0.0.${at + 1}`, virtual: `10.9.0.${at + 1}` }));

type World = (typeof WORKLOADS)[number];

/** A service with a workload whose proxy speaks mutual TLS. */
function serviceOf({ name, namespace, address, virtual }: World): string {
  return `${
    object(
      "ServiceEntry",
      name,
      namespace,
      `{ hosts: [${name}.${namespace}], addresses: [${virtual}], location: MESH_INTERNAL, resolution: STATIC,
    ports: [{ number: 80, name: http, protocol: HTTP }], workloadSelector: { labels: { app: ${name} } } }`,
    )
  }---
${
    object(
      "WorkloadEntry",
      name,
      namespace,
      `{ address: ${address}, serviceAccount: ${name}, labels: { app: ${name}, security.mesh.io/tlsMode: mesh } }`,
    )
  }`;
}

const list = (values: fc.Arbitrary<string>) =>
  fc.uniqueArray(values, { minLength: 1, maxLength: 2 }).map((all) =>
    `[${all.map((one) => JSON.stringify(one)).join()}]`
  );

const namespaces = fc.constantFrom("x", "y", "x*", "*");
const principals = fc.constantFrom(
  ...["*", "cluster.local/ns/x/sa/a", "cluster.local/ns/y/sa/b", "cluster.local/ns/x/*", "*/sa/a", "other/ns/x/sa/a"],
);
const accounts = fc.constantFrom("a", "x/a", "y/b");

/** A part of a rule's source, `field: [values]`. */
const source = fc.oneof(
  fc.tuple(fc.constantFrom("namespaces", "notNamespaces"), list(namespaces)),
  fc.tuple(fc.constantFrom("principals", "notPrincipals"), list(principals)),
  fc.tuple(fc.constantFrom("serviceAccounts", "notServiceAccounts"), list(accounts)),
).map(([field, values]) => `{ source: { ${field}: ${values} } }`);

const condition = fc.oneof(
  fc.tuple(fc.constant("source.namespace"), fc.constantFrom("values", "notValues"), list(namespaces)),
  fc.tuple(fc.constant("source.principal"), fc.constantFrom("values", "notValues"), list(principals)),
).map(([key, field, values]) => `{ key: ${key}, ${field}: ${values} }`);

const rule = fc.record({
  from: fc.option(fc.array(source, { minLength: 1, maxLength: 2 }), { nil: undefined }),
  to: fc.option(fc.constantFrom("[{ operation: { methods: [GET] } }]", "[{ operation: { notPaths: [/secret] } }]"), {
    nil: undefined,
    freq: 3,
  }),
  when: fc.option(fc.array(condition, { minLength: 1, maxLength: 1 }), { nil: undefined, freq: 3 }),
}).map(({ from, to, when }) => {
  const parts = [from && `from: [${from.join()}]`, to && `to: ${to}`, when && `when: [${when.join()}]`];
  return `{ ${parts.filter((one) => one !== undefined).join(", ")} }`;
});

const policies = fc.array(
  fc.record({
    namespace: fc.constantFrom(...NAMESPACES, "mesh-system"),
    action: fc.constantFrom("ALLOW", "ALLOW", "DENY"),
    rules: fc.array(rule, { maxLength: 2 }),
    app: fc.constantFrom("", "a", "b"),
  }),
  { minLength: 1, maxLength: 4 },
).map((all) =>
  all.map(({ namespace, action, rules, app }, at) =>
    policy(`p${at}`, namespace, `action: ${action}, rules: [${rules.join(", ")}]`, app)
  )
);

const modes = fc.array(
  fc.record({ namespace: fc.constantFrom(...NAMESPACES), mode: fc.constantFrom("STRICT", "PERMISSIVE", "DISABLE") }),
  { maxLength: 2 },
).map((all) =>
  [...new Map(all.map((one) => [one.namespace, one])).values()].map(({ namespace, mode }) =>
    object("PeerAuthentication", "mode", namespace, `{ mtls: { mode: ${mode} } }`)
  )
);

/** What a request shows: its end, or nothing where the simulator does not know. */
function passes({ end }: Explanation): boolean | undefined {
  if (end.kind === "unknown") return undefined;
  return end.kind === "forwarded";
}

const REQUESTS = [["GET", "/"], ["POST", "/"], ["GET", "/secret"], ["POST", "/secret"]] as const;

Deno.test("what the graph allows or denies, the proxies forward or refuse, for callers of the mesh and for strangers", async () => {
  const seen = { allowed: 0, conditional: 0, denied: 0 };
  let unknown = 0;
  await fc.assert(
    fc.asyncProperty(policies, modes, async (rules, tls) => {
      const text = [...WORKLOADS.map(serviceOf), ...rules, ...tls].join("---\n");
      const mesh = meshOf({ "mesh.yaml": text });
      const { proxies, options } = proxiesOf(mesh);
      const world = worldOf(mesh, proxies, new FieldPlaces(() => text));
      const indexed = mesh.pipeline.translator.mesh;
      const guards = new ServiceGuards(indexed);
      for (const target of WORKLOADS.filter(({ namespace }) => namespace !== STRANGER)) {
        const host = `${target.name}.${target.namespace}`;
        const guard = guards.of(indexed.services.of(host)[0]!);
        for (const { namespace, name: account } of WORKLOADS.filter((one) => one !== target)) {
          // A stranger is one of the callers that no policy names.
          const verdict = namespace === STRANGER
            ? guard.callers.find(({ caller }) => caller.kind === "anyone")!.verdict
            : guard.verdict({ kind: "identity", namespace, account });
          seen[verdict.result]++;
          for (const [method, path] of REQUESTS) {
            const from = onWay(findProxy(`${namespace}/${account}`, proxies, options).proxy);
            const way = await explainRequest(readQuestion({ to: `http://${host}${path}`, method }), from, world);
            const real = passes(way);
            if (real === undefined) unknown++;
            const what = `${namespace}/${account} ${method} ${host}${path}: ${
              JSON.stringify([verdict, way.end])
            }\n${text}`;
            if (verdict.result === "allowed") assert.notEqual(real, false, what);
            if (verdict.result === "denied") assert.notEqual(real, true, what);
            if (verdict.result === "conditional") assert.ok(verdict.conditions.length > 0, what);
          }
        }
      }
    }),
    { numRuns: runs(25) },
  );
  const judged = seen.allowed + seen.conditional + seen.denied;
  assert.ok(
    Math.min(seen.allowed, seen.denied) * 8 > judged && unknown * 20 < judged * 4,
    JSON.stringify({ seen, unknown }),
  );
});
