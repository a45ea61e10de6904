import assert from "node:assert/strict";
import fc from "fast-check";
import type { ConfigObject } from "../../../lib/config/types.ts";
import type { TunnelPolicyChange } from "../../../lib/mesh/tunnel/change.ts";
import { TunnelPolicies } from "../../../lib/mesh/tunnel/policies.ts";
import { encode } from "../../../lib/pb/codec.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { authorizeConnection, type TunnelPolicyTable } from "../../../lib/simulate/tunnel/authorize.ts";
import { accepts, type ModelConnection, type ModelWorkload } from "./model.ts";
import { MESH, ROOT, selecting, written } from "./objects.ts";
import { runs } from "../../properties.ts";

type AuthorizationPolicy = ConfigObject<"AuthorizationPolicy">;
type PeerAuthentication = ConfigObject<"PeerAuthentication">;
type Policy = AuthorizationPolicy | PeerAuthentication;

const some = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 2 });
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined, freq: 2 });
const written1 = <T extends object>(one: fc.Arbitrary<T>) =>
  one.filter((it) => Object.values(it).some((v) => v !== undefined));

const principal = fc.constantFrom(
  "*",
  "cluster.local/ns/a/sa/web",
  "corp.example/ns/b/sa/job",
  "old.example/ns/a/sa/job",
  "far.example/ns/a/sa/web",
  "spiffe://corp.example/ns/a/sa/web",
  "*/sa/web",
  "corp.example/ns/a/*",
  "*.example/ns/a/sa/job",
);
const namespace = fc.constantFrom("*", "a", "b", "a*", "*b", "ab");
const account = fc.constantFrom("web", "a/web", "b/job");
const block = fc.constantFrom("10.0.0.1", "10.0.0.0/30", "10.0.0.5/31", "0.0.0.0/0", "10.1.0.0/16");
const port = fc.constantFrom("80", "443", "0", "8080");
const request = fc.constantFrom("x");
const path = fc.constantFrom("/admin", "/b*");

/** Sources and operations. `onlyConnections`: without attributes of requests. */
function ruleOf(onlyConnections: boolean) {
  const ofRequest = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
    onlyConnections ? fc.constant(undefined) : fc.option(one, { nil: undefined, freq: 1 });
  const blocks = { ipBlocks: maybe(some(block)), notIpBlocks: maybe(some(block)) };
  const source = written1(fc.oneof(
    fc.record({
      principals: maybe(some(principal)),
      notPrincipals: maybe(some(principal)),
      namespaces: maybe(some(namespace)),
      notNamespaces: maybe(some(namespace)),
      ...blocks,
      requestPrincipals: ofRequest(some(request)),
      notRemoteIpBlocks: ofRequest(some(block)),
    }),
    fc.record({ serviceAccounts: maybe(some(account)), notServiceAccounts: maybe(some(account)), ...blocks }),
  ));
  const operation = written1(fc.record({
    ports: maybe(some(port)),
    notPorts: maybe(some(port)),
    paths: ofRequest(some(path)),
    notHosts: ofRequest(some(request)),
  }));
  const keyed = (key: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
    written1(fc.record({ values: maybe(some(value)), notValues: maybe(some(value)) }))
      .chain((values) => key.map((one) => ({ key: one, ...values })));
  const condition = fc.oneof(
    keyed(fc.constant("source.principal"), principal),
    keyed(fc.constant("source.namespace"), namespace),
    keyed(fc.constant("source.serviceAccount"), account),
    keyed(fc.constantFrom("source.ip", "destination.ip"), block),
    keyed(fc.constant("destination.port"), port),
    ...onlyConnections ? [] : [keyed(fc.constantFrom("request.headers[x]", "connection.sni"), request)],
  );
  return fc.record({
    from: maybe(some(source.map((one) => ({ source: one })))),
    to: maybe(some(operation.map((one) => ({ operation: one })))),
    when: maybe(some(condition)),
  });
}

const place = {
  name: fc.constantFrom("p", "q", "r"),
  namespace: fc.constantFrom("shop", "pay", ROOT),
  created: fc.nat(3),
};
const chosen = fc.constantFrom({}, selecting("cart"), selecting("web"));

function policyOf(onlyConnections: boolean): fc.Arbitrary<AuthorizationPolicy> {
  const spec = fc.record({
    chosen: fc.oneof(
      { weight: 5, arbitrary: chosen },
      { weight: 1, arbitrary: fc.constant({ targetRefs: [{ group: "", kind: "Service", name: "cart" }] }) },
    ),
    action: fc.constantFrom("ALLOW", "DENY"),
    rules: fc.array(ruleOf(onlyConnections), { maxLength: 3 }),
  }).map(({ chosen: target, action, rules }) => ({
    ...target,
    action,
    ...rules.length === 0 && action === "ALLOW" ? {} : { rules: rules.length === 0 ? [{}] : rules },
  }));
  return fc.record({ ...place, spec, dryRun: fc.integer({ min: 0, max: 9 }).map((one) => one === 0) })
    .map((one) => written("AuthorizationPolicy", JSON.parse(JSON.stringify(one))));
}

const mode = fc.constantFrom("UNSET", "DISABLE", "PERMISSIVE", "STRICT");
const peer: fc.Arbitrary<PeerAuthentication> = fc.record({
  ...place,
  mtls: maybe(mode),
  ports: fc.dictionary(fc.constantFrom("80", "443"), mode, { maxKeys: 2 }),
  chosen,
}).map(({ mtls, ports, chosen: target, ...at }) => {
  const portLevelMtls = Object.fromEntries(Object.entries(ports).map(([key, value]) => [key, { mode: value }]));
  const isForPorts = "selector" in target && Object.keys(ports).length > 0;
  const spec = { ...target, ...mtls ? { mtls: { mode: mtls } } : {}, ...isForPorts ? { portLevelMtls } : {} };
  return written("PeerAuthentication", { ...at, spec });
});

const WORKLOADS: readonly ModelWorkload[] = ["shop", "pay", ROOT, "other"].flatMap((of) =>
  ["cart", "web", "none"].map((app) => ({ namespace: of, labels: { app } }))
);
const connection: fc.Arbitrary<ModelConnection> = fc.record({
  source: fc.constantFrom("10.0.0.1", "10.0.0.4", "10.1.2.3", "192.0.2.1"),
  identity: fc.option(
    fc.tuple(
      fc.constantFrom("corp.example", "old.example", "far.example"),
      fc.constantFrom("a", "b", "ab"),
      fc.constantFrom("web", "job"),
    ),
    { nil: undefined, freq: 3 },
  ),
  ip: fc.constantFrom("10.0.0.2", "10.1.0.9"),
  port: fc.constantFrom(80, 443, 8080),
}).map(({ identity, ...rest }) => identity ? { ...rest, identity } : rest);

/** Removes and puts objects one by one. */
function change(policies: TunnelPolicies, removed: Iterable<string>, put: Iterable<Policy>): TunnelPolicyChange {
  const changes = [...[...removed].map((key) => policies.remove(key)), ...[...put].map((one) => policies.put(one))];
  return {
    names: new Set(changes.flatMap(({ names }) => [...names])),
    namespaces: new Set(changes.flatMap(({ namespaces }) => [...namespaces])),
  };
}

/** The policies as a tunnel holds them after the wire. */
function tableOf(policies: TunnelPolicies): TunnelPolicyTable {
  const type = "istio.security.Authorization";
  return new Map(policies.names().map((name) => [name, decode(type, encode(type, policies.authorization(name)!))]));
}

function verdict(policies: TunnelPolicies, table: TunnelPolicyTable, workload: ModelWorkload, one: ModelConnection) {
  const [domain, ns, sa] = one.identity ?? [];
  return authorizeConnection(
    {
      source: one.source,
      ...domain === undefined ? {} : { identity: `spiffe://${domain}/ns/${ns}/sa/${sa}` },
      destination: { ip: one.ip, port: one.port },
    },
    { namespace: workload.namespace, authorization_policies: [...policies.listed(workload)] },
    table,
  );
}

function distinct<T extends Policy>(objects: readonly T[]): T[] {
  return [...new Map(objects.map((one) => [one.key, one])).values()];
}

for (const onlyConnections of [true, false]) {
  const title = onlyConnections
    ? "without attributes of requests, a tunnel accepts exactly the connections that the policies accept"
    : "whatever the policies read, a tunnel accepts no connection with a request that the policies may refuse";
  Deno.test(title, () => {
    let accepted = 0, refused = 0;
    fc.assert(
      fc.property(
        fc.array(policyOf(onlyConnections), { maxLength: 4 }),
        fc.array(peer, { maxLength: 3 }),
        fc.array(connection, { minLength: 3, maxLength: 3 }),
        (authorizations, peers, connections) => {
          const [own, tls] = [distinct(authorizations), distinct(peers)];
          const policies = new TunnelPolicies(MESH, [...own, ...tls]);
          const table = tableOf(policies);
          for (const workload of WORKLOADS) {
            for (const one of connections) {
              const { accepted: is, unknown } = verdict(policies, table, workload, one);
              const meant = accepts(own, tls, workload, one);
              assert.deepEqual(unknown, [], "a listed policy is there");
              if (onlyConnections || is) assert.equal(is, meant);
              if (is) accepted++;
              else refused++;
            }
          }
        },
      ),
      { numRuns: runs(400) },
    );
    assert.ok(accepted > 1000 && refused > 1000, `both verdicts are common: ${accepted} and ${refused}`);
  });
}

Deno.test("state by changes equals a fresh start, and a change names every policy and every namespace that it moves", () => {
  const step = fc.record({ put: fc.oneof(policyOf(false), peer), removes: fc.boolean() });
  const state = (policies: TunnelPolicies) => ({
    policies: new Map(policies.names().sort().map((name) => [name, policies.authorization(name)])),
    lists: WORKLOADS.map((workload) => policies.listed(workload)),
  });
  fc.assert(
    fc.property(fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 10 }), (changes) => {
      const policies = new TunnelPolicies(MESH);
      const there = new Map<string, Policy>();
      for (const steps of changes) {
        const last = new Map(steps.map((one) => [one.put.key, one]));
        const removed = [...last.values()].filter(({ removes }) => removes).map(({ put }) => put.key);
        const added = [...last.values()].filter(({ removes }) => !removes).map(({ put }) => put);
        const before = state(policies);
        const { names, namespaces } = change(policies, removed, added);
        for (const key of last.keys()) there.delete(key);
        for (const one of added) there.set(one.key, one);
        const after = state(policies);
        for (const name of new Set([...before.policies.keys(), ...after.policies.keys()])) {
          if (before.policies.get(name) !== after.policies.get(name)) {
            assert.ok(names.has(name), name);
          }
        }
        for (const [at, { namespace: of }] of WORKLOADS.entries()) {
          if (JSON.stringify(before.lists[at]) === JSON.stringify(after.lists[at])) continue;
          assert.ok(namespaces.has("*") || namespaces.has(of), of);
        }
      }
      const fresh = new TunnelPolicies(MESH, there.values());
      assert.deepEqual(state(policies), state(fresh));
    }),
    { numRuns: runs(300) },
  );
});

Deno.test("a list has the selecting policies of the namespace and of the mesh in order, and then the PeerAuthentication's", () => {
  const authorization = (name: string, namespace: string, spec: object) =>
    written("AuthorizationPolicy", { name, namespace, spec });
  const objects = [
    authorization("z", "shop", selecting("cart")),
    authorization("a", ROOT, selecting("cart")),
    authorization("all", "shop", {}),
    authorization("all", ROOT, {}),
    authorization("web", "shop", selecting("web")),
    authorization("audit", "shop", { ...selecting("cart"), action: "AUDIT", rules: [{}] }),
    written("PeerAuthentication", { name: "m", namespace: ROOT, spec: { mtls: { mode: "STRICT" } } }),
  ];
  const policies = new TunnelPolicies(MESH, objects);
  const listed = (namespace: string) => policies.listed({ namespace, labels: { app: "cart" } });
  assert.deepEqual(listed("shop"), [`${ROOT}/a`, "shop/z", `${ROOT}/istio_converted_static_strict`]);
  assert.deepEqual(listed("pay"), [`${ROOT}/a`, `${ROOT}/istio_converted_static_strict`]);
  assert.deepEqual(listed(ROOT), [`${ROOT}/a`, `${ROOT}/istio_converted_static_strict`]);
});

Deno.test("a change of rules alone concerns no list of a workload", () => {
  const policies = new TunnelPolicies(MESH);
  const of = (rules: object[]) =>
    written("AuthorizationPolicy", { name: "p", namespace: "shop", spec: { ...selecting("cart"), rules } });
  const [before, after] = [of([]), of([{}])];
  assert.deepEqual([...policies.put(before).namespaces], ["shop"]);
  const { names, namespaces } = policies.put(after);
  assert.deepEqual([[...names], [...namespaces]], [["shop/p"], []]);
  assert.deepEqual([...policies.remove("AuthorizationPolicy/shop/other").names], []);
});
