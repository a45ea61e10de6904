/**
 * The cost and the sharing of connection managers and TCP proxies of ports. Workloads that serve ports in the same way
 * share them.
 */
import assert from "node:assert/strict";
import { Block } from "../../lib/resource/block.ts";
import type { ProxyState } from "../../lib/translate/machine/per_proxy/proxy_state.ts";
import { Fixture, resources, service, serviceAddress, texts } from "./fixture.ts";

function policy(selected?: string): object {
  return {
    apiVersion: "security.mesh.io/v1",
    kind: "AuthorizationPolicy",
    metadata: { name: selected ?? "all", namespace: "x" },
    spec: {
      rules: [{ to: [{ operation: { paths: ["/admitted"] } }] }],
      ...selected && { selector: { matchLabels: { app: selected } } },
    },
  };
}

const COMPRESSOR = {
  name: "envoy.filters.http.compressor",
  typed_config: {
    "@type": "type.googleapis.com/envoy.extensions.filters.http.compressor.v3.Compressor",
    compressor_library: {
      name: "gzip",
      typed_config: { "@type": "type.googleapis.com/envoy.extensions.compression.gzip.compressor.v3.Gzip" },
    },
  },
};

/** Gives inbound ports an HTTP filter, for all workloads or for one. */
function insertion(selected?: string): object {
  return {
    apiVersion: "networking.mesh.io/v1alpha3",
    kind: "ProxyFilter",
    metadata: { name: "filter", namespace: "x" },
    spec: {
      ...selected && { workloadSelector: { labels: { app: selected } } },
      configPatches: [{
        applyTo: "HTTP_FILTER",
        match: {
          context: "SIDECAR_INBOUND",
          listener: { filterChain: { filter: { name: "envoy.filters.network.http_connection_manager" } } },
        },
        patch: { operation: "INSERT_FIRST", value: COMPRESSOR },
      }],
    },
  };
}

/** A metric and its tags for all: connection managers become so large that their shared fields are worth a block. */
const METRICS = {
  apiVersion: "telemetry.mesh.io/v1",
  kind: "Telemetry",
  metadata: { name: "mesh", namespace: "mesh-system" },
  spec: { metrics: [{ providers: [{ name: "prometheus" }] }] },
};

/** The last workload alone serves HTTP/2. @param usual The port of the others; default: of HTTP. */
function world(count: number, usual: Readonly<Record<string, unknown>> = {}) {
  const fixture = new Fixture();
  const port = (i: number) => i === count ? { name: "grpc", protocol: "GRPC" } : usual;
  fixture.put(METRICS, ...Array.from({ length: count }, (_, i) => service(i + 1, { port: port(i + 1) })));
  fixture.pipeline.flush();
  const states = Array.from({ length: count }, (_, i) => {
    return fixture.join({ namespace: "x", address: serviceAddress(i + 1), labels: { app: `s${i + 1}` } });
  });
  const { managers } = fixture.pipeline.translator.caches.of;
  /** Makes changes. @returns the number of connection managers built */
  const change = (...trees: object[]): number => {
    const before = managers.counts.built;
    fixture.put(...trees);
    fixture.pipeline.flush();
    assert.deepEqual(fixture.failures, []);
    return managers.counts.built - before;
  };
  return { states, managers, change };
}

function inbound(state: ProxyState) {
  return resources(state)["listener/virtualInbound"]!;
}

interface Parts {
  readonly blocks: readonly Block[];
  /** Bytes outside of shared blocks. */
  readonly own: number;
}

/** The parts of a proxy's listener of inbound ports. */
function parts(state: ProxyState): Parts {
  const runs = inbound(state).runs("delta");
  const blocks = runs.filter((run) => run instanceof Block);
  const own = runs.reduce((bytes, run) => run instanceof Block ? bytes : bytes + run.length, 0);
  return { blocks, own };
}

/** Whether two listeners have the same blocks. */
function same(one: Parts, other: Parts): boolean {
  return one.blocks.length === other.blocks.length && one.blocks.every((block, i) => block === other.blocks[i]);
}

/** A listener with the names of a workload's own service taken out. */
function withoutNames(state: ProxyState, i: number): string {
  return texts(state)["listener/virtualInbound"]!.replaceAll(`s${i}.example.com`, "HOST").replaceAll(
    `"s${i}"`,
    '"NAME"',
  );
}

Deno.test("workloads that serve one port in the same way build the shared fields of its connection manager once", () => {
  const { states, managers } = world(100);
  assert.deepEqual({ ...managers.counts }, { built: 1, reused: 99, dropped: 0, crowdedOut: 0 });
  const [first, second] = [parts(states[0]!), parts(states[98]!)];
  assert.ok(same(first, second));
  assert.ok(first.own * 4 < inbound(states[0]!).size, `${first.own} of ${inbound(states[0]!).size} bytes are its own`);
  assert.equal(withoutNames(states[0]!, 1), withoutNames(states[98]!, 99));
  assert.ok(same(first, parts(states[99]!)), "gRPC has the same: every port takes HTTP/2");
});

Deno.test("a policy for one workload gives it a separate connection manager; a policy for all workloads gives the others a new shared one", () => {
  const { states, change } = world(20);
  assert.equal(change(policy("s1")), 1);
  const admitted = states.map((state) => /admitted/.test(texts(state)["listener/virtualInbound"]!));
  assert.deepEqual(admitted, states.map((_, i) => i === 0));
  assert.equal(change(policy()), 2);
  for (const state of states) assert.match(texts(state)["listener/virtualInbound"]!, /admitted/);
});

Deno.test("a patch of HTTP filters reaches the shared fields once, and each listener has them still", () => {
  const { states, change } = world(20);
  const before = parts(states[0]!);
  change(insertion());
  const [first, second] = [parts(states[0]!), parts(states[18]!)];
  assert.ok(same(first, second));
  assert.ok(!same(first, before));
  assert.equal(first.own, before.own);
  for (const state of states) assert.match(texts(state)["listener/virtualInbound"]!, /filters\.http\.compressor/);
});

Deno.test("a patch for one workload changes that one's listener alone", () => {
  const { states, change } = world(20);
  const before = states.map((state) => inbound(state).version);
  change(insertion("s3"));
  const changed = states.flatMap((state, i) => inbound(state).version === before[i] ? [] : [i]);
  assert.deepEqual(changed, [2]);
  assert.match(texts(states[2]!)["listener/virtualInbound"]!, /filters\.http\.compressor/);
});

Deno.test("workloads that serve TCP share the loggers of its metrics, and name their own clusters", () => {
  const { states } = world(20, { name: "tcp", protocol: "TCP", number: 3306 });
  const [first, second] = [parts(states[0]!), parts(states[18]!)];
  assert.ok(same(first, second));
  assert.ok(first.own < 3000, `${first.own} bytes are its own`);
  const text = texts(states[0]!)["listener/virtualInbound"]!;
  assert.match(text, /"cluster":"inbound\|3306\|\|"/);
  assert.equal(text.match(/tcp_connections_opened_total/g)?.length, 2, "of the port, and of others");
});
