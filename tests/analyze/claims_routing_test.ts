/** Findings about routes, gateways and services agree with the resources and the behaviour of proxies. */
import assert from "node:assert/strict";
import {
  asked,
  atGateway,
  claimed,
  endOf,
  exampleOf,
  gatewaysOf,
  outbound,
  proxyAt,
  resourcesOf,
  workload,
} from "./support/claims.ts";
import { readable } from "../../lib/pb/reflect.ts";
import { resources } from "../discovery/fixture.ts";
import { changedBy, type ProofWorld, proofWorld, type WrittenDocument } from "./support/proof_world.ts";

const CLIENT = workload("shop", "client", { app: "client" }, "10.9.0.9");
const DOOR = workload("shop", "door", { app: "door" }, "10.9.0.8");

Deno.test("port-required: without a port the one that the client called is used, and a port that the service lacks is answered with 503", () => {
  const other = {
    apiVersion: "networking.mesh.io/v1",
    kind: "VirtualService",
    metadata: { namespace: "shop", name: "front" },
    spec: {
      hosts: ["front.test"],
      gateways: ["door"],
      http: [{ route: [{ destination: { host: "reviews.example.com" } }] }],
    },
  };
  const gateway = {
    apiVersion: "networking.mesh.io/v1",
    kind: "Gateway",
    metadata: { namespace: "shop", name: "door" },
    spec: {
      selector: { app: "door" },
      servers: [{ port: { number: 81, name: "http", protocol: "HTTP" }, hosts: ["*"] }],
    },
  };
  const world = claimed("port-required", CLIENT, DOOR, other, gateway);
  const client = proxyAt(world, "10.9.0.9");
  for (const port of [80, 8080]) {
    assert.equal(endOf(client, outbound("reviews.example.com", port)), `outbound|${port}||reviews.example.com`);
  }
  // Port 81 of the gateway is none of the service.
  const [door] = gatewaysOf(world);
  const { outcome, steps } = asked(door!, atGateway("front.test", 81));
  const cluster = outcome.kind === "forwarded" ? outcome.clusters[0]!.name : "";
  assert.ok(
    outcome.kind === "answered" && outcome.status === 503 || !resourcesOf(door!).clusters.has(cluster),
    JSON.stringify([outcome, steps.at(-1)]),
  );
});

Deno.test("route-left-out: a workload with that Sidecar sends to the host past the rules, and with the import by them", () => {
  const world = claimed("route-left-out", CLIENT);
  const ruled = (one: typeof world) =>
    [
      ...resourcesOf(proxyAt(one, "10.9.0.9")).virtualHosts.values(),
      ...[...resourcesOf(proxyAt(one, "10.9.0.9")).routes.values()].flatMap(({ virtual_hosts = [] }) => virtual_hosts),
    ]
      .some((host) => JSON.stringify(host).includes("virtual-service/reviews"));
  assert.equal(
    endOf(proxyAt(world, "10.9.0.9"), outbound("reviews.example.com", 80)),
    "outbound|80||reviews.example.com",
  );
  assert.equal(ruled(world), false);
  const mended = proofWorld(
    world.documents.map((one) =>
      one["kind"] === "Sidecar" ? { ...one, spec: { egress: [{ hosts: ["reviews/*", "shop/*"] }] } } : one
    ),
  );
  assert.equal(ruled(mended), true);
});

Deno.test("certificate-of-several-gateways: on the connection for one host, which its certificate covers, the other gets 404", () => {
  const rules = (["a", "b"] as const).map((name, at) => ({
    apiVersion: "networking.mesh.io/v1",
    kind: "VirtualService",
    metadata: { namespace: "shop", name },
    spec: {
      hosts: [`${name}.example.com`],
      gateways: [["door", "other"][at]],
      http: [{ redirect: { uri: `/${name}` } }],
    },
  }));
  const world = claimed("certificate-of-several-gateways", DOOR, ...rules);
  const [door] = gatewaysOf(world);
  const over = (sni: string, host: string) =>
    endOf(door!, atGateway(host, 443, { protocol: "tls", sni, alpn: ["h2"], httpVersion: "HTTP/2" }));
  assert.deepEqual([over("a.example.com", "a.example.com"), over("b.example.com", "b.example.com")], ["301", "301"]);
  assert.deepEqual([over("a.example.com", "b.example.com"), over("b.example.com", "a.example.com")], ["404", "404"]);
});

Deno.test("subsets-not-for-gateway: a request through the gateway goes to all endpoints of the host, one of the mesh to the subset", () => {
  const documents = exampleOf("subsets-not-for-gateway").map((one) =>
    one["kind"] === "Gateway" ? { ...one, spec: { ...one["spec"] as object, selector: { app: "door" } } } : one
  );
  const world = proofWorld([...documents, CLIENT, DOOR]);
  assert.ok(world.findings.some(({ name }) => name === "subsets-not-for-gateway"));
  assert.equal(
    endOf(proxyAt(world, "10.9.0.9"), outbound("reviews.example.com", 80)),
    "outbound|80|v1|reviews.example.com",
  );
  const doors = gatewaysOf(world);
  assert.ok(doors.length > 0);
  for (const door of doors) {
    assert.equal(endOf(door, atGateway("www.example.com", 80)), "outbound|80||reviews.example.com");
  }
});

Deno.test("gateways-of-one-host: the certificate of the older Gateway is served for the host", () => {
  const documents = exampleOf("gateways-of-one-host").map((one, at) => ({
    ...one,
    metadata: { ...one["metadata"] as object, creationTimestamp: `202${at}-01-01T00:00:00Z` },
  }));
  const rules = {
    apiVersion: "networking.mesh.io/v1",
    kind: "VirtualService",
    metadata: { namespace: "shop", name: "a" },
    spec: { hosts: ["a.example.com"], gateways: ["door", "other"], http: [{ redirect: { uri: "/a" } }] },
  };
  for (
    const [older, younger, written] of [["a", "b", documents], [
      "b",
      "a",
      documents.map((one, at) => ({
        ...one,
        metadata: documents[1 - at]!.metadata,
        spec: (one as WrittenDocument)["spec"],
      })),
    ]] as const
  ) {
    const world = proofWorld([
      ...written.map((one, at) => ({ ...one, metadata: { ...one.metadata, name: ["door", "other"][at]! } })),
      workload("shop", "door", { app: "door", zone: "b" }, "10.9.0.8"),
      rules,
    ]);
    assert.ok(world.findings.some(({ name }) => name === "gateways-of-one-host"));
    const [door] = gatewaysOf(world);
    const listeners = JSON.stringify(
      [...resourcesOf(door!).listeners.values()],
      (_, value) => value instanceof Uint8Array ? new TextDecoder().decode(value) : value,
    );
    assert.match(listeners, new RegExp(`kubernetes://${older}|credential.*${older}`));
    assert.doesNotMatch(listeners, new RegExp(`kubernetes://${younger}\\b`));
  }
});

Deno.test("entries-differ-in-protocol: a client gets one protocol for the port", () => {
  const world = claimed("entries-differ-in-protocol", CLIENT);
  const client = proxyAt(world, "10.9.0.9");
  const names = [...resourcesOf(client).clusters.keys()].filter((name) => name.startsWith("outbound|8443|"));
  assert.deepEqual(names, ["outbound|8443||reviews.example.com"]);
  const asHttp = endOf(client, { ...outbound("reviews.example.com", 8443) });
  const asTls = endOf(client, {
    direction: "outbound",
    destination: { ip: "203.0.113.9", port: 8443 },
    protocol: "tls",
    sni: "reviews.example.com",
  });
  assert.equal(asHttp, names[0]);
  assert.notEqual(asTls, names[0]);
});

Deno.test("address-required: a connection to that port goes there, whatever its address", () => {
  const world = claimed("address-required", CLIENT);
  for (const ip of ["203.0.113.9", "198.51.100.1"]) {
    const request = { direction: "outbound", destination: { ip, port: 5432 }, protocol: "tcp" } as const;
    assert.equal(endOf(proxyAt(world, "10.9.0.9"), request), "outbound|5432||reviews.example.com");
  }
});

Deno.test("claims-without-authentication: nothing verifies tokens at the gateway, and no request takes the rule", () => {
  const world = claimed("claims-without-authentication", DOOR);
  const [door] = gatewaysOf(world);
  const listeners = JSON.stringify([...resourcesOf(door!).listeners.values()]);
  assert.doesNotMatch(listeners, /jwt_authn/);
  for (const headers of [{}, { authorization: "Bearer x" }, { "@request.auth.claims.group": "admin" }]) {
    const { outcome } = asked(door!, atGateway("www.example.com", 80, { headers }));
    assert.equal(outcome.kind === "answered" && outcome.location?.endsWith("/admin"), false, JSON.stringify(outcome));
    assert.equal(outcome.kind === "answered" && outcome.status, 301);
  }
});

Deno.test("unserved-gateway-port: the gateway listens at the port, and its service leads to another port", () => {
  const world = claimed("unserved-gateway-port");
  const listeners = gatewaysOf(world).map((door) => [...resourcesOf(door).listeners.keys()]);
  assert.deepEqual(listeners, [["0.0.0.0_8081"]]);
  const { spec } = world.documents.find(({ kind }) => kind === "Service") as {
    spec: { ports: { targetPort: number }[] };
  };
  assert.deepEqual(spec.ports.map(({ targetPort }) => targetPort), [8080]);
});

Deno.test("unknown-namespace: the policy asks for the name, and no workload that is known has an identity of that namespace", () => {
  const world = claimed("unknown-namespace", workload("prod-web", "web", { app: "web" }, "10.9.0.7"));
  const [inbound] = Object.entries(resources(proxyAt(world, "10.0.0.1")))
    .filter(([name]) => name === "listener/virtualInbound")
    .map(([, { value }]) => JSON.stringify(readable("envoy.config.listener.v3.Listener", value)));
  assert.match(inbound!, /\/ns\/test-web\//);
  const namespaces = new Set(world.proxies.map(({ node }) => node.id.split("~")[3]!.split(".")[0]));
  assert.ok(namespaces.has("prod-web") && namespaces.has("shop"));
  assert.equal(namespaces.has("test-web"), false);
});

Deno.test("sidecar-in-ambient: no proxy of another namespace has anything of the Sidecar", () => {
  const world = claimed(
    "sidecar-in-ambient",
    workload("front", "web", { app: "web" }, "10.9.0.7"),
    ...exampleOf("address-required"),
  );
  const proxies = world.proxies.filter(({ node }) => !node.id.includes(".shop~"));
  assert.ok(proxies.length > 0);
  assert.deepEqual(changedBy({ ...world, proxies }, world.documents.filter(({ kind }) => kind !== "Sidecar")), []);
});

Deno.test("post-tunnel: connections of a workload go by a tunnel with POST, and with CONNECT where that is written", () => {
  const world = claimed("post-tunnel", CLIENT);
  const tunnel = (one: ProofWorld) =>
    Object.entries(resources(proxyAt(one, "10.9.0.9"))).filter(([name]) => name.startsWith("listener/"))
      .map(([, { value }]) => JSON.stringify(readable("envoy.config.listener.v3.Listener", value)))
      .filter((text) => text.includes('"tunneling_config"')).join();
  assert.match(tunnel(world), /"use_post":true/);
  const mended = proofWorld(world.documents.map((one) => JSON.parse(JSON.stringify(one).replace("POST", "CONNECT"))));
  assert.match(tunnel(mended), /"hostname":"far\.example\.com:443"/);
  assert.doesNotMatch(tunnel(mended), /"use_post":true/);
});
