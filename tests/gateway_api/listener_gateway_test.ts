import assert from "node:assert/strict";
import { listenerGateway } from "../../lib/gateway_api/derive/listener_gateway.ts";
import { authority, ends, GATEWAY, gatewayOf, type GivenListener, listener, PASSES } from "./derived_world.ts";

const ROOTS = authority("ConfigMap", "pki", "roots");

/** The parts of a derived Gateway that its TLS decides. */
function tlsOf(given: Partial<GivenListener>) {
  const { spec } = gatewayOf({ protocol: "HTTPS", ...given });
  const { minProtocolVersion: _, maxProtocolVersion: __, ...tls } = spec.servers[0]?.tls ?? { mode: "none" };
  return { tls, server: spec.servers[0]?.internal, secrets: spec.internal?.secrets };
}

Deno.test("a listener becomes a Gateway for workloads of its namespace, with the port, protocol and host of the listener", () => {
  const { of, ...derived } = gatewayOf({ protocol: "HTTP", hostname: "a.example" });
  assert.equal(of, GATEWAY.gateway);
  assert.deepEqual(derived, {
    kind: "Gateway",
    meta: { name: "gw-of-test", namespace: "edge" },
    spec: {
      servers: [{ port: { number: 8080, protocol: "HTTP", name: "default" }, hosts: ["./a.example"], internal: {} }],
      selector: { app: "gw" },
      internal: { secrets: [] },
    },
  });
});

Deno.test("nothing is derived without workloads, or for a protocol between proxies", () => {
  assert.equal(listenerGateway({ ...GATEWAY, workloads: undefined }, listener({ protocol: "HTTP" })), undefined);
  assert.equal(listenerGateway(GATEWAY, listener({ protocol: "HBONE" })), undefined);
  assert.equal(listenerGateway({ ...GATEWAY, role: "waypoint" }, listener({ protocol: "HTTP" })), undefined);
});

Deno.test("VirtualServices of the Gateway's namespace may name the Gateway; of all namespaces, if all routes may attach", () => {
  const hosts = (given: Partial<GivenListener>) => gatewayOf({ protocol: "TCP", ...given }).spec.servers[0]?.hosts;
  assert.deepEqual(hosts({}), ["./*"]);
  assert.deepEqual(hosts({ from: "Same", set: "shop" }), ["./*", "shop/*"], "a listener of a ListenerSet");
  assert.deepEqual(hosts({ from: "Selector" }), ["./*"]);
  assert.deepEqual(hosts({ from: "All" }), ["*/*"]);
});

Deno.test("a derived Gateway may have any name and host that the Gateway API allows", () => {
  gatewayOf({ protocol: "HTTP", name: `${"long-".repeat(20)}name.with.dots`, hostname: "localhost" });
});

Deno.test("of the workloads made for a Gateway only those of the right account may read its Secrets", () => {
  const gateway = { ...GATEWAY.gateway, origin: { from: "api", source: "c" } } as typeof GATEWAY.gateway;
  const named = { ...gateway, meta: { ...gateway.meta, annotations: { "gateway.mesh.io/service-account": "own" } } };
  const manual = { by: "manual", hosts: ["gw.edge.svc"], ignored: [] } as const;
  const account = (more: Partial<typeof GATEWAY>) => gatewayOf({ protocol: "HTTP" }, more).spec.internal?.account;
  assert.equal(account({ gateway }), "gw-mesh");
  assert.equal(account({ gateway: named }), "own");
  assert.equal(account({ gateway, addressing: manual }), undefined, "the user's own workloads");
  assert.equal(account({}), undefined, "a Gateway from a file");
});

Deno.test("TLS of a listener: certificates of Secrets, one or several", () => {
  assert.deepEqual(tlsOf({ tls: ends() }), {
    tls: { mode: "SIMPLE", credentialName: "kubernetes-gateway://pki/web" },
    server: {},
    secrets: ["pki/web"],
  });
  const certificates = [{ namespace: "pki", name: "rsa" }, { namespace: "edge", name: "ec" }];
  assert.deepEqual(tlsOf({ tls: ends({ certificates }) }), {
    tls: { mode: "SIMPLE", credentialNames: ["kubernetes-gateway://pki/rsa", "kubernetes-gateway://edge/ec"] },
    server: {},
    secrets: ["edge/ec", "pki/rsa"],
  });
  const clientCertificate = { namespace: "edge", name: "client" };
  const { internal } = gatewayOf({ protocol: "HTTP" }, { clientCertificate }).spec;
  assert.deepEqual(internal, { secrets: ["edge/client"], clientCredential: "kubernetes-gateway://edge/client" });
  const cipherSuites = ["ECDHE-RSA-AES128-GCM-SHA256"];
  assert.deepEqual(
    gatewayOf({ protocol: "TLS", tls: ends({ cipherSuites }) }).spec.servers[0]?.tls?.cipherSuites,
    cipherSuites,
  );
});

Deno.test("certificates of clients: required, optional or unverified; authorities in a ConfigMap, a Secret or beside the certificate", () => {
  const web = { credentialName: "kubernetes-gateway://pki/web" };
  assert.deepEqual(tlsOf({ tls: ends({ clients: "required", authorities: [ROOTS] }) }), {
    tls: { mode: "MUTUAL", ...web },
    server: { clientAuthorities: "configmap://pki/roots" },
    secrets: ["pki/web"],
  });
  const authorities = [authority("Secret", "pki", "ca"), ROOTS];
  assert.deepEqual(tlsOf({ tls: ends({ clients: "unverified", authorities }) }), {
    tls: { mode: "OPTIONAL_MUTUAL", ...web },
    server: { clientAuthorities: "kubernetes-gateway://pki/ca,configmap://pki/roots", acceptsUnverifiedClients: true },
    secrets: ["pki/ca", "pki/web"],
  });
  assert.deepEqual(tlsOf({ tls: ends({ clients: "optional" }) }), {
    tls: { mode: "OPTIONAL_MUTUAL", ...web },
    server: {},
    secrets: ["pki/web"],
  }, "no grant is for a Secret beside a Secret of another namespace");
  const certificates = [{ namespace: "edge", name: "web" }];
  assert.deepEqual(tlsOf({ tls: ends({ clients: "required", certificates }) }).secrets, [
    "edge/web",
    "edge/web-cacert",
  ]);
});

Deno.test("the proxy's own certificate, with and without certificates of clients", () => {
  const own = { certificateFrom: "mesh", certificates: [] } as const;
  assert.deepEqual(tlsOf({ tls: ends({ ...own, clients: "required" }) }), {
    tls: { mode: "MESH_MUTUAL" },
    server: {},
    secrets: [],
  });
  assert.deepEqual(tlsOf({ tls: ends(own) }).tls, { mode: "SIMPLE", credentialName: "builtin://" });
});

Deno.test("TLS that passes through, to a route by server name or to a cluster of another network", () => {
  assert.deepEqual(tlsOf({ protocol: "TLS", tls: PASSES }).tls, { mode: "PASSTHROUGH" });
  assert.deepEqual(tlsOf({ protocol: "TLS", tls: PASSES, autoPassthrough: true }).tls, { mode: "AUTO_PASSTHROUGH" });
  assert.deepEqual(tlsOf({ protocol: "TLS", tls: ends() }).server, { routesByServerName: true });
});
