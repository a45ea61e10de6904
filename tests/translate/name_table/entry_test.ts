/** The names of a host in an agent's DNS table: names, addresses, and the queries for them. */
import assert from "node:assert/strict";
import type { Endpoint, Service } from "../../../lib/registry/types.ts";
import { nameEntries } from "../../../lib/translate/name_table/entry.ts";
import { meshReader, type ReaderWorld } from "../mesh_reader.ts";
import { endpoint, service } from "../make.ts";

const HOST = "db.default.svc.cluster.local";

/** Names as `host=ips`. */
function names(given: Partial<Service>, world: ReaderWorld = {}, endpoints: readonly Endpoint[] = [], host = HOST) {
  const read = meshReader({ ...world, services: [service(host, given)], endpoints: { [host]: endpoints } });
  const entries = nameEntries(read, host);
  return { entries, asked: read.asked, short: entries.map(({ host, ips }) => `${host}=${ips.join(",")}`) };
}

const HEADLESS = { headless: true, addresses: [], resolution: "passthrough" } as const;
const pod = (address: string, hostname: string, given: Partial<Endpoint> = {}) =>
  endpoint(address, { hostname, subdomain: "db", ...given });

Deno.test("a service of the orchestrator carries what agents make short names from, an entry does not", () => {
  assert.deepEqual(names({ name: "db", namespace: "default", addresses: ["10.0.0.1"] }).entries, [
    { host: HOST, ips: ["10.0.0.1"], registry: "Kubernetes", shortname: "db", namespace: "default" },
  ]);
  assert.deepEqual(names({ provider: "External", addresses: ["10.0.0.1"] }).entries, [
    { host: HOST, ips: ["10.0.0.1"], registry: "External" },
  ]);
  const shared = "db.default.svc.clusterset.local";
  assert.deepEqual(names({ addresses: ["10.0.0.1"] }, {}, [], shared).entries, [
    { host: shared, ips: ["10.0.0.1"], registry: "Kubernetes" },
  ]);
});

Deno.test("ranges, aliases and hosts without an address are left to the name servers", () => {
  assert.deepEqual(names({ addresses: ["10.0.0.0/8"] }).short, []);
  assert.deepEqual(names({ addresses: ["10.0.0.0/8", "10.0.0.1"] }).short, [`${HOST}=10.0.0.1`]);
  assert.deepEqual(names({ ...HEADLESS, externalName: "db.example.com" }, {}, [endpoint("10.1.0.1")]).short, []);
  assert.deepEqual(names({ addresses: [], resolution: "dns" }, {}, [endpoint("10.1.0.1")]).short, []);
  assert.deepEqual(names({ addresses: [], resolution: "static" }, {}, [endpoint("10.1.0.1")]).short, []);
  assert.deepEqual(nameEntries(meshReader(), "nobody.test"), []);
});

Deno.test("allocated addresses are for proxies that capture DNS and ask for them", () => {
  const given = {
    provider: "External",
    addresses: [],
    autoAllocatedAddresses: ["240.240.0.1"],
    resolution: "dns",
  } as const;
  for (const [dnsCapture, dnsAutoAllocate, ips] of [[true, true, 1], [true, false, 0], [false, true, 0]] as const) {
    assert.equal(
      names(given, { properties: { dnsCapture, dnsAutoAllocate }, settings: { assignsAddresses: false } }).short.length,
      ips,
    );
  }
});

Deno.test("endpoints are read of headless services alone", () => {
  const reads = ({ asked }: { asked: readonly string[] }) =>
    asked.filter((question) => question.startsWith("endpoints"));
  assert.deepEqual(reads(names({ addresses: ["10.0.0.1"] })), []);
  assert.deepEqual(reads(names({ addresses: [], resolution: "dns" })), []);
  assert.deepEqual(reads(names(HEADLESS)), [`endpoints/${HOST}`]);
});

Deno.test("a headless service is its ready endpoints of the first port, and each pod with a name", () => {
  const endpoints = [
    pod("10.1.0.1", "db-0"),
    pod("10.1.0.2", "db-1", { health: "unhealthy" }),
    pod("10.1.0.3", "db-2", { health: "draining" }),
    pod("10.1.0.4", "db-3", { portName: "other" }),
    endpoint("10.1.0.5"),
    endpoint("db.example.com"),
    endpoint("unix:///run/db"),
  ];
  assert.deepEqual(names(HEADLESS, {}, endpoints).short, [
    "db-0.db.default.svc.cluster.local=10.1.0.1",
    `${HOST}=10.1.0.1,10.1.0.5`,
  ]);
});

Deno.test("endpoints of other networks are left out, and endpoints of other clusters with ENABLE_MULTICLUSTER_HEADLESS=false", () => {
  const endpoints = [
    pod("10.1.0.1", "db-0", { clusterId: "other" }),
    pod("10.1.0.2", "db-0", { clusterId: "own" }),
    pod("10.1.0.3", "db-1", { clusterId: "other" }),
    pod("10.1.0.4", "db-2", { clusterId: "own", network: "far" }),
  ];
  const properties = { clusterId: "own", network: "near" };
  const pods = ["db-0.db.default.svc.cluster.local=10.1.0.2", "db-1.db.default.svc.cluster.local=10.1.0.3"];
  assert.deepEqual(names(HEADLESS, { properties }, endpoints).short, [...pods, `${HOST}=10.1.0.1,10.1.0.2,10.1.0.3`]);
  const alone = { properties, settings: { multiclusterHeadless: false } };
  assert.deepEqual(names(HEADLESS, alone, endpoints).short, [...pods, `${HOST}=10.1.0.2`]);
});

Deno.test("a proxy gets the addresses of its families, of pods both with dual stack", () => {
  const addresses = ["10.0.0.1", "2001:db8::1"];
  const both = { ipv4: true, ipv6: true };
  assert.deepEqual(names({ addresses }, { properties: { ipv4: false, ipv6: true } }).short, [`${HOST}=2001:db8::1`]);
  assert.deepEqual(names({ addresses }, { properties: both }).short, [`${HOST}=10.0.0.1`]);
  const dual = { properties: both, settings: { dualStack: true } };
  assert.deepEqual(names({ addresses }, dual).short, [`${HOST}=10.0.0.1,2001:db8::1`]);
  const endpoints = [endpoint("10.1.0.1", { additionalAddresses: ["2001:db8::9"] })];
  assert.deepEqual(names(HEADLESS, { properties: both }, endpoints).short, [`${HOST}=10.1.0.1`]);
  assert.deepEqual(names(HEADLESS, dual, endpoints).short, [`${HOST}=10.1.0.1,2001:db8::9`]);
});
