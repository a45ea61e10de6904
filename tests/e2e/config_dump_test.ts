/**
 * `/debug/config_dump` of the server beside `/config_dump` of the proxy: both are the same, but for facts that only Envoy
 * knows.
 */
import assert from "node:assert/strict";
import { any, encode } from "../../lib/pb/codec.ts";
import { messageJson } from "../../lib/pb/json.ts";
import { struct } from "../../lib/pb/wellknown.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { withPorts } from "../../scripts/ports.ts";
import { startStatic } from "../envoy/static.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";

const path = envoyPath();
const root = new URL("../..", import.meta.url).pathname;
const pem = `${root}tests/testdata/pem`;

type Json = Record<string, unknown>;
interface Dump {
  readonly configs: readonly Json[];
}

/** What a dump says of everything but time, in an order of its own. */
function timeless(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(timeless);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "last_updated");
  return Object.fromEntries(entries.map(([key, one]) => [key, timeless(one)]));
}

/** The parts of a dump by type, their lists sorted: Envoy keeps tables by hash. */
function parts({ configs }: Dump): Record<string, Json> {
  return Object.fromEntries(configs.map((config) => {
    const { "@type": type, ...rest } = timeless(config) as Json;
    const sorted = Object.entries(rest).map((
      [key, value],
    ) => [key, Array.isArray(value) ? sortedByText(value) : value]);
    return [String(type).split(".").at(-1), Object.fromEntries(sorted)];
  }));
}

function sortedByText(list: readonly unknown[]): unknown[] {
  return list.map((one) => [JSON.stringify(one), one] as const).sort(([a], [b]) => a < b ? -1 : 1).map(([, one]) =>
    one
  );
}

/** A gateway with a certificate in files, and rules whose values have several forms in JSON. */
function door(port: number): string {
  return `
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec:
  selector: { app: door }
  servers:
    - port: { number: ${port}, name: https, protocol: HTTPS }
      bind: 127.0.0.1
      hosts: [door.test]
      tls: { mode: SIMPLE, serverCertificate: ${pem}/cert.pem, privateKey: ${pem}/key.pem }
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: door, namespace: demo }
spec:
  hosts: [door.test]
  gateways: [door, mesh]
  http:
    - match: [{ uri: { regex: "/v[0-9]+" }, queryParams: { a: { exact: b } } }]
      fault: { delay: { percentage: { value: 0.1 }, fixedDelay: 1.5s } }
      retries: { attempts: 3, perTryTimeout: 0.25s }
      route: [{ destination: { host: hello.demo.svc.cluster.local } }]
    - directResponse: { status: 418, body: { string: short } }
`;
}

const first = `${root}examples/first-steps/mesh`;
const files = Object.fromEntries([...Deno.readDirSync(first)].map(({ name }) => [
  name,
  Deno.readTextFileSync(`${first}/${name}`),
]));

const KINDS = [
  ...[true, false].flatMap((delta) =>
    (["sidecar", "router"] as const).map((type) => ({ type, delta, onDemand: false }))
  ),
  { type: "sidecar", delta: true, onDemand: true } as const,
];

for (const { type, delta, onDemand } of KINDS) {
  Deno.test({
    name: `${type}, ${delta ? "delta" : "state of the world"}${
      onDemand ? ", on demand" : ""
    }: the dump is what Envoy prints of itself`,
    ignore: path === undefined,
    fn: () =>
      withPorts(3, async ([proxyListenPort, proxyInboundListenPort, port = 0]) => {
        await using mesh = await TestMesh.start({
          onDemand,
          files: { ...files, "door.yaml": door(port) },
          meshConfig: { proxyListenPort, proxyInboundListenPort },
        });
        const labels = { app: "door" };
        const identity = { type, name: "one", namespace: "demo", address: "127.0.0.1", labels };
        const running = await mesh.attach(path!, identity, delta, { interceptionMode: "REDIRECT" });
        await mesh.settled();
        const theirs = parts(JSON.parse((await running.admin("config_dump?include_eds"))!));
        const ours = parts(await mesh.page<Dump>("config_dump?proxyID=one.demo&include_eds"));

        // What stands in Envoy's own file is not the server's to know.
        delete theirs.BootstrapConfigDump;
        delete theirs.ClustersConfigDump!.static_clusters;
        // Envoy prints the state of endpoints instead of the resource.
        const sent = addresses(ours.EndpointsConfigDump!);
        const held = addresses(theirs.EndpointsConfigDump!);
        assert.equal(sent.size > 0, !onDemand, "the workload calls nobody");
        for (const [cluster, list] of sent) assert.deepEqual(held.get(cluster), list);
        delete theirs.EndpointsConfigDump;
        delete ours.EndpointsConfigDump;
        // Envoy prints what it read from files instead of their names.
        const texts = [ours, theirs].map(({ SecretsConfigDump }) => JSON.stringify(SecretsConfigDump));
        assert.deepEqual(
          texts.map((text) => /"private_key":\{"\w+":"(?:\[redacted]|W3JlZGFjdGVkXQ==)"}/.test(text)),
          [
            type === "router",
            type === "router",
          ],
        );
        assert.deepEqual(withoutFiles(ours), withoutFiles(theirs));
      }),
  });
}

/** A dump without what stands in files of the proxy's machine. */
function withoutFiles(dump: Record<string, Json>): unknown {
  return JSON.parse(JSON.stringify(dump, (key, value) => /^(?:certificate_chain|private_key)$/.test(key) ? "" : value));
}

/** Addresses of a dump's endpoints by cluster. */
function addresses({ dynamic_endpoint_configs: list }: Json): Map<string, unknown[]> {
  interface Config {
    readonly endpoint_config: {
      readonly cluster_name: string;
      readonly endpoints?: readonly { readonly lb_endpoints: readonly { readonly endpoint: { address: unknown } }[] }[];
    };
  }
  return new Map(((list ?? []) as readonly Config[]).map(({ endpoint_config: { cluster_name, endpoints = [] } }) => [
    cluster_name,
    endpoints.flatMap(({ lb_endpoints }) => lb_endpoints.map(({ endpoint }) => endpoint.address)),
  ]));
}

const TLS = "envoy.extensions.transport_sockets.tls.v3";
const text = new TextEncoder();
const [chain, key] = ["cert.pem", "key.pem"].map((name) => Deno.readTextFileSync(`${pem}/${name}`)) as [string, string];

/** Resources whose values have forms of their own in JSON, and secrets in all places that a listener or cluster has. */
const resources: envoy.config.bootstrap.v3.Bootstrap.StaticResources = {
  listeners: [{
    name: "tls",
    address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
    metadata: { filter_metadata: { test: struct({ a: "x", b: 1.5, c: true, d: null, e: [1, { f: "g" }] }) } },
    filter_chains: [{
      filters: [{
        name: "tcp",
        typed_config: any("envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", {
          stat_prefix: "t",
          cluster: "c",
          idle_timeout: { seconds: 1, nanos: 500_000_000 },
        }),
      }],
      transport_socket: {
        name: "tls",
        typed_config: any(`${TLS}.DownstreamTlsContext`, {
          common_tls_context: {
            tls_certificates: [{
              certificate_chain: { inline_string: chain },
              private_key: { inline_bytes: text.encode(key) },
            }],
          },
          session_ticket_keys: { keys: [{ inline_bytes: text.encode("k".repeat(80)) }] },
        }),
      },
    }],
  }],
  clusters: [{
    name: "c",
    connect_timeout: { nanos: 250_000 },
    type: 0,
    load_assignment: { cluster_name: "c", policy: { overprovisioning_factor: { value: 141 } } },
    common_lb_config: { healthy_panic_threshold: { value: 12.5 }, locality_weighted_lb_config: {} },
    transport_socket: {
      name: "tls",
      typed_config: any(`${TLS}.UpstreamTlsContext`, {
        common_tls_context: {
          tls_certificates: [{ certificate_chain: { inline_string: chain }, private_key: { inline_string: key } }],
          alpn_protocols: ["h2", "http/1.1"],
        },
        max_session_keys: { value: 0 },
      }),
    },
  }],
  secrets: [{
    name: "own",
    tls_certificate: {
      certificate_chain: { inline_string: chain },
      private_key: { inline_string: key },
      password: { inline_string: "hidden" },
    },
  }, { name: "word", generic_secret: { secret: { inline_string: "hidden" } } }],
};

Deno.test({
  name: "forms of values and what is redacted are those of Envoy",
  ignore: path === undefined,
  async fn() {
    const name = "envoy.config.bootstrap.v3.Bootstrap";
    const ours = messageJson(name, encode(name, { static_resources: resources })).static_resources;
    assert.doesNotMatch(JSON.stringify(ours), /PRIVATE KEY|hidden/);
    const running = await startStatic(path!, resources);
    try {
      const dump: Dump = JSON.parse(await running.admin("config_dump"));
      const { static_resources } = dump.configs[0]!.bootstrap as Json;
      assert.deepEqual(ours, static_resources);
    } finally {
      await running.stop();
    }
  },
});
