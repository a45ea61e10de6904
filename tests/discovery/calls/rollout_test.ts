/** In a rollout no new sidecar asks for what its predecessors called: also after a restart, with two servers, and after a reconnect. */
import assert from "node:assert/strict";
import { CallMemory } from "../../../lib/discovery/calls/call_memory.ts";
import { callsText, readCalls } from "../../../lib/discovery/calls/stored_calls.ts";
import { PipelineSource } from "../../../lib/discovery/proxies/source.ts";
import type { ProxyView } from "../../../lib/xds/protocol/source.ts";
import { CLUSTER, ROUTE, VIRTUAL_HOST } from "../../../lib/xds/protocol/types.ts";
import { type AskedNames, StreamClient } from "../../xds/support/stream_client.ts";
import { Fixture, service } from "../fixture.ts";

const HTTP = [3, 5, 8, 13, 21];
const TCP = 40;
const TCP_CLUSTER = `outbound|9000||s${TCP}.example.com`;
const clusterOf = (i: number) => `outbound|80||s${i}.example.com`;
const hostOf = (i: number) => `80/s${i}.example.com:80`;

const memory = () => new CallMemory({ lifetime: 86_400_000, clock: { now: () => 1e12 } });

/** A server with forty services, and its memory. */
function server(calls: CallMemory | undefined, ...further: readonly object[]) {
  const fixture = new Fixture();
  const tcp = service(TCP, { port: { number: 9000, name: "tcp", protocol: "TCP" } });
  fixture.put(...Array.from({ length: 39 }, (_, i) => service(i + 1)), tcp, ...further);
  fixture.pipeline.flush();
  const { pipeline, nodes } = fixture;
  const none = undefined;
  const source = new PipelineSource(pipeline, nodes, none, none, none, none, none, none, none, calls);
  return { fixture, source, table: fixture.pipeline.table };
}

/** A sidecar as Envoy behaves: clusters first, then routes and virtual hosts. `versions`: what it has from before. */
function sidecar(
  { fixture, source, table }: ReturnType<typeof server>,
  nth: number,
  versions: Readonly<Record<string, Record<string, string>>> = {},
  { workload = "cart", namespace = "x" } = {},
) {
  const text = (stringValue: string) => ({ stringValue });
  const fields = { ON_DEMAND: text("true"), WORKLOAD_NAME: text(workload), PROXY_CONFIG: text("{}") };
  const id = `sidecar~10.9.${nth >> 8}.${nth & 255}~cart-${nth}.${namespace}~${namespace}.svc.cluster.local`;
  const wire = {
    table,
    connect: (...args: Parameters<PipelineSource["connect"]>) => source.connect(...args) as ProxyView,
  };
  const client = new StreamClient(wire, true, { request: { node: { id, metadata: { fields } } } });
  const end = source.onPush(() => client.stream.reconcile());
  const first = (type: string, asked: AskedNames) => {
    client.ask(type, { ...asked, ...(versions[type] && { versions: versions[type] }) });
    while (client.inbox.some(({ typeUrl }) => typeUrl === type)) client.accept(type);
  };
  first(CLUSTER, {});
  first(ROUTE, { names: ["80"] });
  first(VIRTUAL_HOST, {});
  const has = (type: string, name: string) => client.has.get(type)?.has(name) === true;
  /** Asks as a waiting request does. */
  const ask = (type: string, name: string) => {
    client.ask(type, { names: [name] });
    while (client.inbox.length > 0) client.accept();
  };
  return {
    client,
    has,
    /** Sends a request to each host, and a connection to the TCP port. @returns how often Envoy had to ask */
    call(hosts: readonly number[]): number {
      let asked = 0;
      for (const i of hosts) {
        if (!has(VIRTUAL_HOST, hostOf(i))) asked++, ask(VIRTUAL_HOST, `80/s${i}.example.com`);
        assert.ok(has(VIRTUAL_HOST, hostOf(i)) && has(CLUSTER, clusterOf(i)), `s${i} is there after the question`);
      }
      if (!has(CLUSTER, TCP_CLUSTER)) asked++, ask(CLUSTER, TCP_CLUSTER);
      assert.ok(has(CLUSTER, TCP_CLUSTER));
      return asked;
    },
    clusters: () => [...client.has.get(CLUSTER)?.keys() ?? []].filter((name) => name.startsWith("outbound|")).sort(),
    close() {
      end();
      client.close();
      fixture.pipeline.flush();
    },
  };
}

/** Another server's memory, by way of the store. */
function moved(from: CallMemory, to: CallMemory): CallMemory {
  const text = callsText([...from.workloads()], 1 << 20);
  for (const { workload, calls } of readCalls(text, 1 << 20)!) to.merge(workload, calls);
  return to;
}

Deno.test("a rollout of 100 pods, over a restart and over two servers: the first pod asks, and no other pod asks", () => {
  const first = memory();
  const one = server(first);
  const pioneer = sidecar(one, 0);
  assert.equal(pioneer.call(HTTP), HTTP.length + 1);
  const restarted = server(moved(first, memory()));
  pioneer.close();
  let asked = 0;
  for (let i = 1; i <= 100; i++) {
    const pod = sidecar(i % 2 === 0 ? one : restarted, i);
    asked += pod.call(HTTP);
    assert.equal(pod.clusters().length, HTTP.length + 1, "and nothing else is handed");
    if (i % 3 === 0) pod.close();
  }
  assert.equal(asked, 0);
});

Deno.test("without a memory every pod asks, so that the test above can fail", () => {
  const one = server(undefined);
  for (let i = 0; i < 3; i++) assert.equal(sidecar(one, i).call(HTTP), HTTP.length + 1);
});

Deno.test("other workloads of the namespace, and workloads of the same name elsewhere, are handed nothing", () => {
  const one = server(memory());
  sidecar(one, 0).call(HTTP);
  assert.deepEqual(sidecar(one, 1, {}, { workload: "pay" }).clusters(), []);
  assert.deepEqual(sidecar(one, 2, {}, { namespace: "y" }).clusters(), []);
});

Deno.test("hosts outside of the mesh and hidden hosts are not remembered", () => {
  const calls = memory();
  const hidden = service(50, { namespace: "other" }) as { spec: object };
  const one = server(calls, { ...hidden, spec: { ...hidden.spec, exportTo: ["."] } });
  const pod = sidecar(one, 0);
  for (const name of ["80/nobody.example.com", "80/s50.example.com", "80/*", "80/not-asked-yet.invalid", "81/x"]) {
    pod.client.ask(VIRTUAL_HOST, { names: [name] });
  }
  pod.client.ask(CLUSTER, { names: [clusterOf(50), "outbound|80||nobody", "no-cluster"] });
  assert.equal(calls.size, 0);
  pod.client.ask(VIRTUAL_HOST, { names: ["80/s1.example.com"] });
  assert.deepEqual([...[...calls.workloads()][0]!.calls.keys()], [hostOf(1)]);
});

Deno.test("a host that is hidden or removed later is not handed, and comes back with its host", () => {
  const calls = memory();
  const one = server(calls);
  sidecar(one, 0).call([1, 2]);
  one.fixture.remove("ServiceEntry/x/s1");
  one.fixture.pipeline.flush();
  const pod = sidecar(one, 1);
  assert.ok(!pod.has(VIRTUAL_HOST, hostOf(1)) && pod.has(VIRTUAL_HOST, hostOf(2)));
  one.fixture.put(service(1));
  one.fixture.pipeline.flush();
  while (pod.client.inbox.length > 0) pod.client.accept();
  assert.ok(pod.has(VIRTUAL_HOST, hostOf(1)) && pod.has(CLUSTER, clusterOf(1)));
});

Deno.test("a sidecar that comes back to a server without the memory keeps what it was handed, and gets nothing again", () => {
  const one = server(memory());
  sidecar(one, 0).call(HTTP);
  const pod = sidecar(one, 1);
  const versions = Object.fromEntries(
    [CLUSTER, VIRTUAL_HOST].map((type) => {
      const held = [...pod.client.has.get(type)!].map(([name, { version }]) => [name, version]);
      return [type, Object.fromEntries(held)];
    }),
  );
  pod.close();
  const back = sidecar(server(memory()), 1, versions);
  const sent = back.client.received.filter(({ typeUrl }) => typeUrl !== ROUTE);
  assert.deepEqual(sent.flatMap(({ resources, removed }) => [...resources.keys(), ...removed]), []);
});

Deno.test("a change of a handed host reaches the sidecar, and the sidecar does not hold further hosts", () => {
  const one = server(memory());
  sidecar(one, 0).call(HTTP);
  const pod = sidecar(one, 1);
  one.fixture.put({
    ...{ apiVersion: "networking.mesh.io/v1", kind: "VirtualService", metadata: { name: "v", namespace: "x" } },
    spec: { hosts: ["s3.example.com"], http: [{ route: [{ destination: { host: "s30.example.com" } }] }] },
  });
  one.fixture.pipeline.flush();
  while (pod.client.inbox.length > 0) pod.client.accept();
  assert.ok(pod.clusters().includes(clusterOf(30)));
  assert.ok(!pod.clusters().includes(clusterOf(3)), "no resource names it any more");
});

Deno.test("beside a handed wildcard the sidecar gets the more specific hosts, which Envoy would not ask for", () => {
  const wild = {
    ...{ apiVersion: "networking.mesh.io/v1", kind: "ServiceEntry", metadata: { name: "wild", namespace: "x" } },
    spec: { hosts: ["*.wild.com"], ports: [{ number: 80, name: "http", protocol: "HTTP" }], resolution: "NONE" },
  };
  const own = { ...wild, metadata: { name: "own", namespace: "x" }, spec: { ...wild.spec, hosts: ["own.wild.com"] } };
  const calls = memory();
  const one = server(calls, wild, own);
  sidecar(one, 0).client.ask(VIRTUAL_HOST, { names: Array.from({ length: 50 }, (_, i) => `80/h${i}.wild.com`) });
  assert.equal(calls.size, 1, "hosts of one wildcard are one name");
  const pod = sidecar(one, 1);
  assert.ok(pod.has(VIRTUAL_HOST, "80/*.wild.com:80") && pod.has(VIRTUAL_HOST, "80/own.wild.com:80"));
});
