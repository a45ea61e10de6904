/** Applications that speak gRPC without a proxy: the agent's bootstrap, and a real client that uses it. */
import assert from "node:assert/strict";
import { any, encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { withPorts } from "../../scripts/ports.ts";
import { AgentProcess } from "./support/agent_process.ts";
import { TestAuthority } from "./support/authority.ts";
import { echoServer, startClient } from "./support/grpc_process.ts";
import { TestDiscovery, type TestStream } from "./support/discovery.ts";
import { until } from "../patience.ts";

const REQUEST = "envoy.service.discovery.v3.DiscoveryRequest";
const RESPONSE = "envoy.service.discovery.v3.DiscoveryResponse";
const ads = { ads: {}, resource_api_version: 2 };

interface Request {
  readonly node?: { readonly id: string; readonly metadata?: { readonly fields: Record<string, unknown> } };
  readonly type_url: string;
  readonly resource_names?: readonly string[];
  readonly response_nonce?: string;
  readonly error_detail?: { readonly message: string };
}

/** Resources that lead a client to `echo.test` at a port, by type. */
function resourcesTo(
  port: number,
): Readonly<Record<string, { readonly type_url: string; readonly value: Uint8Array }>> {
  const manager = any("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", {
    rds: { config_source: ads, route_config_name: "routes" },
    http_filters: [{ name: "router", typed_config: any("envoy.extensions.filters.http.router.v3.Router") }],
  });
  const address = { socket_address: { address: "127.0.0.1", port_value: port } };
  const all = [
    any("envoy.config.listener.v3.Listener", { name: "echo.test:80", api_listener: { api_listener: manager } }),
    any("envoy.config.route.v3.RouteConfiguration", {
      name: "routes",
      virtual_hosts: [{
        name: "echo",
        domains: ["*"],
        routes: [{ match: { prefix: "" }, route: { cluster: "echo" } }],
      }],
    }),
    any("envoy.config.cluster.v3.Cluster", { name: "echo", type: 3, eds_cluster_config: { eds_config: ads } }),
    any("envoy.config.endpoint.v3.ClusterLoadAssignment", {
      cluster_name: "echo",
      endpoints: [{
        locality: { region: "r1" },
        load_balancing_weight: { value: 1 },
        lb_endpoints: [{ endpoint: { address } }],
      }],
    }),
  ];
  return Object.fromEntries(all.map((one) => [one.type_url, one]));
}

/** A discovery server with one answer to each new question. */
async function scripted(port: number) {
  const resources = resourcesTo(port);
  const requests: Request[] = [];
  const answered = new WeakMap<TestStream, Set<string>>();
  const discovery = await TestDiscovery.start(0, (stream, bytes) => {
    const request = decode<Request>(REQUEST, bytes);
    requests.push(request);
    const { type_url, resource_names: names = [] } = request;
    const done = answered.getOrInsertComputed(stream, () => new Set());
    const found = resources[type_url];
    if (found === undefined || done.has(type_url) || names.length === 0) return;
    done.add(type_url);
    stream.call.send([encode(RESPONSE, { type_url, version_info: "1", nonce: type_url, resources: [found] })], false);
  });
  return { discovery, requests };
}

const environment = { POD_NAME: "app-1", POD_NAMESPACE: "shop", SERVICE_ACCOUNT: "app", INSTANCE_IP: "10.0.0.1" };

/** Variables of an agent without a proxy. */
function withoutProxy(discovery: number, status: number): Record<string, string> {
  const proxy = { discoveryAddress: `127.0.0.1:${discovery}`, controlPlaneAuthPolicy: "NONE", statusPort: status };
  return { ...environment, DISABLE_PROXY: "true", PROXY_CONFIG: JSON.stringify(proxy) };
}

async function ready(status: number): Promise<string> {
  try {
    const response = await fetch(`http://127.0.0.1:${status}/healthz/ready`);
    return `${response.status} ${await response.text()}`.trim();
  } catch {
    return "no answer";
  }
}

Deno.test("a gRPC client finds its server by the agent's bootstrap, over the relay; the stream of a second client ends the first one's, and calls go on", () =>
  withPorts(1, async ([status = 0]) => {
    await using echo = await echoServer();
    const { discovery, requests } = await scripted(echo.port);
    await using _server = discovery;
    await using agent = await AgentProcess.start({
      env: { ...withoutProxy(discovery.port, status), GRPC_XDS_BOOTSTRAP: "./etc/grpc.json" },
    });
    try {
      await until("the agent is ready", async () => await ready(status) === "200");
      const path = `${agent.folder}/etc/grpc.json`;
      await using first = startClient(path, "xds:///echo.test:80");
      assert.equal(await first.call("one"), "answer one");
      const [asked] = requests;
      assert.equal(asked?.node?.id, "sidecar~10.0.0.1~app-1.shop~shop.svc.cluster.local");
      assert.deepEqual(asked.node.metadata?.fields.GENERATOR, { stringValue: "grpc" });
      assert.deepEqual(requests.filter(({ error_detail }) => error_detail !== undefined), []);
      {
        await using second = startClient(path, "xds:///echo.test:80");
        const answer = second.call("two");
        await until("the first stream is over", () => discovery.streams[0]!.call.closed);
        // The client's configuration stays after the end of the stream.
        assert.equal(await first.call("three"), "answer three");
        await answer;
      }
      await first[Symbol.asyncDispose]();
      await using third = startClient(path, "xds:///echo.test:80");
      assert.equal(await third.call("four"), "answer four");
    } catch (error) {
      throw new Error(agent.output, { cause: error });
    }
  }));

Deno.test("the bootstrap names the relay's socket and the files of the certificate by absolute paths, and the agent is ready when they are there", () =>
  withPorts(2, async ([status = 0, port = 0]) => {
    const authority = await TestAuthority.make();
    await using discovery = await TestDiscovery.start();
    await using agent = await AgentProcess.start({
      files: {
        "var/run/secrets/mesh/root-cert.pem": authority.root,
        "var/run/secrets/tokens/mesh-token": "the-token\n",
        "etc/mesh/pod/labels": 'mesh-locality="r1.z1.s1"\n',
      },
      env: {
        ...withoutProxy(discovery.port, status),
        ...{ CA_ADDR: `127.0.0.1:${port}`, MESHD_SAN: "ca.test", ECC_SIGNATURE_ALGORITHM: "ECDSA" },
        ...{ OUTPUT_CERTS: "./var/certs", MESH_META_GENERATOR: "event" },
      },
    });
    try {
      const folder = await Deno.realPath(agent.folder);
      await until("the port answers", async () => (await ready(status)).startsWith("503"));
      await until("files are missing", async () => /503 .*\/var\/certs\/.* has not come yet/.test(await ready(status)));
      const file = `${folder}/etc/mesh/proxy/grpc-bootstrap.json`;
      assert.equal((await Deno.stat(file)).mode! & 0o777, 0o644);
      const { node, ...rest } = JSON.parse(await Deno.readTextFile(file));
      assert.deepEqual(rest, {
        xds_servers: [{
          server_uri: `unix://${folder}/etc/mesh/proxy/XDS`,
          channel_creds: [{ type: "insecure" }],
          server_features: ["xds_v3"],
        }],
        certificate_providers: {
          default: {
            plugin_name: "file_watcher",
            config: {
              certificate_file: `${folder}/var/certs/cert-chain.pem`,
              private_key_file: `${folder}/var/certs/key.pem`,
              ca_certificate_file: `${folder}/var/certs/root-cert.pem`,
              refresh_interval: "900s",
            },
          },
        },
        server_listener_resource_name_template: "xds.istio.io/grpc/lds/inbound/%s",
      });
      assert.deepEqual(node.locality, { region: "r1", zone: "z1", sub_zone: "s1" });
      assert.equal(node.metadata.GENERATOR, "event");
      await using _certificates = await authority.listen("ca.test", port);
      await until("the files are there", async () => await ready(status) === "200");
    } catch (error) {
      throw new Error(agent.output, { cause: error });
    }
  }));
