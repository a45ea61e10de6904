/** What a sidecar that asks can cost and lose: long and many names, wildcards, and hosts that are no names. */
import assert from "node:assert/strict";
import { MAX_ASKED, OnDemandResources } from "../../lib/discovery/proxies/on_demand_resources.ts";
import { InternedNames } from "../../lib/resource/names.ts";
import type { ProxyState } from "../../lib/translate/machine/per_proxy/proxy_state.ts";
import { resourcesFrom } from "../../lib/simulate/decoded.ts";
import { CLUSTER } from "../../lib/xds/protocol/types.ts";
import { Fixture, service } from "./fixture.ts";

const names = new InternedNames();

function wildcard(host: string): object {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name: "wild", namespace: "x" },
    spec: { hosts: [host], ports: [{ number: 80, name: "http", protocol: "HTTP" }], resolution: "NONE" },
  };
}

function asking(...trees: readonly object[]): { readonly state: ProxyState; readonly asked: OnDemandResources } {
  const fixture = new Fixture();
  fixture.put(service(1), service(2), ...trees);
  fixture.pipeline.flush();
  const metadata = { ON_DEMAND: { stringValue: "true" }, PROXY_CONFIG: { stringValue: "{}" } };
  const state = fixture.join({ namespace: "x", address: "10.9.0.1", metadata });
  assert.ok(state.askedHosts("80")?.canAsk);
  return { state, asked: new OnDemandResources(state) };
}

const LONG = "a".repeat(60_000);
const characters = (asked: OnDemandResources) =>
  [...asked.hosts.get("80") ?? []].reduce((sum, { length }) => sum + length, 0);

Deno.test("long names of hosts take no more memory than usual names: the sidecar gets everything, and says why", () => {
  const { asked } = asking();
  asked.wantHosts(names.of([`80/${LONG}`]));
  assert.deepEqual([...asked.whole], [], "one long name is answered like others");
  for (let i = 0; i < 300; i++) asked.wantHosts(names.of([`80/${LONG}${i}`]));
  assert.ok(characters(asked) <= 4 * MAX_ASKED * 256, `${characters(asked)} characters are kept`);
  assert.deepEqual([...asked.whole], [
    ["80", "the names of the hosts that the workload has called have more than 131072 characters"],
  ]);
  assert.ok(asked.virtualHosts("80").some((set) => set.has("80/s2.example.com:80")), "the whole route configuration");
});

Deno.test("a name that is asked again counts once", () => {
  const { asked } = asking();
  for (let i = 0; i < 20; i++) asked.wantHosts(names.of([`80/${LONG}`]));
  assert.deepEqual([...asked.whole], []);
  assert.equal(characters(asked), LONG.length);
});

Deno.test("a name of many slashes costs no more looks than another name", () => {
  const { state } = asking();
  let looks = 0;
  const asked = new OnDemandResources({
    askedHosts: (route: string) => (looks++, state.askedHosts(route === "unix:///run/a.sock" ? "80" : route)),
    hostClusters: state.hostClusters,
    resourceSets: (type: string) => state.resourceSets(type),
  });
  for (const name of ["/".repeat(60_000), `a${"/a".repeat(30_000)}`, `unix://${"/a".repeat(30_000)}`]) {
    looks = 0;
    asked.wantHosts(names.of([name]));
    assert.ok(looks <= 128, `${looks} looks for ${name.slice(0, 10)}`);
  }
  asked.wantHosts(names.of([`80/a${"/b".repeat(1000)}`]));
  assert.equal(asked.hosts.get("80")?.size, 1, "a host with slashes gets an answer");
  asked.wantHosts(names.of(["unix:///run/a.sock/b.example"]));
  assert.deepEqual([...asked.hosts.get("unix:///run/a.sock") ?? []], ["b.example"]);
});

Deno.test("names that no cluster can have are not kept in place of others", () => {
  const { state, asked } = asking();
  asked.wantClusters(names.of(Array.from({ length: 10_000 }, (_, i) => `outbound|80||${"a".repeat(600)}${i}`)));
  asked.wantClusters(names.of(["outbound|80||s1.example.com"]));
  const sets = asked.clusters(state.resourceSets(CLUSTER)!);
  assert.ok(sets.some((set) => set.has("outbound|80||s1.example.com")));
});

Deno.test("hosts of one wildcard share one answer, with the more specific virtual hosts", () => {
  const { state, asked } = asking(wildcard("*.example.com"));
  const hosts = state.askedHosts("80")!;
  const answer = hosts.of("a.example.com");
  assert.deepEqual(answer.map(({ name }) => name).sort(), [
    "80/*.example.com:80",
    "80/s1.example.com:80",
    "80/s2.example.com:80",
  ]);
  assert.equal(hosts.of("b.example.com"), answer);
  assert.deepEqual(hosts.of("b.example.com", true).map(({ name }) => name), ["80/*.example.com:80"]);
  asked.wantHosts(names.of(["80/a.example.com", "80/b.example.com"]));
  const [set] = asked.virtualHosts("80");
  const all = [...set!].map(({ name, aliases }) => [name, aliases.length]).sort();
  assert.deepEqual(all.filter(([name]) => /example\.com/.test(`${name}`)), [
    ["80/*.example.com:80", 2],
    ["80/s1.example.com:80", 0],
    ["80/s2.example.com:80", 0],
  ]);
});

/** The domains that a sidecar has after questions, sorted. */
function domains(asked: OnDemandResources): string[] {
  const all = resourcesFrom(asked.virtualHosts("80").flatMap((set) => [...set])).virtualHosts.values();
  return [...all].flatMap((host) => host.domains ?? []).sort();
}

Deno.test("a host that is a wildcard takes no other hosts over: the sidecar goes on to ask, and services are not passed by", () => {
  for (const host of ["*", "*:80", "*.example.com", "*.com:80", "s*", "s1.*", "*a*"]) {
    const { asked } = asking();
    asked.wantHosts(names.of([`80/${host}`]));
    assert.deepEqual(domains(asked), ["not-asked-yet.invalid"], host);
    assert.ok(asked.virtualHosts("80").some((set) => set.withAlias(`80/${host}`).length > 0), `an answer to ${host}`);
    asked.wantHosts(names.of(["80/s1.example.com"]));
    assert.ok(domains(asked).includes("s1.example.com"), host);
  }
  const { asked } = asking();
  asked.wantHosts(names.of(["80/a*b", "80/unknown.example"]));
  assert.deepEqual(domains(asked), ["a*b", "not-asked-yet.invalid", "unknown.example"]);
});

Deno.test("a service may have the name of the virtual host that sidecars have before they ask", () => {
  const { asked } = asking(wildcard("not-asked-yet.invalid"));
  for (const host of ["not-asked-yet.invalid", "*"]) {
    asked.wantHosts(names.of([`80/${host}`]));
    const all = domains(asked);
    assert.deepEqual(all, [...new Set(all)], host);
    assert.ok(asked.virtualHosts("80").some((set) => set.withAlias(`80/${host}`).length > 0), `an answer to ${host}`);
  }
});
