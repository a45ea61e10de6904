import assert from "node:assert/strict";
import type { istio } from "../../proto/gen/types.ts";
import { tunnelAddresses, type TunnelService, type TunnelWorkload } from "../../lib/simulate/tunnel/addresses.ts";
import { connectByTunnel, identityOf } from "../../lib/simulate/tunnel/connect.ts";
import { type TunnelRoute, tunnelRoute } from "../../lib/simulate/tunnel/outbound.ts";

const HBONE = 1, UNHEALTHY = 1, HOST_NETWORK = 1;
const bytes = (text: string) =>
  text.includes(":")
    ? Uint8Array.from([0x20, 1, 0xd, 0xb8, ...Array.from({ length: 11 }, () => 0), Number(text.slice(-1))])
    : Uint8Array.from(text.split(".").map(Number));
const address = (ip: string, network = "") => ({ network, address: bytes(ip) });

/** A workload in a tunnel, in namespace `shop`, with the account of its name. */
function workload(name: string, ip: string, more: TunnelWorkload = {}): TunnelWorkload {
  return {
    ...{ uid: `c//Pod/shop/${name}`, name, namespace: "shop", service_account: name, tunnel_protocol: HBONE },
    ...{ addresses: ip === "" ? [] : [bytes(ip)], ...more },
  };
}

/** A service of namespace `shop` with port 80, which leads to port 8080. */
function service(host: string, ip: string, more: TunnelService = {}): TunnelService {
  const ports = [{ service_port: 80, target_port: 8080 }];
  return { name: host, namespace: "shop", hostname: host, addresses: ip === "" ? [] : [address(ip)], ports, ...more };
}

/** Membership in services of namespace `shop`, with the workload's own ports. */
const of = (host: string, ports: Readonly<Record<number, number>> = { 80: 8080 }) => ({
  services: {
    [`shop/${host}`]: {
      ports: Object.entries(ports).map(([service_port, target_port]) => ({
        service_port: Number(service_port),
        target_port,
      })),
    },
  },
});

const client = workload("client", "10.0.0.1");
const all = (...sent: (TunnelWorkload | TunnelService)[]) =>
  tunnelAddresses(sent.map((one) => "uid" in one ? { workload: one } : { service: one as TunnelService }));

/** The route in short form. */
function short(route: TunnelRoute) {
  if (route.to !== "hops") return route;
  const { hops, ...rest } = route;
  const texts = hops.map(({ workload: { name }, transport, dialled, authority, share }) =>
    `${name} ${transport} ${dialled.ip}:${dialled.port}${authority ? ` for ${authority}` : ""} ${share}`
  );
  return { ...rest, hops: texts };
}

const route = (ip: string, port: number, ...sent: (TunnelWorkload | TunnelService)[]) =>
  short(tunnelRoute(client, { ip, port }, all(client, ...sent)));

Deno.test("an address of no service and no workload passes unchanged", () => {
  assert.deepEqual(route("192.0.2.1", 443, service("a", "10.96.0.1"), workload("w", "10.0.0.2")), { to: "unchanged" });
});

Deno.test("a workload is dialled by its tunnel, or plainly without a tunnel; a shared address is no workload's", () => {
  assert.deepEqual(route("10.0.0.2", 9090, workload("w", "10.0.0.2")), {
    to: "hops",
    hops: ["w hbone 10.0.0.2:15008 for 10.0.0.2:9090 1"],
  });
  const plain = workload("w", "10.0.0.2", { tunnel_protocol: 0 });
  assert.deepEqual(route("10.0.0.2", 9090, plain), { to: "hops", hops: ["w plain 10.0.0.2:9090 1"] });
  const shared = workload("w", "10.0.0.2", { network_mode: HOST_NETWORK });
  assert.deepEqual(route("10.0.0.2", 9090, shared), { to: "unchanged" });
});

Deno.test("a service leads to the ports of its endpoints; an endpoint's own port comes first", () => {
  assert.deepEqual(
    route(
      "10.96.0.1",
      80,
      service("a", "10.96.0.1"),
      workload("one", "10.0.0.2", of("a", {})),
      workload("two", "10.0.0.3", { ...of("a", { 80: 9999 }), capacity: { value: 3 } }),
    ),
    {
      to: "hops",
      service: "shop/a",
      hops: ["one hbone 10.0.0.2:15008 for 10.0.0.2:8080 0.25", "two hbone 10.0.0.3:15008 for 10.0.0.3:9999 0.75"],
    },
  );
});

Deno.test("a service refuses unknown ports, and ports without a healthy endpoint that has the port and an address", () => {
  const a = service("a", "10.96.0.1");
  const named = service("a", "10.96.0.1", { ports: [{ service_port: 80 }] });
  const refused = (why: string) => ({ to: "refused", service: "shop/a", why });
  assert.deepEqual(route("10.96.0.1", 81, a, workload("w", "10.0.0.2", of("a"))), refused("no such port"));
  assert.deepEqual(route("10.96.0.1", 80, a), refused("no endpoint"));
  const ill = workload("w", "10.0.0.2", { ...of("a"), status: UNHEALTHY });
  assert.deepEqual(route("10.96.0.1", 80, a, ill), refused("no endpoint"));
  assert.deepEqual(route("10.96.0.1", 80, a, workload("w", "", of("a"))), refused("no endpoint"));
  assert.deepEqual(route("10.96.0.1", 80, named, workload("w", "10.0.0.2", of("a", {}))), refused("no endpoint"));
  const weightless = workload("w", "10.0.0.2", { ...of("a"), capacity: { value: 0 } });
  assert.deepEqual(route("10.96.0.1", 80, a, weightless), refused("no endpoint"));
  const any = service("a", "10.96.0.1", { load_balancing: { health_policy: 1 } });
  assert.deepEqual(short(tunnelRoute(client, { ip: "10.96.0.1", port: 80 }, all(any, ill))), {
    to: "hops",
    service: "shop/a",
    hops: ["w hbone 10.0.0.2:15008 for 10.0.0.2:8080 1"],
  });
});

Deno.test("preferences choose the endpoints with the most in common; STRICT asks for everything", () => {
  const near = { node: "n1", locality: { region: "r", zone: "z" } };
  const here = { ...client, ...near };
  const endpoints = [
    workload("far", "10.0.0.2", { ...of("a"), locality: { region: "s", zone: "z" } }),
    workload("region", "10.0.0.3", { ...of("a"), locality: { region: "r", zone: "y" } }),
    workload("zone", "10.0.0.4", { ...of("a"), locality: { region: "r", zone: "z" }, node: "n2" }),
  ];
  const names = (load_balancing: istio.workload.LoadBalancing, ...some: TunnelWorkload[]) => {
    const found = tunnelRoute(
      here,
      { ip: "10.96.0.1", port: 80 },
      all(service("a", "10.96.0.1", { load_balancing }), ...some),
    );
    return found.to === "hops" ? found.hops.map((one) => one.workload.name) : found.to;
  };
  const [REGION, ZONE, NODE] = [1, 2, 4] as const;
  const [STRICT, FAILOVER] = [1, 2] as const;
  assert.deepEqual(names({ mode: FAILOVER, routing_preference: [REGION, ZONE] }, ...endpoints), ["zone"]);
  assert.deepEqual(names({ mode: FAILOVER, routing_preference: [REGION, ZONE] }, ...endpoints.slice(0, 2)), ["region"]);
  assert.deepEqual(names({ mode: FAILOVER, routing_preference: [REGION] }, endpoints[0]!), ["far"]);
  assert.deepEqual(names({ mode: STRICT, routing_preference: [NODE] }, ...endpoints), "refused");
  assert.deepEqual(
    names({ mode: STRICT, routing_preference: [NODE] }, workload("x", "10.0.0.5", { ...of("a"), ...near })),
    ["x"],
  );
  assert.deepEqual(names({ routing_preference: [REGION] }, ...endpoints), ["far", "region", "zone"]);
});

Deno.test("of services that share an address the client's namespace wins, then the first by name", () => {
  const of2 = (namespace: string) => ({ ...service("x", "10.96.0.1"), namespace });
  const name = (namespace: string) => {
    const found = tunnelRoute(
      { ...client, namespace },
      { ip: "10.96.0.1", port: 80 },
      all(of2("b"), of2("a"), of2("c")),
    );
    return "service" in found ? found.service : undefined;
  };
  assert.deepEqual([name("c"), name("z")], ["c/x", "a/x"]);
});

const waypointAt = (ip: string) => ({ waypoint: { address: address(ip), hbone_mtls_port: 15008 } });
const waypointNamed = (host: string) => ({
  waypoint: { hostname: { namespace: "shop", hostname: host }, hbone_mtls_port: 15008 },
});
const gate = service("gate", "10.96.0.9", { ports: [{ service_port: 15008, target_port: 15008 }] });
const gateway = workload("gate-1", "10.0.0.9", { ...of("gate", { 15008: 15008 }), native_tunnel: true });

Deno.test("a service's waypoint gets the connection for the virtual address, whether named by host or by address", () => {
  for (const waypoint of [waypointNamed("gate"), waypointAt("10.96.0.9")]) {
    const found = route(
      "10.96.0.1",
      80,
      service("a", "10.96.0.1", waypoint),
      gate,
      gateway,
      workload("w", "10.0.0.2", of("a")),
    );
    assert.deepEqual(found, {
      to: "hops",
      service: "shop/a",
      waypoint: "hostname" in waypoint.waypoint ? "shop/gate" : "10.96.0.9",
      hops: ["gate-1 hbone 10.0.0.9:15008 for 10.96.0.1:80 1"],
    });
  }
});

Deno.test("a service's waypoint does not take connections to the addresses of its workloads; a workload's waypoint does", () => {
  const a = service("a", "10.96.0.1", waypointNamed("gate"));
  const direct = workload("w", "10.0.0.2", of("a"));
  assert.deepEqual(route("10.0.0.2", 8080, a, gate, gateway, direct), {
    to: "hops",
    hops: ["w hbone 10.0.0.2:15008 for 10.0.0.2:8080 1"],
  });
  const own = { ...direct, ...waypointNamed("gate") };
  assert.deepEqual(route("10.0.0.2", 8080, gate, gateway, own), {
    to: "hops",
    waypoint: "shop/gate",
    hops: ["gate-1 hbone 10.0.0.9:15008 for 10.0.0.2:8080 1"],
  });
  assert.deepEqual(short(tunnelRoute(gateway, { ip: "10.0.0.2", port: 8080 }, all(gate, gateway, own))), {
    to: "hops",
    hops: ["w hbone 10.0.0.2:15008 for 10.0.0.2:8080 1"],
  });
});

Deno.test("a waypoint that is missing, or has no instance, refuses", () => {
  const w = workload("w", "10.0.0.2", of("a"));
  const refused = (why: string, waypoint: string) => ({ to: "refused", service: "shop/a", why, waypoint });
  const a = (waypoint: object) => service("a", "10.96.0.1", waypoint);
  assert.deepEqual(route("10.96.0.1", 80, a(waypointNamed("gone")), w), refused("unknown waypoint", "shop/gone"));
  assert.deepEqual(route("10.96.0.1", 80, a(waypointAt("10.96.0.8")), w), refused("unknown waypoint", "10.96.0.8"));
  assert.deepEqual(
    route("10.96.0.1", 80, a(waypointNamed("gate")), gate, w),
    refused("no waypoint endpoint", "shop/gate"),
  );
  const portless = service("gate", "10.96.0.9");
  const instance = (more: TunnelWorkload) => workload("gate-1", "10.0.0.9", { ...of("gate", {}), ...more });
  assert.deepEqual(
    route("10.96.0.1", 80, a(waypointNamed("gate")), portless, instance({}), w),
    refused("no waypoint endpoint", "shop/gate"),
  );
  const tunnelled = instance({ application_tunnel: { protocol: 1, port: 15088 } });
  assert.deepEqual(route("10.96.0.1", 80, a(waypointNamed("gate")), portless, tunnelled, w), {
    to: "hops",
    service: "shop/a",
    waypoint: "shop/gate",
    hops: ["gate-1 hbone 10.0.0.9:15008 for 10.96.0.1:80 1"],
  });
});

const ANSWERS = { subject_alt_names: ["spiffe://cluster.local/ns/shop/sa/w"] };
const behind = (gateway: istio.workload.GatewayAddress) => ({
  network: "other",
  network_gateway: { hbone_mtls_port: 15008, ...gateway },
});
const entrance = workload("entrance", "192.0.2.9", { uid: "NetworkGateway/other/192.0.2.9/15008", network: "other" });

Deno.test("another network is reached by its gateway, which must be known, and for services alone", () => {
  const a = service("a", "10.96.0.1", ANSWERS);
  const w = workload("w", "", { ...of("a"), ...behind({ address: address("192.0.2.9", "other") }) });
  const refused = (why: string) => ({ to: "refused", service: "shop/a", why });
  assert.deepEqual(route("10.96.0.1", 80, a, w, entrance), {
    to: "hops",
    service: "shop/a",
    hops: ["w gateway 192.0.2.9:15008 for a:80 1"],
  });
  assert.deepEqual(route("10.96.0.1", 80, a, w), refused("unknown gateway"));
  const elsewhere = { ...entrance, network: "third" };
  assert.deepEqual(route("10.96.0.1", 80, a, w, elsewhere), refused("unknown gateway"));
  const lost = workload("w", "10.0.0.2", { ...of("a"), network: "other" });
  assert.deepEqual(route("10.96.0.1", 80, a, lost, entrance), refused("no gateway"));
  assert.deepEqual(route("10.0.0.2", 80, lost), { to: "unchanged" });
});

Deno.test("in another network only the identities that the service names may answer; without a name nobody may", () => {
  const w = workload("w", "", { ...of("a"), ...behind({ address: address("192.0.2.9", "other") }) });
  assert.deepEqual(route("10.96.0.1", 80, service("a", "10.96.0.1"), w, entrance), {
    to: "refused",
    service: "shop/a",
    why: "no identity",
  });
});

Deno.test("a gateway may have a name, of a service or of a workload", () => {
  const a = service("a", "10.96.0.1", ANSWERS);
  const w = workload("w", "", { ...of("a"), ...behind({ hostname: { namespace: "shop", hostname: "east" } }) });
  const named = { ...entrance, addresses: [], hostname: "east" };
  const found = (dialled: string) => ({ to: "hops", service: "shop/a", hops: [`w gateway ${dialled} for a:80 1`] });
  assert.deepEqual(route("10.96.0.1", 80, a, w, named), found("east:15008"));
  const ports = [{ service_port: 15008, target_port: 15008 }];
  const instance = workload("east-1", "10.0.0.7", of("east", { 15008: 15009 }));
  assert.deepEqual(
    route("10.96.0.1", 80, a, w, service("east", "10.96.0.7", { ports }), instance),
    found("10.0.0.7:15009"),
  );
  assert.deepEqual(route("10.96.0.1", 80, a, w), { to: "refused", service: "shop/a", why: "unknown gateway" });
});

Deno.test("a waypoint in another network is reached by the gateway, with the client's service; not for a workload", () => {
  const a = service("a", "10.96.0.1", waypointNamed("gate"));
  const far = workload("gate-1", "", {
    ...of("gate", { 15008: 15008 }),
    ...behind({ address: address("192.0.2.9", "other") }),
  });
  const known = { ...gate, ...ANSWERS };
  const waypoint = { service: "shop/a", waypoint: "shop/gate" };
  assert.deepEqual(route("10.96.0.1", 80, a, known, far, entrance), {
    to: "hops",
    ...waypoint,
    hops: ["gate-1 gateway 192.0.2.9:15008 for a:80 1"],
  });
  assert.deepEqual(route("10.96.0.1", 80, a, known, far), { to: "refused", why: "unknown gateway", ...waypoint });
  assert.deepEqual(route("10.96.0.1", 80, a, gate, far, entrance), { to: "refused", why: "no identity", ...waypoint });
  const own = workload("w", "10.0.0.2", waypointNamed("gate"));
  assert.deepEqual(route("10.0.0.2", 80, known, far, entrance, own), {
    to: "refused",
    why: "no address",
    waypoint: "shop/gate",
  });
});

Deno.test("the client's IP family is kept where the workload has it; a workload with a name is dialled by name", () => {
  const both = workload("w", "", { addresses: [bytes("10.0.0.2"), bytes("2001:db8::2")], ...of("a") });
  const a = service("a", "10.96.0.1", { addresses: [address("10.96.0.1"), address("2001:db8::1")] });
  assert.deepEqual(route("2001:db8::1", 80, a, both), {
    to: "hops",
    service: "shop/a",
    hops: ["w hbone 2001:db8::2:15008 for [2001:db8::2]:8080 1"],
  });
  const named = workload("w", "", { hostname: "db.example", tunnel_protocol: 0, ...of("a") });
  assert.deepEqual(route("10.96.0.1", 80, a, named), {
    to: "hops",
    service: "shop/a",
    hops: ["w plain db.example:8080 1"],
  });
});

const policy = (name: string, scope: 0 | 1 | 2, action: 0 | 1, match: istio.security.Match) => ({
  ...{ name, namespace: "shop", scope, action, groups: [{ rules: [{ matches: [match] }] }] },
});

Deno.test("the tunnel of the endpoint judges the client's identity, address and the endpoint's port", () => {
  const w = workload("w", "10.0.0.2", { ...of("a"), authorization_policies: ["shop/own"] });
  const other = workload("other", "10.0.0.3", of("a"));
  const outside = workload("outside", "10.0.0.4", { ...of("a"), tunnel_protocol: 0 });
  const own = policy("own", 2, 1, {
    principals: [{ exact: "cluster.local/ns/shop/sa/client" }],
    source_ips: [{ address: bytes("10.0.0.1"), length: 32 }],
    destination_ports: [8080],
  });
  const { hops, behind } = connectByTunnel(client, { ip: "10.96.0.1", port: 80 }, {
    addresses: all(client, service("a", "10.96.0.1"), w, other, outside),
    policies: new Map([["shop/own", own]]),
  });
  assert.deepEqual(hops.map(({ hop, verdict }) => [hop.workload.name, verdict?.accepted]), [
    ["w", false],
    ["other", true],
    ["outside", undefined],
  ]);
  assert.deepEqual(behind, []);
});

Deno.test("behind a waypoint the workload's tunnel sees the waypoint: an allow-list of clients refuses everything", () => {
  const allow = policy("clients", 1, 0, { principals: [{ exact: "cluster.local/ns/shop/sa/client" }] });
  const { hops, behind } = connectByTunnel(client, { ip: "10.96.0.1", port: 80 }, {
    addresses: all(service("a", "10.96.0.1", waypointNamed("gate")), gate, gateway, workload("w", "10.0.0.2", of("a"))),
    policies: new Map([["shop/clients", allow]]),
  });
  assert.deepEqual(hops.map(({ hop, verdict }) => [hop.workload.name, verdict]), [["gate-1", undefined]]);
  assert.deepEqual(behind.map(({ hop, verdict }) => [hop.workload.name, verdict?.accepted]), [["w", false]]);
});

Deno.test("a waypoint's layered policies see the client itself and the port of the service", () => {
  const sent = all(
    ...[service("a", "10.96.0.1", waypointNamed("gate")), gate, gateway, workload("w", "10.0.0.2", of("a"))],
  );
  const principals = [{ exact: "cluster.local/ns/shop/sa/client" }];
  const verdictOf = (match: istio.security.Match) =>
    connectByTunnel(client, { ip: "10.96.0.1", port: 80 }, {
      ...{ addresses: sent, policies: new Map() },
      layered: new Map([["shop/foe", policy("foe", 1, 1, match)]]),
    }).hops.map(({ verdict }) => [verdict?.accepted, verdict?.policy]);
  assert.deepEqual(verdictOf({ principals }), [[false, "shop/foe"]]);
  assert.deepEqual(verdictOf({ principals, destination_ports: [80] }), [[false, "shop/foe"]]);
  assert.deepEqual(verdictOf({ principals, destination_ports: [15008, 8080] }), [[true, undefined]]);
  assert.deepEqual(verdictOf({ source_ips: [{ address: bytes("10.0.0.1"), length: 32 }] }), [[false, "shop/foe"]]);
});

Deno.test("what is in another network is judged there, by the policies of its own cluster", () => {
  const refuseAll = policy("none", 0, 1, { not_destination_ports: [0] });
  const network = behind({ address: address("192.0.2.9", "other") });
  const far = workload("far", "", { ...of("a"), ...network });
  const gate1 = workload("gate-1", "", { ...of("gate", { 15008: 15008 }), ...network });
  const policies = new Map([["shop/none", refuseAll]]);
  const to = (waypoint: object, ...more: (TunnelWorkload | TunnelService)[]) =>
    connectByTunnel(client, { ip: "10.96.0.1", port: 80 }, {
      addresses: all(service("a", "10.96.0.1", { ...ANSWERS, ...waypoint }), far, entrance, ...more),
      policies,
    });
  for (const found of [to({}), to(waypointNamed("gate"), { ...gate, ...ANSWERS }, gate1)]) {
    assert.deepEqual(found.hops.map(({ hop, verdict }) => [hop.transport, verdict]), [["gateway", undefined]]);
    assert.deepEqual(found.behind, []);
  }
});

Deno.test("an identity has the workload's trust domain and account, or their defaults", () => {
  assert.equal(identityOf({ namespace: "a" }), "spiffe://cluster.local/ns/a/sa/default");
  assert.equal(identityOf({ trust_domain: "t", namespace: "a", service_account: "b" }), "spiffe://t/ns/a/sa/b");
});
