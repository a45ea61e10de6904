import assert from "node:assert/strict";
import { scrapeMetrics } from "../../lib/discovery/measure.ts";
import { warningOf } from "../../lib/finding/finding.ts";
import { worldFacts } from "../../lib/discovery/pipeline/world_facts.ts";
import { createMetrics } from "../../lib/kernel/metrics/registry.ts";
import { MockRegistry } from "../../lib/registry/mock.ts";
import { Fixture } from "./fixture.ts";

async function scraped(fixture: Fixture): Promise<(name: string) => number | undefined> {
  const metrics = createMetrics("pilot-discovery");
  scrapeMetrics(metrics, fixture.pipeline, { caches: true, patches: true });
  await metrics.scrape();
  const { body } = await metrics.scrape();
  return (name) => {
    const line = body.split("\n").find((l) => l.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length));
  };
}

const http = { name: "http", port: 80, protocol: "HTTP" } as const;
const tcp = { name: "tcp", port: 5432, protocol: "TCP" } as const;

function world(): Fixture {
  const fixture = new Fixture();
  const mock = new MockRegistry("Orch");
  mock.addService({ hostname: "full.example.com", namespace: "x", ports: [http] });
  mock.setEndpoints("x/full.example.com", [
    { address: "10.0.0.1", port: 80, portName: "http" },
    { address: "10.0.0.2", port: 80, portName: "http", health: "unhealthy" },
  ]);
  mock.addService({ hostname: "empty.example.com", namespace: "x", ports: [http, tcp] });
  mock.addService({ hostname: "sick.example.com", namespace: "x", ports: [http] });
  mock.setEndpoints("x/sick.example.com", [{ address: "10.0.0.3", port: 80, portName: "http", health: "unhealthy" }]);
  mock.addService({ hostname: "named.example.com", namespace: "x", ports: [tcp], resolution: "dns" });
  mock.addService({ hostname: "full.example.com", namespace: "y", ports: [http, tcp], resolution: "passthrough" });
  void fixture.pipeline.addRegistry(mock);
  fixture.pipeline.flush();
  return fixture;
}

Deno.test("gauges of services and endpoints are counted at the scrape", async () => {
  const value = await scraped(world());
  assert.equal(value("pilot_services"), 5);
  assert.equal(value("pilot_eds_no_instances"), 3, "two ports of empty, one of sick");
  assert.equal(value("pilot_dns_cluster_without_endpoints"), 1);
  assert.equal(value("pilot_duplicate_proxy_clusters"), 1, "port 80 of full, in two namespaces");
  assert.equal(value("pilot_endpoint_not_ready"), 2);
  assert.equal(value('pilot_inbound_updates{type="svc"}'), 5);
  assert.equal(value('pilot_inbound_updates{type="eds"}'), 2);
  assert.equal(value('pilot_inbound_updates{type="svcdelete"}'), 0);
});

Deno.test("pilot_no_ip counts sidecars at whose addresses no service is", async () => {
  const fixture = world();
  fixture.join({ namespace: "x", address: "10.0.0.1" });
  fixture.join({ namespace: "x", address: "10.0.0.99" });
  fixture.join({ namespace: "x", address: "10.0.0.98", type: "router" });
  assert.equal((await scraped(fixture))("pilot_no_ip"), 1);
});

Deno.test("a listener that two TCP services want is counted once for all proxies", async () => {
  const fixture = new Fixture();
  const mock = new MockRegistry("Orch");
  for (const name of ["a", "b"]) {
    mock.addService({ hostname: `${name}.example.com`, namespace: "x", ports: [tcp] });
    mock.setEndpoints(`x/${name}.example.com`, [{ address: "10.0.0.1", port: 5432, portName: "tcp" }]);
  }
  void fixture.pipeline.addRegistry(mock);
  fixture.pipeline.flush();
  for (const namespace of ["x", "y", "z"]) fixture.join({ namespace, address: `10.1.0.${namespace.charCodeAt(0)}` });
  const value = await scraped(fixture);
  assert.equal(value("pilot_conflict_outbound_listener_tcp_over_current_tcp"), 1);
  assert.equal(value("pilot_conflict_inbound_listener"), 0);
});

Deno.test("a UDP port and a port of an alias do not count as clusters", () => {
  const service = [...world().pipeline.aggregate.services()][0]!;
  const udp = { ...service, ports: [{ name: "dns", port: 53, protocol: "UDP" } as const] };
  const alias = { ...service, externalName: "other.example" };
  assert.deepEqual(worldFacts([udp, alias], () => []), {
    withoutInstances: 0,
    dnsWithoutEndpoints: 0,
    duplicates: 0,
    notReady: 0,
  });
});

Deno.test("the wire makes every measurement that is registered for it", () => {
  const folder = new URL("../../lib/xds/", import.meta.url);
  const texts: string[] = [];
  const walk = (at: URL) => {
    for (const { name, isDirectory } of Deno.readDirSync(at)) {
      if (isDirectory) walk(new URL(`${name}/`, at));
      else texts.push(Deno.readTextFileSync(new URL(name, at)));
    }
  };
  walk(folder);
  const wire = texts.join("\n");
  const bound = Deno.readTextFileSync(new URL("../../lib/discovery/measure.ts", import.meta.url));
  const names = [...bound.matchAll(/^ {4}(pilot_\w+): metrics\./gm)].map(([, name]) => name ?? "");
  const rejects = names.filter((name) => /^pilot_xds_(cds|eds|lds|rds)_reject$/.test(name));
  assert.equal(rejects.length, 4);
  assert.deepEqual(rejects.filter((name) => !wire.includes(`: "${name}",`)), []);
  const others = names.filter((name) => name.startsWith("pilot_") && !rejects.includes(name));
  // Told by warnings, and by the pipeline.
  const elsewhere = /^pilot_(conflict|destrule|vservice)_|^pilot_debounce_time$/;
  assert.deepEqual(others.filter((name) => !elsewhere.test(name) && !wire.includes(`("${name}"`)), []);
});

Deno.test("proxies are counted by at most 50 versions and others, and a version that is gone leaves after one 0", async () => {
  const fixture = new Fixture();
  const metrics = createMetrics("pilot-discovery");
  scrapeMetrics(metrics, fixture.pipeline, { caches: false, patches: false });
  const lines = async () => (await metrics.scrape()).body.split("\n").filter((line) => line.startsWith("pilot_xds{"));
  const join = (i: number) =>
    fixture.join({
      namespace: "x",
      address: "10.0.0.1",
      metadata: { MESH_VERSION: { stringValue: `${i}`.padEnd(1000, "v") } },
    });
  const proxies = Array.from({ length: 200 }, (_, i) => join(i));
  const shown = await lines();
  assert.equal(shown.length, 51);
  assert.ok(shown.includes('pilot_xds{version="other"} 150'));
  assert.ok(shown.every((line) => line.length < 100));
  for (const proxy of proxies) fixture.pipeline.translator.leave(proxy);
  assert.ok((await lines()).every((line) => line.endsWith(" 0")));
  assert.deepEqual(await lines(), []);
});

Deno.test("a provider of a Telemetry that cannot be used counts, and again after it was over", async () => {
  const fixture = new Fixture();
  const metrics = createMetrics("pilot-discovery");
  const message = "spec.tracing[0].providers[0].name";
  const lost = warningOf("unusable-telemetry-provider", ["Telemetry/x/t"], message);
  let findings = [lost, warningOf("no-log-provider", ["Telemetry/x/t"], message)];
  scrapeMetrics(metrics, fixture.pipeline, { caches: false, patches: false }, () => findings);
  const failures = async () =>
    Number(/^provider_lookup_cluster_failures (\d+)$/m.exec((await metrics.scrape()).body)?.[1] ?? 0);
  assert.deepEqual([await failures(), await failures()], [1, 1]);
  findings = [];
  assert.equal(await failures(), 1);
  findings = [lost];
  assert.equal(await failures(), 2);
});

Deno.test("a policy whose provider has no service counts once as long as that lasts, and again when it comes back", async () => {
  const fixture = new Fixture();
  const policy = {
    apiVersion: "security.mesh.io/v1",
    kind: "AuthorizationPolicy",
    metadata: { name: "p", namespace: "x" },
    spec: { action: "CUSTOM", provider: { name: "guard" }, rules: [{}] },
  };
  const service = {
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name: "s", namespace: "x" },
    spec: {
      hosts: ["s.example.com"],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address: "10.0.0.1" }],
    },
  };
  fixture.put(service);
  fixture.pipeline.flush();
  fixture.join({ namespace: "x", address: "10.0.0.1", name: "s" });
  const metrics = createMetrics("pilot-discovery");
  scrapeMetrics(metrics, fixture.pipeline, { caches: false, patches: false });
  const failures = async () => {
    fixture.pipeline.flush();
    const { body } = await metrics.scrape();
    return Number(/^provider_lookup_cluster_failures (\d+)$/m.exec(body)?.[1] ?? 0);
  };
  assert.equal(await failures(), 0);
  fixture.put(policy);
  assert.equal(await failures(), 1);
  assert.equal(await failures(), 1);
  fixture.remove("AuthorizationPolicy/x/p");
  assert.equal(await failures(), 1);
  fixture.put(policy);
  assert.equal(await failures(), 2);
});
