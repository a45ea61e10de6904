/**
 * Possible parts of objects take effect: ports of younger entries, subnets and patches at gateways, headers of both
 * rules.
 */
import assert from "node:assert/strict";
import { checked, explained, resourcesOf, wayOf } from "./way.ts";

const object = (kind: string, namespace: string, name: string, spec: object) =>
  `---\n${JSON.stringify({ apiVersion: "networking.istio.io/v1", kind, metadata: { namespace, name }, spec })}\n`;

const GATEWAY = "router~10.9.0.4~gw-1.edge~edge.svc.cluster.local";

const names = (yaml: string) => checked(yaml).map(({ name }) => name);

const service = (name: string, address: string, endpoint: string) =>
  object("ServiceEntry", "prod", name, {
    hosts: [`${name}.test`],
    location: "MESH_INTERNAL",
    addresses: [address],
    resolution: "STATIC",
    ports: [
      { number: 9000, name: "tcp", protocol: "TCP", targetPort: 9090 },
      { number: 8000, name: "http", protocol: "HTTP", targetPort: 9080 },
    ],
    endpoints: [{ address: endpoint }],
  });

const EDGE = service("one", "10.8.4.1", "10.9.1.1") + service("two", "10.8.4.2", "10.9.1.2") +
  object("WorkloadEntry", "edge", "gw-1", { address: "10.9.0.4", labels: { app: "gw" } });

const gateway = (name: string, ...servers: object[]) =>
  object("Gateway", "edge", name, { selector: { app: "gw" }, servers });

const CLIENT = object("WorkloadEntry", "client", "app-1", { address: "10.9.0.2", labels: { app: "client" } });

const entry = (name: string, resolution: string, port: object, more: object) =>
  object("ServiceEntry", "client", name, { hosts: ["ex.test"], resolution, ports: [port], ...more });

Deno.test("two entries of one host with different resolutions: each port is served in the way of its entry", async () => {
  const yaml = CLIENT +
    entry("a", "NONE", { number: 9093, name: "http-a", protocol: "HTTP" }, { addresses: ["10.8.5.1"] }) +
    entry("b", "STATIC", { number: 9094, name: "http-b", protocol: "HTTP", targetPort: 9080 }, {
      endpoints: [{ address: "10.9.1.8" }],
    });
  assert.equal(await wayOf(yaml, "client/app-1", "http://ex.test:9094/"), "ex.test:9094 > 10.9.1.8:9080");
  assert.equal(await wayOf(yaml, "client/app-1", "http://ex.test:9093/"), "ex.test:9093 > 10.8.5.1:9093");
  const { clusters = [] } = resourcesOf(yaml, "client/app-1", ["cds"]);
  const types = clusters.filter(({ name }) => String(name).endsWith("ex.test")).map(({ name, type }) =>
    `${name} ${type}`
  );
  assert.deepEqual(types.sort(), ["outbound|9093||ex.test ORIGINAL_DST", "outbound|9094||ex.test EDS"]);
  assert.deepEqual(names(yaml), []);
});

Deno.test("a port that an older entry has with another resolution stays that entry's, and is found", async () => {
  const port = { number: 9094, name: "http", protocol: "HTTP" };
  const yaml = CLIENT + entry("a", "STATIC", port, { endpoints: [{ address: "10.9.1.8" }] }) +
    entry("b", "DNS", port, { endpoints: [{ address: "other.test" }] });
  assert.equal(await wayOf(yaml, "client/app-1", "http://ex.test:9094/"), "ex.test:9094 > 10.9.1.8:9094");
  assert.deepEqual(names(yaml), ["entry-port-not-served"]);
});

const tcp = (name: string, ...rules: [match: object | undefined, host: string][]) =>
  object("VirtualService", "edge", name, {
    hosts: ["*"],
    gateways: ["tcp"],
    tcp: rules.map(([match, host]) => ({
      ...(match && { match: [match] }),
      route: [{ destination: { host, port: { number: 9000 } } }],
    })),
  });

const TCP = gateway("tcp", { port: { number: 8999, name: "bytes", protocol: "TCP" }, hosts: ["*"] });

Deno.test("destinationSubnets of tcp rules choose at a gateway; the rest goes to the rule without, or is closed", async () => {
  const subnets = (...destinationSubnets: string[]) => ({ port: 8999, destinationSubnets });
  const ask = (yaml: string) => wayOf(yaml, GATEWAY, "tcp://10.9.0.4:8999");
  const world = EDGE + TCP;
  const both = tcp("sub", [subnets("10.9.7.0/24"), "one.test"], [subnets("10.9.0.4"), "two.test"]);
  assert.equal(await ask(world + both), "two.test:9000 > 10.9.1.2:9090");
  const rest = tcp("sub", [subnets("10.9.7.0/24"), "one.test"], [{ port: 8999 }, "two.test"]);
  assert.equal(await ask(world + rest), "two.test:9000 > 10.9.1.2:9090");
  assert.equal(await ask(world + tcp("sub", [subnets("10.9.7.0/24"), "one.test"])), "no cluster > closed");
  assert.deepEqual([names(world + both), names(world + rest)], [[], []]);
});

Deno.test("and of tls rules at a gateway that passes TLS on", () => {
  const server = { port: { number: 8999, name: "tls", protocol: "TLS" }, tls: { mode: "PASSTHROUGH" }, hosts: ["*"] };
  const rule = (subnet: string, host: string) => ({
    match: [{ port: 8999, sniHosts: ["a.test"], destinationSubnets: [subnet] }],
    route: [{ destination: { host, port: { number: 9000 } } }],
  });
  const yaml = EDGE + gateway("tls", server) + object("VirtualService", "edge", "tls", {
    hosts: ["a.test"],
    gateways: ["tls"],
    tls: [rule("10.9.7.0/24", "one.test"), rule("10.9.0.0/24", "two.test")],
  });
  const { listeners = [] } = resourcesOf(yaml, GATEWAY, ["lds"]);
  const chains = listeners.flatMap((one) => one.filter_chains as { filter_chain_match: unknown }[]);
  assert.deepEqual(chains.map(({ filter_chain_match }) => filter_chain_match), [
    { prefix_ranges: [{ address_prefix: "10.9.7.0", prefix_len: 24 }], server_names: ["a.test"] },
    { prefix_ranges: [{ address_prefix: "10.9.0.0", prefix_len: 24 }], server_names: ["a.test"] },
  ]);
});

Deno.test("a tcp rule after a rule for all connections is found, for any hosts", async () => {
  const yaml = EDGE + TCP + tcp("a", [{ port: 8999 }, "one.test"]) + tcp("b", [{ port: 8999 }, "two.test"]);
  assert.equal(await wayOf(yaml, GATEWAY, "tcp://10.9.0.4:8999"), "one.test:9000 > 10.9.1.1:9090");
  const [found, ...more] = checked(yaml).filter(({ name }) => name === "hidden-tcp-rule");
  assert.deepEqual([found?.place.objects[0]?.name, more.length], ["b", 0]);
  const apart = EDGE + TCP + tcp("a", [{ port: 8999, destinationSubnets: ["10.9.7.0/24"] }, "one.test"]) +
    tcp("b", [{ port: 8999 }, "two.test"]);
  assert.deepEqual(names(apart), []);
});

const HTTP = gateway("gw", { port: { number: 8080, name: "http", protocol: "HTTP" }, hosts: ["*"] });

const web = (name: string, spec: object) => object("VirtualService", "edge", name, spec);

const toOne = { route: [{ destination: { host: "one.test", port: { number: 8000 } } }] };

Deno.test("a patch holds on the HTTP servers of a gateway that it names by portName and gateway, and on no others", () => {
  const patch = (match: object) =>
    object("EnvoyFilter", "edge", "patch", {
      configPatches: [{
        applyTo: "VIRTUAL_HOST",
        match: { context: "GATEWAY", routeConfiguration: match },
        patch: {
          operation: "MERGE",
          value: { response_headers_to_add: [{ header: { key: "x-patched", value: "1" } }] },
        },
      }],
    });
  const world = EDGE + HTTP +
    gateway("other", { port: { number: 8080, name: "web", protocol: "HTTP" }, hosts: ["*"] }) +
    web("v", { hosts: ["a.test"], gateways: ["gw"], http: [toOne] }) +
    web("w", { hosts: ["b.test"], gateways: ["other"], http: [toOne] });
  const patched = (match: object) => {
    const { routes = [] } = resourcesOf(world + patch(match), GATEWAY, ["rds"]);
    const hosts = routes.flatMap((one) => one.virtual_hosts as { name: string; response_headers_to_add?: unknown }[]);
    return hosts.filter((host) => host.response_headers_to_add !== undefined).map(({ name }) => name);
  };
  assert.deepEqual(patched({ portName: "http" }), ["a.test:8080"]);
  assert.deepEqual(patched({ gateway: "edge/gw" }), ["a.test:8080"]);
  assert.deepEqual(patched({ portName: "http", gateway: "edge/gw", vhost: { name: "a.test:8080" } }), ["a.test:8080"]);
  assert.deepEqual(patched({ gateway: "edge/other" }), ["b.test:8080"]);
  assert.deepEqual(patched({ portName: "web", gateway: "edge/gw" }), []);
});

Deno.test("header operations of the rule that delegates and of its delegate hold together; of a clash the delegate's, and it is found", async () => {
  const root = (headers: object) =>
    web("root", { hosts: ["a.test"], gateways: ["gw"], http: [{ headers, delegate: { name: "leaf" } }] });
  const leaf = web("leaf", {
    http: [{ headers: { request: { set: { "x-leaf": "yes" }, remove: ["x-old"] } }, ...toOne }],
  });
  const changes = async (yaml: string) => {
    const { hops } = await explained(yaml, GATEWAY, { to: "http://a.test:8080/" });
    assert.equal(hops[0]?.steps.findLast(({ what }) => what === "cluster")?.name, "one.test:8000");
    const { routes = [] } = resourcesOf(yaml, GATEWAY, ["rds"]);
    const text = JSON.stringify(routes);
    return ["x-leaf", "x-root", "x-answer", "x-old"].filter((name) => text.includes(`"key":"${name}"`));
  };
  const apart = EDGE + HTTP + leaf +
    root({ request: { set: { "x-root": "yes" } }, response: { add: { "x-answer": "yes" } } });
  assert.deepEqual(await changes(apart), ["x-leaf", "x-root", "x-answer"]);
  assert.deepEqual(names(apart), []);
  const clash = EDGE + HTTP + leaf + root({ request: { set: { "X-Leaf": "no", "x-old": "no" } } });
  assert.deepEqual(await changes(clash), ["x-leaf"]);
  assert.deepEqual(checked(clash).map(({ message }) => message.replace(/^.*root's rule/s, "")), [
    " gives way to rule 0 of the delegate",
    " gives way to rule 0 of the delegate",
  ]);
});
