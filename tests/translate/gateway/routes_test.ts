import assert from "node:assert/strict";
import { mergedGateways } from "../../../lib/translate/gateway/merge.ts";
import { gatewayRoutePlans, type PlannedVirtualHost, samePlan } from "../../../lib/translate/gateway/route_plan.ts";
import {
  gatewayRouteConfiguration,
  gatewayRouteConfigurations,
  gatewayVirtualHost,
} from "../../../lib/translate/gateway/routes.ts";
import { type ReaderWorld } from "../mesh_reader.ts";
import { gatewayWorldOf } from "./gateway_world.ts";

const api = "networking.mesh.io/v1";

interface GatewayServer {
  readonly hosts: readonly string[];
  readonly redirect?: boolean;
  readonly port?: number;
}

function gateway(name: string, servers: readonly GatewayServer[]): object {
  return {
    apiVersion: api,
    kind: "Gateway",
    metadata: { name, namespace: "edge" },
    spec: {
      servers: servers.map(({ hosts, redirect, port = 80 }, i) => ({
        port: { number: port, name: `http-${i}`, protocol: "HTTP" },
        hosts,
        ...(redirect && { tls: { httpsRedirect: true } }),
      })),
    },
  };
}

/** A virtual service with a prefix route to a host named after the service. */
function routes(name: string, hosts: readonly string[], prefix = `/${name}`, more: object = {}): object {
  const route = [{ destination: { host: `${name}.svc`, port: { number: 80 } } }];
  return {
    apiVersion: api,
    kind: "VirtualService",
    metadata: { name, namespace: "edge" },
    spec: { hosts, gateways: ["gw"], http: [{ match: [{ uri: { prefix } }], route }], ...more },
  };
}

function load(documents: readonly object[], more: ReaderWorld = {}) {
  return gatewayWorldOf(documents, more).read;
}

function entries(read: ReturnType<typeof load>, name = "http.80"): readonly PlannedVirtualHost[] {
  return gatewayRoutePlans(read, mergedGateways(read)).get(name)?.entries ?? [];
}

/** `domains: prefixes` of every virtual host, sorted by name. */
function reported(documents: readonly object[], more: ReaderWorld = {}): string[] {
  const { virtualHosts } = gatewayRouteConfigurations(load(documents, more)).get("http.80")!;
  return virtualHosts.map(({ message }) => {
    const prefixes = message.routes!.map((route) => route.match!.prefix ?? route.match!.path);
    return `${message.domains} ${message.require_tls ? "tls " : ""}${prefixes.join(" ")}`.trim();
  });
}

Deno.test("hosts with the same routes share one virtual host, named after the most specific", () => {
  const documents = [gateway("gw", [{ hosts: ["*.com"] }]), routes("a", ["a.com", "*.b.com", "abc.com"])];
  assert.deepEqual(reported(documents), ["abc.com,a.com,*.b.com /a"]);
  assert.equal(entries(load(documents))[0]?.name, "abc.com:80");
  assert.deepEqual(reported(documents, { settings: { enableRouteCollapse: false } }), [
    "*.b.com /a",
    "a.com /a",
    "abc.com /a",
  ]);
});

Deno.test("virtual services of one host merge, and the first that takes every request comes last", () => {
  const documents = [
    gateway("gw", [{ hosts: ["*"] }]),
    routes("a", ["a.com"], "/"),
    routes("b", ["a.com"]),
    routes("c", ["a.com"], "/"),
  ];
  assert.deepEqual(reported(documents), ["a.com /b /"]);
  const [entry] = entries(load(documents));
  const { message } = gatewayVirtualHost(load(documents), entry!);
  assert.equal(message.routes?.at(-1)?.route?.cluster, "outbound|80||a.svc");
});

Deno.test("a redirect to HTTPS covers the hosts of its server, with and without virtual services, and no others", () => {
  const servers = [{ hosts: ["a.com", "./b.com", "c.com"], redirect: true }, { hosts: ["d.com"] }];
  const documents = [gateway("gw", servers), routes("a", ["a.com", "d.com"])];
  assert.deepEqual(reported(documents), ["a.com tls /a", "b.com,c.com tls", "d.com /a"]);
});

Deno.test("a virtual service counts only where it has http rules for the gateway and the server's port", () => {
  const match = (more: object) => ({ http: [{ match: [more], redirect: { uri: "/x" } }] });
  const documents = [
    gateway("gw", [{ hosts: ["*"] }]),
    routes("tcp", ["tcp.com"], "", { http: undefined, tcp: [{ route: [{ destination: { host: "x" } }] }] }),
    routes("other", ["other.com"], "", match({ gateways: ["edge/other"] })),
    routes("port", ["port.com"], "", match({ port: 81 })),
    routes("mine", ["mine.com"], "", match({ gateways: ["edge/gw"], port: 80, uri: { exact: "/mine" } })),
  ];
  assert.deepEqual(reported(documents), ["mine.com /mine"]);
});

Deno.test("virtual services that are not exported to the gateway's namespace are not seen", () => {
  const documents = [
    gateway("gw", [{ hosts: ["*"] }]),
    routes("own", ["own.com"], undefined, { exportTo: ["."] }),
    routes("to", ["to.com"], undefined, { exportTo: ["mesh-system"] }),
    routes("all", ["all.com"]),
  ];
  assert.deepEqual(reported(documents), ["all.com /all", "to.com /to"]);
  assert.deepEqual(reported(documents, { properties: { namespace: "edge" } }), ["all.com /all", "own.com /own"]);
});

Deno.test("objects private to the gateway's namespace come before public ones, and age decides among each", () => {
  const documents = [
    gateway("gw", [{ hosts: ["*"] }]),
    routes("a", ["x.com"]),
    routes("b", ["x.com"], undefined, { exportTo: ["mesh-system"] }),
    routes("c", ["x.com"], undefined, { exportTo: ["."] }),
  ];
  assert.deepEqual(reported(documents, { properties: { namespace: "edge" } }), ["x.com /c /a"]);
  assert.deepEqual(reported(documents), ["x.com /b /a"]);
});

Deno.test("where nothing is bound every request gets 404; virtual hosts stay announced to a proxy that takes them one by one", () => {
  const bare = (vhds: boolean) => {
    const read = load([gateway("gw", [{ hosts: ["*"] }])], { properties: { vhds } });
    const { routeConfiguration, virtualHosts } = gatewayRouteConfigurations(read).get("http.80")!;
    assert.deepEqual(virtualHosts, []);
    return routeConfiguration.message;
  };
  assert.deepEqual(bare(false).virtual_hosts, [{ name: "blackhole:80", domains: ["*"] }]);
  assert.equal(bare(false).vhds, undefined);
  assert.equal(bare(true).virtual_hosts, undefined);
  assert.deepEqual(bare(true).vhds?.config_source?.ads, {});
});

Deno.test("a proxy that takes virtual hosts one by one is configured to ask for them", () => {
  const documents = [gateway("gw", [{ hosts: ["*"] }]), routes("a", ["a.com"])];
  const bare = (vhds: boolean) => {
    const read = load(documents, { properties: { vhds } });
    return gatewayRouteConfiguration(read, gatewayRoutePlans(read, mergedGateways(read)).get("http.80")!).message;
  };
  assert.deepEqual(bare(true).vhds?.config_source?.ads, {});
  assert.equal(bare(true).virtual_hosts, undefined);
  assert.equal(bare(false).vhds, undefined);
});

Deno.test("one changed virtual service of a thousand touches its own virtual host only", () => {
  const documents = (changed: string) => [
    gateway("gw", [{ hosts: ["*"] }]),
    ...Array.from({ length: 1000 }, (_, i) => routes(`v${i}`, [`v${i}.com`], i === 7 ? changed : undefined)),
  ];
  const gateways = load(documents("/old"));
  const before = entries(gateways);
  const fresh = load(documents("/new"));
  // Like the mesh, which keeps all objects except the changed object.
  const kept = new Map(gateways.virtualServicesOf("edge/gw").map((vs) => [vs.name, vs]));
  const read = Object.create(fresh, {
    virtualServicesOf: {
      value: (name: string) => fresh.virtualServicesOf(name).map((vs) => vs.name === "v7" ? vs : kept.get(vs.name)),
    },
  });
  const after = entries(read);
  assert.equal(before.length, 1000);
  const touched = after.filter((entry, i) => !samePlan(entry, before[i]!));
  assert.deepEqual(touched.map((entry) => entry.name), ["v7.com:80"]);
});

Deno.test("building one virtual host asks for its destinations alone", () => {
  const documents = [gateway("gw", [{ hosts: ["*"] }]), routes("a", ["a.com"]), routes("b", ["b.com"])];
  const [entry] = entries(load(documents));
  const read = load(documents);
  gatewayVirtualHost(read, entry!);
  const asked = read.asked.filter((question) => /a\.svc|b\.svc|gateway|virtualServices/.test(question));
  assert.deepEqual(asked, ["service/a.svc", "destinationRule/a.svc"]);
});

Deno.test("two servers of different ports on one port of the workload keep their own port's rules apart", () => {
  const match = [{ port: 80, uri: { prefix: "/eighty" } }, { port: 8080, uri: { prefix: "/direct" } }];
  const documents = [
    gateway("gw", [{ hosts: ["a.com"], port: 80 }, { hosts: ["b.com"], port: 8080 }]),
    routes("v", ["a.com", "b.com"], "", { http: [{ match, redirect: { uri: "/x" } }] }),
  ];
  const read = load(documents);
  const service = { labels: {}, hostname: "gw" } as never;
  const targets = [{ service, port: { name: "http", port: 80, protocol: "HTTP" as const }, endpointPort: 8080 }];
  const { virtualHosts } = gatewayRouteConfigurations(read, targets).get("http.8080")!;
  const prefixes = virtualHosts.map(({ message }) => [message.name, message.routes!.map((r) => r.match!.prefix)]);
  assert.deepEqual(prefixes, [["a.com:80", ["/eighty"]], ["b.com:8080", ["/direct"]]]);
});

Deno.test("each virtual host is caused by its gateways and virtual services", () => {
  const documents = [gateway("gw", [{ hosts: ["*"] }]), routes("a", ["a.com"]), routes("b", ["a.com"])];
  const { virtualHosts } = gatewayRouteConfigurations(load(documents)).get("http.80")!;
  assert.deepEqual(virtualHosts[0]?.causes, ["Gateway/edge/gw", "VirtualService/edge/a", "VirtualService/edge/b"]);
});

Deno.test("a virtual service of two gateways with the same port has its routes once there, unless rules name gateways", () => {
  const gateways = [gateway("gw", [{ hosts: ["*"] }]), gateway("other", [{ hosts: ["*"] }])];
  const both = { gateways: ["gw", "other"] };
  assert.deepEqual(reported([...gateways, routes("a", ["a.com"], "/a", both)]), ["a.com /a"]);
  const route = [{ destination: { host: "a.svc", port: { number: 80 } } }];
  const http = ["gw", "other"].map((name) => ({ match: [{ uri: { prefix: `/${name}` }, gateways: [name] }], route }));
  assert.deepEqual(reported([...gateways, routes("a", ["a.com"], "/a", { ...both, http })]), ["a.com /gw /other"]);
});
