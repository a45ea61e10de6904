import assert from "node:assert/strict";
import type { InboundTarget } from "../../../lib/translate/inbound/target.ts";
import { inboundRouteConfiguration, sidecarRouteConfiguration } from "../../../lib/translate/route/configuration.ts";
import { outboundVirtualHosts } from "../../../lib/translate/route/sidecar.ts";
import { meshReader, type ReaderWorld } from "../mesh_reader.ts";
import { ports, service, virtualService } from "./objects.ts";

/** `configuration: domains -> first cluster` of every virtual host. */
function places(host: string, world: ReaderWorld): string[] {
  return outboundVirtualHosts(meshReader(world), host).map(({ routeConfiguration, virtualHost }) =>
    `${routeConfiguration}: ${virtualHost.domains?.join(" ")} -> ${virtualHost.routes?.[0]?.route?.cluster}`
  );
}

const to = (host: string) => [{ route: [{ destination: { host } }] }];

Deno.test("each HTTP port has a virtual host, TCP, TLS and UDP ports have none", () => {
  const all = ports([80, "HTTP"], [81, "GRPC"], [82, "TCP"], [83, "HTTPS"], [84, "UDP"], [85, "HTTP2"], [86, "MySQL"]);
  const found = places("a.com", { services: [service({ hostname: "a.com", ports: all })] });
  assert.deepEqual(found.map((f) => f.split(":")[0]), ["80", "81", "85"]);
});

Deno.test("a sniffed port has one in its own route configuration as well, for any Host header", () => {
  const services = [service({ hostname: "a.com", ports: ports([7000, "Unsupported"]) })];
  assert.deepEqual(places("a.com", { services }), [
    "7000: a.com a.com. -> outbound|7000||a.com",
    "a.com:7000: * -> outbound|7000||a.com",
  ]);
});

Deno.test("by address, an HTTP port of an orchestrator's service has a second one for any Host header, an entry's port does not", () => {
  const one = { hostname: "a.com", ports: ports([80, "HTTP"]), addresses: ["10.0.0.9"] };
  const settings = { httpByAddress: true };
  const configurations = (given: { readonly provider: "Orch" | "External"; readonly headless?: true }) =>
    places("a.com", { services: [service({ ...one, ...given })], settings }).map((place) => place.split(": ")[0]);
  assert.deepEqual(configurations({ provider: "Orch" }), ["80", "a.com:80"]);
  assert.deepEqual(configurations({ provider: "Orch", headless: true }), ["80"]);
  assert.deepEqual(configurations({ provider: "External" }), ["80"]);
});

Deno.test("an alias has the routes of its target, under its own names", () => {
  const alias = service({ hostname: "alias.com", externalName: "real.com", ports: [], addresses: ["10.0.0.9"] });
  const real = service({ hostname: "real.com", ports: ports([8080, "HTTP"]) });
  assert.deepEqual(places("alias.com", { services: [alias, real] }), [
    "8080: alias.com alias.com. -> outbound|8080||real.com",
  ]);
  assert.deepEqual(places("alias.com", { services: [alias] }), []);
  const virtualServices = { "real.com": virtualService(to("x.com"), { hosts: ["real.com"] }) };
  assert.deepEqual(places("alias.com", { services: [alias, real], virtualServices }), [
    "8080: alias.com alias.com. -> outbound|8080||x.com",
  ]);
  const built = outboundVirtualHosts(meshReader({ services: [alias, real] }), "alias.com");
  assert.deepEqual(built[0]?.causes, ["ServiceEntry/default/alias.com", "ServiceEntry/default/real.com"]);
});

Deno.test("a virtual service that has nothing to say for a port leaves the default route", () => {
  const services = [service({ hostname: "a.com", ports: ports([80, "HTTP"], [81, "HTTP"]) })];
  const rules = [{ match: [{ port: 80 }], route: [{ destination: { host: "x.com" } }] }];
  const virtualServices = { "a.com": virtualService(rules, { hosts: ["a.com"] }) };
  assert.deepEqual(places("a.com", { services, virtualServices }), [
    "80: a.com a.com. -> outbound|80||x.com",
    "81: a.com a.com. -> outbound|81||a.com",
  ]);
});

Deno.test("a host that only a virtual service names is served on port 80 and the HTTP ports of services beside it", () => {
  const services = [service({ hostname: "a.com", ports: ports([9080, "HTTP"], [9443, "TLS"]) })];
  const vs = virtualService(to("a.com"), { hosts: ["plain.com", "a.com", "*.wild.com"] });
  const virtualServices = { "plain.com": vs, "a.com": vs, "*.wild.com": vs };
  const world = { services, virtualServices };
  assert.deepEqual(places("plain.com", world), [
    "80: plain.com -> outbound|80||a.com",
    "9080: plain.com -> outbound|9080||a.com",
  ]);
  assert.deepEqual(places("*.wild.com", world), [
    "80: *.wild.com -> outbound|80||a.com",
    "9080: *.wild.com -> outbound|9080||a.com",
  ]);
  assert.deepEqual(places("a.com", world), [
    "9080: a.com a.com. -> outbound|9080||a.com",
    "80: a.com -> outbound|80||a.com",
  ]);
});

Deno.test("a host that no visible virtual service names has no virtual host, nor has *", () => {
  assert.deepEqual(places("gone.com", {}), []);
  const vs = virtualService(to("a.com"), { hosts: ["*.com"] });
  assert.deepEqual(places("other.com", { virtualServices: { "other.com": vs } }), []);
  const all = virtualService(to("a.com"), { hosts: ["*"] });
  assert.deepEqual(places("*", { virtualServices: { "*": all } }), []);
});

Deno.test("an egress listener with a port of its own takes that port from the catch-all one", () => {
  const services = [service({ hostname: "a.com", ports: ports([80, "HTTP"], [81, "HTTP"]) })];
  const own = { index: 0, port: { number: 80, protocol: "HTTP", name: "" }, captureMode: "DEFAULT" as const };
  const rest = { index: 1, captureMode: "DEFAULT" as const };
  const found = (egress: ReaderWorld["egress"]) =>
    places("a.com", { services, egress: egress! }).map((f) => f.split(":")[0]);
  assert.deepEqual(found([own, rest]), ["80", "81"]);
  assert.deepEqual(found([{ ...own, hosts: ["b.com"] }, rest]), ["81"]);
  assert.deepEqual(found([{ ...own, port: { number: 80, protocol: "TCP", name: "" } }, rest]), ["81"]);
  assert.deepEqual(found([own]), ["80"]);
  assert.deepEqual(found([{ ...rest, hosts: [] }]), []);
});

Deno.test("where one listener serves all ports, the port in the Host header selects one", () => {
  const services = [service({ hostname: "a.com", ports: ports([80, "HTTP"], [81, "HTTP"]) })];
  const settings = { enableAbsoluteFqdnVhostDomain: false };
  const world = { services, settings, properties: { httpProxyPort: 15007 } };
  assert.deepEqual(places("a.com", world).filter((f) => f.startsWith("http_proxy")), [
    "http_proxy: a.com a.com:80 -> outbound|80||a.com",
    "http_proxy: a.com:81 -> outbound|81||a.com",
  ]);
  const read = meshReader(world);
  assert.equal(sidecarRouteConfiguration(read, "http_proxy").message.ignore_port_in_host_matching, undefined);
  assert.equal(sidecarRouteConfiguration(read, "80").message.ignore_port_in_host_matching, true);
});

Deno.test("the namespace and the labels of a proxy are not asked for without need", () => {
  const read = meshReader({ services: [service({ hostname: "a.default.svc.cluster.local" })] });
  outboundVirtualHosts(read, "a.default.svc.cluster.local");
  assert.deepEqual(read.asked.filter((q) => q.startsWith("property/")), []);
});

Deno.test("the attempt count header can be turned off", () => {
  const services = [service({ hostname: "a.com" })];
  const count = (world: ReaderWorld) =>
    outboundVirtualHosts(meshReader({ services, ...world }), "a.com")[0]?.virtualHost.include_request_attempt_count;
  assert.equal(count({}), true);
  const proxyHeaders = { forwardedClientCert: "UNDEFINED" as const, attemptCount: { disabled: true } };
  assert.equal(count({ proxyHeaders }), undefined);
});

Deno.test("a session label keeps the sessions of a service", () => {
  const labels = { "mesh.io/persistent-session-header": "x-session" };
  const world = {
    services: [service({ hostname: "a.com", labels })],
    settings: { enablePersistentSessionFilter: true },
  };
  const [built] = outboundVirtualHosts(meshReader(world), "a.com");
  assert.deepEqual(Object.keys(built!.virtualHost.typed_per_filter_config!), ["envoy.filters.http.stateful_session"]);
});

Deno.test("requests to hosts that nothing names are passed on, sent to the egress proxy, or refused", () => {
  const shell = (outboundTrafficPolicy: NonNullable<ReaderWorld["outboundTrafficPolicy"]>) =>
    sidecarRouteConfiguration(meshReader({ outboundTrafficPolicy }), "80").message.virtual_hosts?.at(-1);
  const open = shell({ mode: "ALLOW_ANY" });
  assert.deepEqual([open?.name, open?.domains, open?.routes?.[0]?.route?.cluster], [
    "allow_any",
    ["*"],
    "PassthroughCluster",
  ]);
  const egressProxy = { host: "egress.mesh-system.svc.cluster.local", subset: "v1", port: { number: 443 } };
  assert.equal(
    shell({ mode: "ALLOW_ANY", egressProxy })?.routes?.[0]?.route?.cluster,
    "outbound|443|v1|egress.mesh-system.svc.cluster.local",
  );
  const closed = shell({ mode: "REGISTRY_ONLY" });
  assert.deepEqual([closed?.name, closed?.routes?.[0]?.direct_response?.status], ["block_all", 502]);
});

Deno.test("the route configuration of a sniffed port has no catch-all: its one virtual host takes everything", () => {
  assert.deepEqual(sidecarRouteConfiguration(meshReader(), "a.com:7000").message.virtual_hosts, []);
});

Deno.test("virtual hosts come by VHDS to a proxy that takes them so, with the catch-all still inside", () => {
  const { message } = sidecarRouteConfiguration(meshReader({ properties: { vhds: true } }), "80");
  assert.deepEqual(message.vhds, { config_source: { ads: {}, resource_api_version: 2 } });
  assert.deepEqual(message.virtual_hosts?.map((v) => v.name), ["allow_any"]);
  assert.equal(sidecarRouteConfiguration(meshReader(), "80").message.vhds, undefined);
});

Deno.test("virtual hosts inside a route configuration are sorted by name, the catch-all last", () => {
  const hosts = ["b", "a"].map((name) => ({ name, domains: [name] }));
  const { message } = sidecarRouteConfiguration(meshReader(), "80", hosts);
  assert.deepEqual(message.virtual_hosts?.map((v) => v.name), ["a", "b", "allow_any"]);
});

Deno.test("an inbound route configuration sends all to the workload, and retries all but gRPC", () => {
  const target = (protocol: "HTTP" | "GRPC"): InboundTarget => ({
    port: 8080,
    servicePort: { name: "p", port: 80, protocol },
    service: service({ hostname: "a.com" }),
    captureMode: "DEFAULT",
    fromSidecarIngress: false,
  });
  const built = inboundRouteConfiguration(target("HTTP"), "inbound|8080||");
  assert.equal(built.name, "inbound|8080||");
  const [virtualHost] = built.virtual_hosts!;
  assert.deepEqual([virtualHost?.name, virtualHost?.domains], ["inbound|http|80", ["*"]]);
  const [route] = virtualHost!.routes!;
  assert.equal(route?.decorator?.operation, "a.com:80/*");
  assert.equal(route?.route?.retry_policy?.retry_on, "reset-before-request");
  assert.deepEqual(route?.route?.timeout, { seconds: 0 });
  const grpc = inboundRouteConfiguration(target("GRPC"), "inbound|8080||").virtual_hosts?.[0]?.routes?.[0];
  assert.equal(grpc?.route?.retry_policy, undefined);
});
