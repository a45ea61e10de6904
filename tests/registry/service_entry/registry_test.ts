import assert from "node:assert/strict";
import type { AnyConfigObject, ConfigObject } from "../../../lib/config/types.ts";
import { type ServiceEntryOptions, ServiceEntryRegistry } from "../../../lib/registry/service_entry/registry.ts";
import { testConformance } from "../conformance.ts";
import { OPTIONS, pod, RecordingSink, serviceEntry, workloadEntry } from "../objects.ts";

testConformance("service entries, endpoints listed", () => {
  const registry = new ServiceEntryRegistry(OPTIONS);
  return {
    registry,
    put(service) {
      registry.apply([
        serviceEntry(service.name, {
          ports: service.ports.map((number) => ({ number, name: `p${number}`, protocol: "TCP" })),
          endpoints: service.addresses.map((address) => ({ address })),
        }, { namespace: service.namespace }),
      ], []);
    },
    remove(service) {
      registry.apply([], [`ServiceEntry/${service.namespace}/${service.name}`]);
    },
  };
});

testConformance("service entries, workloads selected", () => {
  const registry = new ServiceEntryRegistry(OPTIONS);
  const known = new Set<string>();
  return {
    registry,
    put(service) {
      const labels = { app: service.name };
      const workloads = service.addresses.map((address) =>
        workloadEntry(`${service.name}-${address}`, { address, labels }, { namespace: service.namespace })
      );
      const keys = new Set(workloads.map((workload) => workload.key));
      const gone = [...known].filter((key) =>
        key.startsWith(`WorkloadEntry/${service.namespace}/${service.name}-`) && !keys.has(key)
      );
      for (const key of gone) known.delete(key);
      for (const key of keys) known.add(key);
      registry.apply([
        serviceEntry(service.name, {
          ports: service.ports.map((number) => ({ number, name: `p${number}`, protocol: "TCP" })),
          workloadSelector: { labels },
        }, { namespace: service.namespace }),
        ...workloads,
      ], gone);
    },
    remove(service) {
      const workloads = [...known].filter((key) =>
        key.startsWith(`WorkloadEntry/${service.namespace}/${service.name}-`)
      );
      for (const key of workloads) known.delete(key);
      registry.apply([], [`ServiceEntry/${service.namespace}/${service.name}`, ...workloads]);
    },
  };
});

async function started(objects: readonly AnyConfigObject[] = [], options: Partial<ServiceEntryOptions> = {}) {
  const registry = new ServiceEntryRegistry({ ...OPTIONS, ...options });
  const sink = new RecordingSink();
  registry.apply(objects, []);
  await registry.start(sink);
  sink.take();
  return { registry, sink };
}

Deno.test("an entry becomes one service for each host, in lower case", async () => {
  const { sink } = await started([
    serviceEntry("db", {
      hosts: ["A.example.com", "b.example.com", "a.EXAMPLE.com"],
      location: "MESH_EXTERNAL",
      addresses: ["10.1.0.0/16", "10.0.0.9/32"],
      ports: [{ number: 443, name: "tls", protocol: "TLS", targetPort: 8443 }, { number: 80, name: "web" }],
      exportTo: ["."],
      subjectAltNames: ["spiffe://x"],
    }, { labels: { team: "x" }, creationTimestamp: 7 }),
  ]);
  assert.deepEqual([...sink.state.services.keys()], ["default/a.example.com", "default/b.example.com"]);
  assert.deepEqual(sink.state.services.get("default/a.example.com"), {
    hostname: "a.example.com",
    namespace: "default",
    name: "db",
    provider: "External",
    ports: [
      { name: "tls", port: 443, targetPort: 8443, protocol: "TLS" },
      { name: "web", port: 80, protocol: "Unsupported" },
    ],
    addresses: ["10.1.0.0/16", "10.0.0.9"],
    resolution: "static",
    meshExternal: true,
    exportTo: ["."],
    labels: { team: "x" },
    subjectAltNames: ["spiffe://x"],
    headless: false,
    creationTimestamp: 7,
    cause: "ServiceEntry/default/db",
  });
});

Deno.test("a listed endpoint carries its port, place, weight, identity and TLS mode", async () => {
  const { sink } = await started([
    serviceEntry("a", {
      ports: [{ number: 80, name: "http", protocol: "HTTP", targetPort: 8080 }, { number: 9000, name: "tcp" }],
      endpoints: [
        {
          address: "10.0.0.1",
          ports: { http: 1234 },
          labels: { v: "1" },
          locality: "r/z/s",
          network: "n1",
          weight: 5,
          serviceAccount: "sa",
        },
        { address: "2001:DB8::1", labels: { "mesh-locality": "r.z2", "mesh.io/draining": "true" } },
        { address: "unix:///run/a.sock", labels: { "security.mesh.io/tlsMode": "mesh", "istio-locality": "r" } },
      ],
    }),
  ]);
  const list = sink.endpointsOf("default/a.example.com");
  assert.deepEqual(sink.addresses("default/a.example.com"), [
    "10.0.0.1:1234/http",
    "10.0.0.1:9000/tcp",
    "2001:db8::1:8080/http",
    "2001:db8::1:9000/tcp",
    "unix:///run/a.sock:0/http",
    "unix:///run/a.sock:0/tcp",
  ]);
  assert.deepEqual(list[0], {
    address: "10.0.0.1",
    port: 1234,
    portName: "http",
    labels: {
      v: "1",
      "topology.kubernetes.io/region": "r",
      "topology.kubernetes.io/zone": "z",
      "topology.mesh.io/subzone": "s",
      "topology.mesh.io/cluster": "c1",
      "topology.mesh.io/network": "n1",
    },
    locality: "r/z/s",
    network: "n1",
    clusterId: "c1",
    weight: 5,
    health: "healthy",
    serviceAccount: "sa",
    namespace: "default",
    workloadName: "",
    tlsMode: "mesh",
  });
  assert.deepEqual([list[2]!.locality, list[2]!.health, list[2]!.tlsMode], ["r/z2", "draining", "disabled"]);
  assert.deepEqual([list[4]!.locality, list[4]!.tlsMode], ["r", "mesh"]);
});

Deno.test("a DNS entry without endpoints is found by its own hosts, at the target port", async () => {
  const { sink } = await started([
    serviceEntry("a", {
      hosts: ["a.example.com", "b.example.com"],
      resolution: "DNS",
      ports: [{ number: 80, name: "http", protocol: "HTTP", targetPort: 8080 }, { number: 443, name: "tls" }],
    }),
  ]);
  assert.deepEqual(sink.addresses("default/b.example.com"), ["b.example.com:8080/http", "b.example.com:443/tls"]);
  assert.equal(sink.state.services.get("default/a.example.com")!.resolution, "dns");
});

Deno.test("an entry without resolution has no endpoints and takes connections where they go", async () => {
  const { sink } = await started([serviceEntry("a", { hosts: ["*.example.com"], resolution: "NONE" })]);
  assert.equal(sink.state.services.get("default/*.example.com")!.resolution, "passthrough");
  assert.equal(sink.state.endpoints.size, 0);
});

Deno.test("a round-robin DNS service has one endpoint for each port", async () => {
  const { sink } = await started([
    serviceEntry("a", { hosts: ["h.com"], resolution: "DNS_ROUND_ROBIN", endpoints: [{ address: "x.com" }] }),
    serviceEntry("b", { hosts: ["h.com"], resolution: "DNS_ROUND_ROBIN", endpoints: [{ address: "y.com" }] }),
  ]);
  assert.deepEqual(sink.addresses("default/h.com"), ["x.com:80/http"]);
});

Deno.test("a selector takes workload entries of its own namespace alone, with object labels before spec labels", async () => {
  const { sink } = await started([
    serviceEntry("a", { workloadSelector: { labels: { app: "a" } } }),
    workloadEntry("w1", { address: "10.0.0.1", labels: { app: "b", v: "1" } }, { labels: { app: "a" } }),
    workloadEntry("w2", { address: "10.0.0.2", labels: { app: "a" } }, { labels: { app: "b" } }),
    workloadEntry("w3", { address: "10.0.0.3", labels: { app: "a" } }, { namespace: "other" }),
    workloadEntry("w4", { address: "10.0.0.4", labels: { app: "a" }, ports: { http: 99 }, serviceAccount: "sa" }),
  ]);
  assert.deepEqual(sink.addresses("default/a.example.com"), ["10.0.0.1:80/http", "10.0.0.4:99/http"]);
  const last = sink.endpointsOf("default/a.example.com")[1]!;
  assert.deepEqual([last.workloadName, last.serviceAccount, last.tlsMode], ["w4", "sa", "mesh"]);
  assert.equal(sink.state.workloads.size, 4);
});

Deno.test("a selector without labels selects nothing", async () => {
  const { sink } = await started([
    serviceEntry("a", { workloadSelector: {} }),
    workloadEntry("w1", { address: "10.0.0.1", labels: { app: "a" } }),
  ]);
  assert.deepEqual(sink.addresses("default/a.example.com"), []);
});

Deno.test("only DNS entries select names, only static entries select Unix sockets, and both select a workload of which only the network is known", async () => {
  const selector = { labels: { app: "a" } };
  const { sink } = await started([
    serviceEntry("static", { workloadSelector: selector }),
    serviceEntry("dns", { workloadSelector: selector, resolution: "DNS" }),
    workloadEntry("w1", { address: "w1.example.com", labels: { app: "a" } }),
    workloadEntry("w2", { network: "n2", labels: { app: "a" } }),
    workloadEntry("w3", { address: "10.0.0.3", labels: { app: "a" } }),
    workloadEntry("w4", { address: "unix:///run/a.sock", labels: { app: "a" } }),
  ]);
  assert.deepEqual(sink.addresses("default/static.example.com"), [
    ...[":80/http", "10.0.0.3:80/http", "unix:///run/a.sock:0/http"],
  ]);
  assert.deepEqual(sink.addresses("default/dns.example.com"), [
    ...["w1.example.com:80/http", ":80/http", "10.0.0.3:80/http"],
  ]);
});

Deno.test("a workload change touches only the services that select it", async () => {
  const { registry, sink } = await started([
    serviceEntry("a", { workloadSelector: { labels: { app: "a" } } }),
    serviceEntry("b", { workloadSelector: { labels: { app: "b" } } }),
    serviceEntry("c", { endpoints: [{ address: "10.9.9.9" }] }),
    workloadEntry("w1", { address: "10.0.0.1", labels: { app: "a" } }),
  ]);
  registry.apply([workloadEntry("w1", { address: "10.0.0.2", labels: { app: "a" } })], []);
  assert.deepEqual(sink.take(), ["+workload WorkloadEntry/default/w1", "endpoints default/a.example.com 1"]);
  registry.apply([workloadEntry("w1", { address: "10.0.0.2", labels: { app: "b" } })], []);
  assert.deepEqual(sink.take().sort(), [
    "+workload WorkloadEntry/default/w1",
    "endpoints default/a.example.com 0",
    "endpoints default/b.example.com 1",
  ]);
  registry.apply([], ["WorkloadEntry/default/w1"]);
  assert.deepEqual(sink.take(), ["-workload WorkloadEntry/default/w1", "endpoints default/b.example.com 0"]);
});

Deno.test("an edit of an entry touches only the entry's services, and endpoints of unchanged workloads stay the same objects", async () => {
  const workloads = [1, 2, 3].map((i) => workloadEntry(`w${i}`, { address: `10.0.0.${i}`, labels: { app: "a" } }));
  const { registry, sink } = await started([
    serviceEntry("a", { workloadSelector: { labels: { app: "a" } } }),
    serviceEntry("b", {}),
    ...workloads,
  ]);
  const before = sink.endpointsOf("default/a.example.com");
  registry.apply([workloadEntry("w2", { address: "10.0.0.22", labels: { app: "a" } })], []);
  const after = sink.endpointsOf("default/a.example.com");
  assert.equal(after[0], before[0]);
  assert.equal(after[2], before[2]);
  assert.equal(after[1]!.address, "10.0.0.22");
  sink.take();
  registry.apply([serviceEntry("a", { workloadSelector: { labels: { app: "a" } }, exportTo: ["."] })], []);
  assert.deepEqual(sink.take(), ["+service default/a.example.com"]);
});

Deno.test("pods of other registries are selected, unless the setting is off; the registry's own reports have no effect on itself", async () => {
  for (const selectPods of [true, false]) {
    const { registry, sink } = await started(
      [serviceEntry("a", { workloadSelector: { labels: { app: "a" } } })],
      { selectPods },
    );
    const orch = { provider: "Orch", clusterId: "c1" } as const;
    registry.onWorkloads(orch, [pod("p1", "10.0.0.1", { app: "a" })], []);
    registry.onWorkloads({ provider: "External", clusterId: "c1" }, [pod("p2", "10.0.0.2", { app: "a" })], []);
    assert.deepEqual(sink.addresses("default/a.example.com"), selectPods ? ["10.0.0.1:80/http"] : []);
    assert.equal(sink.state.workloads.size, 0);
    registry.onWorkloads(orch, [], ["pod/default/p1"]);
    assert.deepEqual(sink.addresses("default/a.example.com"), []);
  }
});

const HEALTHY = { healthy: true, serviceAccount: "vm" };

Deno.test("a health-checked workload entry is unhealthy until its agent reports it healthy", async () => {
  const checked = workloadEntry("w1", { address: "10.0.0.1", labels: { app: "a" } }, {
    annotations: { "proxy.mesh.io/health-checks-enabled": "true" },
  });
  const entry = serviceEntry("a", { workloadSelector: { labels: { app: "a" } } });
  const { registry, sink } = await started([entry, checked]);
  const health = () => sink.endpointsOf("default/a.example.com").map((endpoint) => endpoint.health);
  assert.deepEqual(health(), ["unhealthy"]);
  registry.setHealth({ namespace: "default", name: "w1" }, HEALTHY);
  assert.deepEqual(health(), ["healthy"]);
  registry.setHealth({ namespace: "default", name: "w1" }, { ...HEALTHY, healthy: false });
  assert.deepEqual(health(), ["unhealthy"]);
  registry.setHealth({ namespace: "default", name: "unknown" }, HEALTHY);
  const off = await started([entry, checked], { healthChecks: false });
  assert.equal(off.sink.endpointsOf("default/a.example.com")[0]!.health, "healthy");
});

Deno.test("after a start, health-checked entries are healthy until their agents report, or until the wait for the agents is over", async () => {
  const annotations = { "proxy.mesh.io/health-checks-enabled": "true" };
  const entry = serviceEntry("a", { workloadSelector: { labels: { app: "a" } } });
  const one = (name: string, address: string) =>
    workloadEntry(name, { address, labels: { app: "a" }, serviceAccount: "vm" }, { annotations });
  const ill = { ...one("ill", "10.0.0.4"), healthy: false };
  const { registry, sink } = await started([entry, one("w1", "10.0.0.1"), one("w2", "10.0.0.2"), ill]);
  const healthy = () =>
    sink.endpointsOf("default/a.example.com").filter((endpoint) => endpoint.health === "healthy")
      .map(({ address }) => address).sort();
  assert.deepEqual(healthy(), []);
  const end = registry.awaitReports();
  assert.deepEqual(healthy(), ["10.0.0.1", "10.0.0.2"], "a status goes before");
  registry.apply([one("new", "10.0.0.3"), one("w2", "10.0.0.2")], []);
  assert.deepEqual(healthy(), ["10.0.0.1", "10.0.0.2"], "one that is new waits for its first report");
  const place = { namespace: "default", name: "w1" };
  registry.setHealth(place, { healthy: false, serviceAccount: "thief" });
  assert.deepEqual(healthy(), ["10.0.0.1", "10.0.0.2"], "a stranger is no agent of it");
  registry.setHealth(place, { ...HEALTHY, healthy: false });
  assert.deepEqual(healthy(), ["10.0.0.2"]);
  registry.setHealth(place, undefined);
  assert.deepEqual(healthy(), ["10.0.0.2"], "it was heard, and is gone");
  end();
  assert.deepEqual(healthy(), [], "nobody has reported on w2");
  registry.apply([], ["WorkloadEntry/default/w1"]);
});

Deno.test("the status of an entry decides its health if this server has no stream of the agent", async () => {
  const annotations = { "proxy.mesh.io/health-checks-enabled": "true" };
  const entry = serviceEntry("a", { workloadSelector: { labels: { app: "a" } } });
  const w1 = workloadEntry("w1", { address: "10.0.0.1", labels: { app: "a" } }, { annotations });
  const { registry, sink } = await started([entry]);
  const health = () => sink.endpointsOf("default/a.example.com").map((endpoint) => endpoint.health);
  const place = { namespace: "default", name: "w1" };
  registry.apply([{ ...w1, healthy: true }], []);
  assert.deepEqual(health(), ["healthy"]);
  registry.setHealth(place, { ...HEALTHY, healthy: false });
  assert.deepEqual(health(), ["unhealthy"], "the agent is here");
  registry.setHealth(place, { ...HEALTHY, healthy: false, isLate: true });
  assert.deepEqual(health(), ["healthy"], "the agent has left, and the status is newer");
  registry.apply([{ ...w1, healthy: false }], []);
  assert.deepEqual(health(), ["unhealthy"]);
  registry.apply([w1], []);
  registry.setHealth(place, { ...HEALTHY, isLate: true });
  assert.deepEqual(health(), ["healthy"], "nothing is newer than its last words");
});

Deno.test("health may be reported by address, before and after the entry exists; only the entry's service account may report", async () => {
  const annotations = { "proxy.mesh.io/health-checks-enabled": "true" };
  const w1 = workloadEntry("w1", { address: "2001:DB8::1", labels: { app: "a" } }, { annotations });
  const named = workloadEntry("w1", { ...w1.spec, serviceAccount: "vm" }, { annotations });
  const entry = serviceEntry("a", { workloadSelector: { labels: { app: "a" } } });
  const { registry, sink } = await started([entry]);
  const health = () => sink.endpointsOf("default/a.example.com").map((endpoint) => endpoint.health);
  const place = { namespace: "default", address: "2001:db8::1" };
  registry.setHealth(place, HEALTHY);
  registry.apply([w1], []);
  assert.deepEqual(health(), ["healthy"]);
  registry.apply([], [w1.key]);
  registry.apply([named], []);
  assert.deepEqual(health(), ["healthy"], "the report outlives the entry");
  registry.setHealth(place, { healthy: true, serviceAccount: "thief" });
  assert.deepEqual(health(), ["unhealthy"]);
  registry.setHealth({ namespace: "other", address: "2001:db8::1" }, HEALTHY);
  assert.deepEqual(health(), ["unhealthy"]);
  registry.setHealth(place, HEALTHY);
  assert.deepEqual(health(), ["healthy"]);
  registry.setHealth(place, undefined);
  assert.deepEqual(health(), ["unhealthy"], "nobody reports any more");
});

Deno.test("entries of one host and namespace: the oldest is the base, similar entries add ports, addresses and endpoints", async () => {
  const { registry, sink } = await started([
    serviceEntry("young", {
      hosts: ["h.com"],
      addresses: ["10.0.0.2"],
      ports: [{ number: 80, name: "web", protocol: "TCP" }, { number: 8080, name: "http", protocol: "HTTP" }],
      endpoints: [{ address: "1.1.1.2" }],
    }, { creationTimestamp: 2 }),
    serviceEntry("old", { hosts: ["h.com"], addresses: ["10.0.0.1"], endpoints: [{ address: "1.1.1.1" }] }, {
      creationTimestamp: 1,
    }),
  ]);
  const service = sink.state.services.get("default/h.com")!;
  assert.deepEqual(service.ports, [
    { name: "http", port: 80, protocol: "HTTP" },
    { name: "http-8080", cause: "ServiceEntry/default/young", port: 8080, protocol: "HTTP" },
  ]);
  assert.deepEqual(service.addresses, ["10.0.0.1", "10.0.0.2"]);
  assert.deepEqual([service.cause, service.otherCauses], ["ServiceEntry/default/old", ["ServiceEntry/default/young"]]);
  assert.deepEqual(sink.addresses("default/h.com"), ["1.1.1.1:80/http", "1.1.1.2:80/http", "1.1.1.2:8080/http-8080"]);
  registry.apply([], ["ServiceEntry/default/old"]);
  assert.equal(sink.state.services.get("default/h.com")!.name, "young");
  assert.deepEqual(sink.addresses("default/h.com"), ["1.1.1.2:80/web", "1.1.1.2:8080/http"]);
});

Deno.test("dissimilar entries of one host add ports and endpoints; an entry of another resolution adds nothing to common ports", async () => {
  const { sink } = await started([
    serviceEntry("a", { hosts: ["h.com"], endpoints: [{ address: "1.1.1.1" }] }, { creationTimestamp: 1 }),
    serviceEntry("b", {
      hosts: ["h.com"],
      ports: [{ number: 80, name: "x" }, { number: 81, name: "y" }],
      endpoints: [{ address: "1.1.1.2" }],
    }, { creationTimestamp: 2, labels: { other: "1" } }),
    serviceEntry("c", { hosts: ["h.com"], resolution: "DNS" }, { creationTimestamp: 3 }),
    serviceEntry("d", { hosts: ["h.com"] }, { namespace: "other" }),
  ]);
  assert.deepEqual(sink.state.services.get("default/h.com")!.ports.map(({ port }) => port), [80, 81]);
  assert.deepEqual(sink.addresses("default/h.com"), ["1.1.1.1:80/http", "1.1.1.2:80/http", "1.1.1.2:81/y"]);
  assert.ok(sink.state.services.has("other/h.com"));
});

Deno.test("each service without an address gets one, unless it needs none, is a wildcard, or opted out", async () => {
  const { sink, registry } = await started([
    serviceEntry("static", {}),
    serviceEntry("dns", { resolution: "DNS" }),
    serviceEntry("own", { addresses: ["10.0.0.1"] }),
    serviceEntry("none", { resolution: "NONE" }),
    serviceEntry("wild", { hosts: ["*.wild.com"] }),
    serviceEntry("out", {}, { labels: { "networking.mesh.io/enable-autoallocate-ip": "False" } }),
  ]);
  const allocated = (name: string) => sink.state.services.get(`default/${name}`)!.autoAllocatedAddresses;
  assert.match(allocated("static.example.com")![0]!, /^240\.240\.\d+\.\d+$/);
  assert.match(allocated("static.example.com")![1]!, /^2001:2::f0f0:[0-9a-f]+$/);
  assert.notDeepEqual(allocated("static.example.com"), allocated("dns.example.com"));
  for (const name of ["own.example.com", "none.example.com", "*.wild.com", "out.example.com"]) {
    assert.equal(allocated(name), undefined, name);
  }
  registry.apply([serviceEntry("static", { addresses: ["10.0.0.2"] })], []);
  assert.equal(allocated("static.example.com"), undefined);
  const off = await started([serviceEntry("static", {})], { autoAllocate: false });
  assert.equal(off.sink.state.services.get("default/static.example.com")!.autoAllocatedAddresses, undefined);
});

Deno.test("addresses in a status belong to the entry's hosts, if the entry may have automatic addresses", async () => {
  const assigned = (entry: ConfigObject<"ServiceEntry">, ...values: readonly string[]) => ({
    ...entry,
    assigned: entry.spec.hosts.flatMap((host) => values.map((value) => ({ host: host.toUpperCase(), value }))),
  });
  const { sink, registry } = await started([
    assigned(serviceEntry("static", {}), "2001:2:0:0:0:f0f0:0:7", "240.240.0.7", "nonsense"),
    assigned(serviceEntry("none", { resolution: "NONE" }), "240.240.0.8"),
    assigned(serviceEntry("own", { addresses: ["10.0.0.1"] }), "240.240.0.9"),
    assigned(
      serviceEntry("out", {}, { labels: { "networking.mesh.io/enable-autoallocate-ip": "false" } }),
      "240.240.0.9",
    ),
  ]);
  const addresses = (name: string) => sink.state.services.get(`default/${name}.example.com`)!.autoAllocatedAddresses;
  assert.deepEqual(addresses("static"), ["240.240.0.7", "2001:2::f0f0:0:7"]);
  assert.deepEqual([addresses("none"), addresses("own"), addresses("out")], [undefined, undefined, undefined]);
  registry.apply([serviceEntry("user", { addresses: ["240.240.0.7"] })], []);
  assert.equal(addresses("static")!.includes("240.240.0.7"), false, "what a user wrote is the user's");
  assert.equal(addresses("static")!.length, 2);
  const off = await started([assigned(serviceEntry("static", {}), "240.240.0.7")], { autoAllocate: false });
  assert.equal(off.sink.state.services.get("default/static.example.com")!.autoAllocatedAddresses, undefined);
});

Deno.test("a status should assign the served addresses, for each host that is not a wildcard", async () => {
  const { sink, registry } = await started([
    serviceEntry("two", { hosts: ["a.example.com", "*.example.com", "b.example.com"] }),
    serviceEntry("same-host", { hosts: ["a.example.com"] }, { creationTimestamp: 5 }),
    serviceEntry("none", { resolution: "NONE" }),
  ]);
  const served = (host: string) =>
    sink.state.services.get(`default/${host}`)!.autoAllocatedAddresses!.map((value) => ({ host, value }));
  const both = [...served("a.example.com"), ...served("b.example.com")];
  assert.deepEqual(registry.assignment("ServiceEntry/default/two"), both);
  assert.deepEqual(registry.assignment("ServiceEntry/default/same-host"), served("a.example.com"));
  assert.equal(registry.assignment("ServiceEntry/default/none"), undefined);
  assert.equal(registry.assignment("ServiceEntry/default/unknown"), undefined);
  const heard: string[][] = [];
  const end = registry.onAssigned((entries) => heard.push([...entries].sort()));
  registry.apply([serviceEntry("user", { addresses: [both[0]!.value] })], []);
  assert.deepEqual(heard, [[
    "ServiceEntry/default/same-host",
    "ServiceEntry/default/two",
    "ServiceEntry/default/user",
  ]]);
  end();
  registry.apply([], ["ServiceEntry/default/user"]);
  assert.equal(heard.length, 1);
  assert.deepEqual(registry.assignment("ServiceEntry/default/two"), both);
});

Deno.test("objects of other kinds and unknown keys are ignored", async () => {
  const { registry, sink } = await started();
  registry.apply([], ["VirtualService/default/x", "ServiceEntry/default/x"]);
  assert.deepEqual(sink.take(), []);
});
