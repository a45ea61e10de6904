/** The agent's port for questions to the control plane: pages, gRPC, refusals, and unsupported questions. */
import assert from "node:assert/strict";
import { ClientCall } from "../../lib/grpc/client/client_call.ts";
import { ClientConnection } from "../../lib/grpc/client/client_connection.ts";
import { dial } from "../../lib/grpc/client/dial.ts";
import { Code } from "../../lib/grpc/codes.ts";
import { MessageWriter } from "../../lib/grpc/message_writer.ts";
import type { RpcError } from "../../lib/grpc/status.ts";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { withPorts } from "../../scripts/ports.ts";
import { AgentProcess } from "./support/agent_process.ts";
import { TestDiscovery } from "./support/discovery.ts";
import { PATIENCE, until } from "../patience.ts";

const REQUEST = "envoy.service.discovery.v3.DiscoveryRequest";
const RESPONSE = "envoy.service.discovery.v3.DiscoveryResponse";
const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";

interface Request {
  readonly node?: { readonly id: string };
  readonly type_url: string;
  readonly resource_names?: readonly string[];
}

/** Answers a question about a page with the page's name, refuses `secretz`, and is silent to `slow`. */
async function debugServer() {
  const requests: Request[] = [];
  const discovery = await TestDiscovery.start(0, ({ call }, bytes) => {
    const request = decode<Request>(REQUEST, bytes);
    requests.push(request);
    const { type_url, resource_names: [name = ""] = [] } = request;
    if (!type_url.startsWith("istio.io/debug") || name === "slow") return;
    if (name === "secretz") return call.end(Code.PERMISSION_DENIED, "not for you");
    const body = { type_url: "", value: new TextEncoder().encode(JSON.stringify({ name })) };
    call.send([encode(RESPONSE, { type_url, resources: name === "none" ? [] : [body] })], false);
  });
  return { discovery, requests };
}

/** An agent with the port, without a proxy. */
async function withTap(
  test: (parts: { discovery: TestDiscovery; requests: Request[]; port: number; agent: AgentProcess }) => Promise<void>,
): Promise<void> {
  await withPorts(2, async ([status = 0, port = 0]) => {
    const { discovery, requests } = await debugServer();
    await using _server = discovery;
    const proxy = { discoveryAddress: `127.0.0.1:${discovery.port}`, controlPlaneAuthPolicy: "NONE" };
    await using agent = await AgentProcess.start({
      env: {
        ...{ POD_NAME: "app-1", POD_NAMESPACE: "shop", INSTANCE_IP: "10.0.0.1", DISABLE_PROXY: "true" },
        ...{ PROXY_XDS_DEBUG_VIA_AGENT: "true", PROXY_XDS_DEBUG_VIA_AGENT_PORT: `${port}` },
        PROXY_CONFIG: JSON.stringify({ ...proxy, statusPort: status }),
      },
    });
    try {
      await agent.says(/\tstarted\t/);
      await test({ discovery, requests, port, agent });
    } catch (error) {
      throw new Error(agent.output, { cause: error });
    }
  });
}

async function page(port: number, path: string, headers: Record<string, string> = {}): Promise<[number, string]> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  return [response.status, (await response.text()).trim()];
}

/** A question over gRPC. */
async function asked(port: number, typeUrl: string, name: string) {
  const connection = new ClientConnection(await dial({ host: "127.0.0.1", port }, PATIENCE));
  try {
    const answers: Uint8Array[] = [];
    const { promise, resolve } = Promise.withResolvers<RpcError | undefined>();
    const call = new ClientCall(connection, { authority: "tap", path: ADS, maxMessageSize: 1_000_000 }, {
      message: (bytes) => void answers.push(new Uint8Array(bytes)),
      end: resolve,
    });
    call.send(new MessageWriter().string(3, name).string(4, typeUrl).finish());
    return { status: await promise, answers };
  } finally {
    connection.close();
  }
}

Deno.test("questions of this machine go to the server by streams of their own, in the workload's name, and its answers come back", async () => {
  await withTap(async ({ discovery, requests, port, agent }) => {
    const proxy = new ClientConnection(await dial({ path: `${agent.folder}/etc/mesh/proxy/XDS` }, PATIENCE));
    const stream = new ClientCall(proxy, { authority: "xds", path: ADS, maxMessageSize: 1000 }, {
      message: () => {},
      end: () => {},
    });
    stream.send(encode(REQUEST, { type_url: "type.googleapis.com/envoy.config.cluster.v3.Cluster" }));
    await until("the proxy's stream is there", () => requests.length === 1);
    assert.deepEqual(await page(port, "/debug/syncz"), [200, '{"name":"syncz"}']);
    const dump = '{"name":"config_dump?proxyID=a.b&types=lds"}';
    assert.deepEqual(await page(port, "/debug/config_dump?proxyID=a.b&types=lds"), [200, dump]);
    assert.deepEqual(await page(port, "/debug?resourceName=edsz"), [200, '{"name":"edsz"}']);
    assert.deepEqual(await page(port, "/debug/none"), [404, "the server says nothing to none"]);
    const [status, text] = await page(port, "/debug/secretz");
    assert.deepEqual([status, /PermissionDenied: not for you/.test(text)], [503, true], text);
    assert.equal((await page(port, "/debug"))[0], 400);
    const { status: ended, answers } = await asked(port, "istio.io/debug/syncz", "");
    assert.equal(ended?.code ?? Code.OK, Code.OK);
    assert.equal(decode<Request>(RESPONSE, answers[0]!).type_url, "istio.io/debug/syncz");
    const questions = requests.slice(1);
    assert.equal(questions.length, 6);
    for (const { node } of questions) assert.equal(node?.id, "sidecar~10.0.0.1~app-1.shop~shop.svc.cluster.local");
    await until("their streams are over", () => discovery.streams.slice(1).every(({ call }) => call.closed));
    assert(!discovery.streams[0]!.call.closed, "the proxy's stream");
    proxy.close();
  });
});

Deno.test("configuration is not given away, web pages of others see nothing, and a silent server harms nobody", async () => {
  await withTap(async ({ requests, port }) => {
    const listeners = await asked(port, "type.googleapis.com/envoy.config.listener.v3.Listener", "");
    assert.equal(listeners.status?.code, Code.INVALID_ARGUMENT);
    assert.equal((await page(port, "/debug/syncz", { origin: "http://evil.test" }))[0], 403);
    assert.equal(requests.length, 0);
    const slow = Array.from({ length: 4 }, () => page(port, "/debug/slow"));
    await until("they are asked", () => requests.length === 4);
    assert.deepEqual(await page(port, "/debug/syncz"), [429, "4 questions are being asked already"]);
    assert.deepEqual(await Promise.all(slow), Array(4).fill([504, "the server gave no answer within 5 s"]));
    assert.equal((await page(port, "/debug/syncz"))[0], 200);
  });
});

Deno.test("where the port is another program's, the agent says so and starts without it; with the setting off nobody listens", () =>
  withPorts(1, async ([statusPort = 0]) => {
    using other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const port = `${(other.addr as Deno.NetAddr).port}`;
    const said = async (isOn: boolean) => {
      await using agent = await AgentProcess.start({
        env: {
          ...{ POD_NAMESPACE: "shop", INSTANCE_IP: "10.0.0.1", DISABLE_PROXY: "true" },
          ...{ PROXY_XDS_DEBUG_VIA_AGENT: `${isOn}`, PROXY_XDS_DEBUG_VIA_AGENT_PORT: port },
          PROXY_CONFIG: JSON.stringify({ discoveryAddress: "127.0.0.1:1", statusPort }),
        },
      });
      await agent.says(/\tstarted\t/);
      return agent.output;
    };
    const taken = /\twarn\txdsproxy\tPROXY_XDS_DEBUG_VIA_AGENT_PORT: no pages of the control plane: .*EADDRINUSE/;
    assert.match(await said(true), taken);
    assert.doesNotMatch(await said(false), /PROXY_XDS_DEBUG/);
  }));
