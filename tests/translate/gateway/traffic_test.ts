/** Answers to a gateway's clients, from a real Envoy. */
import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { gatewayListeners } from "../../../lib/translate/gateway/listeners.ts";
import { gatewayRouteConfigurations } from "../../../lib/translate/gateway/routes.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { FactStore } from "../../../lib/config/facts/store.ts";
import { readFact } from "../../../lib/config/facts/read.ts";
import { Credentials } from "../../../lib/discovery/credentials/credentials.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { ResourceTable } from "../../../lib/resource/set.ts";
import { inFile } from "../../config/origins.ts";
import { envoyPath } from "../../envoy/path.ts";
import { gatewayWorldOf } from "./gateway_world.ts";
import { exchange, request, type Served, withEnvoy } from "./running_envoy.ts";

const binary = envoyPath();
const ignore = binary === undefined;
const pem = new URL("../../testdata/pem/", import.meta.url).pathname;
const files = { serverCertificate: `${pem}cert.pem`, privateKey: `${pem}key.pem` };
const api = "networking.mesh.io/v1";

function gateway(servers: readonly object[]): object {
  return { apiVersion: api, kind: "Gateway", metadata: { name: "gw", namespace: "edge" }, spec: { servers } };
}

function server(socket: string, protocol: string, name: string, hosts: readonly string[], tls?: object): object {
  return { port: { number: 0, protocol, name }, bind: `unix://${socket}`, hosts, ...(tls && { tls }) };
}

function virtualService(name: string, hosts: readonly string[], rules: object): object {
  const metadata = { name, namespace: "edge" };
  return { apiVersion: api, kind: "VirtualService", metadata, spec: { hosts, gateways: ["gw"], ...rules } };
}

/** A rule that answers with a fixed text. */
function answers(text: string, match?: object): object {
  return { ...(match && { match: [match] }), directResponse: { status: 200, body: { string: text } } };
}

function served(documents: readonly object[], clusters: Served["clusters"] = []): Served {
  const { read } = gatewayWorldOf(documents);
  const { listeners, problems } = gatewayListeners(read);
  assert.deepEqual(problems, []);
  const routes = [...gatewayRouteConfigurations(read)].map(([name, { routeConfiguration, virtualHosts }]) => {
    const own = virtualHosts.map(({ message }) => message);
    const { message } = routeConfiguration;
    return [name, own.length > 0 ? { ...message, virtual_hosts: own } : message] as const;
  });
  const secrets = listeners.flatMap((built) => built.secrets ?? []);
  return { listeners: listeners.map(({ message }) => message), routes: new Map(routes), clusters, secrets };
}

async function withSocket(use: (socket: string, folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await use(`${folder}/gateway.sock`, folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Status and body. */
function reported(answer: string): string {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  const status = head.split(" ")[1];
  const location = /\r\nlocation: (\S+)/.exec(head)?.[1];
  return [status, location, body].filter(Boolean).join(" ");
}

Deno.test({
  name: "requests at a gateway go by host, then path; unknown hosts get 404, hosts of a redirecting server go to HTTPS",
  ignore,
  fn: () =>
    withSocket(async (socket) => {
      const documents = [
        gateway([
          server(socket, "HTTP", "http", ["a.com", "*.wild.com"]),
          server(socket, "HTTP2", "secure", ["secure.com"], { httpsRedirect: true }),
        ]),
        virtualService("a", ["a.com"], { http: [answers("a", { uri: { prefix: "/a" } }), answers("rest")] }),
        virtualService("b", ["a.com", "x.wild.com"], { http: [answers("b", { uri: { prefix: "/b" } })] }),
        virtualService("w", ["*.wild.com"], { http: [answers("wild")] }),
        virtualService("s", ["secure.com"], { http: [answers("never in the clear")] }),
      ];
      await withEnvoy(binary!, served(documents), async () => {
        const get = async (host: string, path: string) => reported(await request({ socket }, host, path));
        assert.equal(await get("a.com", "/a"), "200 a");
        assert.equal(await get("a.com:8080", "/a"), "200 a", "the port of the Host header does not matter");
        assert.equal(await get("a.com", "/b"), "200 b", "rules of several virtual services merge");
        assert.equal(await get("a.com", "/c"), "200 rest");
        assert.equal(await get("x.wild.com", "/b"), "200 b");
        assert.equal(await get("y.wild.com", "/b"), "200 wild");
        assert.equal(await get("unknown.com", "/"), "404");
        assert.equal(await get("secure.com", "/x"), "301 https://secure.com/x");
      });
    }),
});

Deno.test({
  name: "a gateway that nothing is bound to answers 404",
  ignore,
  fn: () =>
    withSocket(async (socket) => {
      await withEnvoy(binary!, served([gateway([server(socket, "HTTP", "http", ["*"])])]), async () => {
        assert.equal(reported(await request({ socket }, "a.com", "/")), "404");
      });
    }),
});

Deno.test({
  name: "TLS ends at the server of the client's server name; MUTUAL wants a certificate, OPTIONAL_MUTUAL takes one",
  ignore,
  fn: () =>
    withSocket(async (socket) => {
      const clients = { caCertificates: `${pem}root.pem` };
      const documents = [
        gateway([
          server(socket, "HTTPS", "one", ["one.com"], { mode: "SIMPLE", ...files }),
          server(socket, "HTTPS", "two", ["*.two.com"], { mode: "MUTUAL", ...files, ...clients }),
          server(socket, "HTTPS", "three", ["three.com"], { mode: "OPTIONAL_MUTUAL", ...files, ...clients }),
          server(socket, "HTTPS", "new", ["new.com"], { mode: "SIMPLE", ...files, minProtocolVersion: "TLSV1_3" }),
        ]),
        virtualService("all", ["one.com", "a.two.com", "three.com", "new.com"], { http: [answers("hello")] }),
      ];
      const cert = await Deno.readTextFile(`${pem}cert.pem`);
      const key = await Deno.readTextFile(`${pem}key.pem`);
      await withEnvoy(binary!, served(documents), async () => {
        const get = async (host: string, tls: object = {}) =>
          reported(await request({ socket, tls: { servername: host, ...tls } }, host, "/"));
        assert.equal(await get("one.com"), "200 hello");
        await assert.rejects(get("a.two.com"));
        assert.equal(await get("a.two.com", { cert, key }), "200 hello");
        assert.equal(await get("three.com"), "200 hello");
        assert.equal(await get("three.com", { cert, key }), "200 hello");
        assert.equal(await get("new.com"), "200 hello");
        await assert.rejects(get("new.com", { maxVersion: "TLSv1.2" }));
        await assert.rejects(get("unknown.com"), "no chain for that server name");
        const other = request({ socket, tls: { servername: "one.com" } }, "three.com", "/");
        assert.equal(reported(await other), "404", "each server has its own hosts");
      });
    }),
});

Deno.test({
  name: "a gateway takes away a client certificate header of the client's own making",
  ignore,
  fn: () =>
    withSocket(async (socket) => {
      const documents = [
        gateway([server(socket, "HTTP", "http", ["a.com"])]),
        virtualService("a", ["a.com"], {
          http: [answers("spoofed", { headers: { "x-forwarded-client-cert": {} } }), answers("clean")],
        }),
      ];
      await withEnvoy(binary!, served(documents), async () => {
        const spoof = ["X-Forwarded-Client-Cert: By=spiffe://cluster.local/ns/a/sa/b"];
        assert.equal(reported(await request({ socket }, "a.com", "/", spoof)), "200 clean");
      });
    }),
});

/** A server on loopback that echoes after a name, then ends. */
async function echo(name: string, secure?: { cert: string; key: string }): Promise<Server> {
  const answer = (socket: Socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", (bytes) => socket.end(`${name} ${bytes}`));
  };
  const server = secure ? createTlsServer(secure, answer) : createServer(answer);
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return server;
}

function clusterOf(name: string, server: Server): envoy.config.cluster.v3.Cluster {
  const { address, port } = server.address() as AddressInfo;
  const endpoint = { endpoint: { address: { socket_address: { address, port_value: port } } } };
  return {
    name,
    type: 0,
    connect_timeout: { seconds: 1 },
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [endpoint] }] },
  };
}

Deno.test({
  name: "bytes go to the destination of the port's rule, with TLS by server name, ended at the gateway or passed on",
  ignore,
  fn: () =>
    withSocket(async (socket, folder) => {
      const plain = `${folder}/plain.sock`;
      const to = (host: string) => ({ route: [{ destination: { host, port: { number: 1 } } }] });
      const documents = [
        gateway([
          server(plain, "TCP", "tcp", ["*"]),
          server(socket, "TLS", "ends", ["ends.com"], { mode: "SIMPLE", ...files }),
          server(socket, "TLS", "passes", ["*.passes.com"], { mode: "PASSTHROUGH" }),
        ]),
        virtualService("tcp", ["plain.com"], { tcp: [to("first.svc")] }),
        virtualService("passes", ["a.passes.com"], {
          tls: [{ match: [{ sniHosts: ["a.passes.com"] }], ...to("tls.svc") }],
        }),
      ];
      const secure = { cert: await Deno.readTextFile(`${pem}cert.pem`), key: await Deno.readTextFile(`${pem}key.pem`) };
      const running = [await echo("first"), await echo("tls", secure)] as const;
      const clusters = [clusterOf("outbound|1||first.svc", running[0]), clusterOf("outbound|1||tls.svc", running[1])];
      try {
        // The TLS-ending server accepts only its own hosts, so its rule needs these hosts.
        const all = [...documents, virtualService("ends", ["ends.com"], { tcp: [to("first.svc")] })];
        await withEnvoy(binary!, served(all, clusters), async () => {
          assert.equal(await exchange({ socket: plain }, "hello"), "first hello");
          assert.equal(await exchange({ socket, tls: { servername: "ends.com" } }, "hello"), "first hello");
          assert.equal(await exchange({ socket, tls: { servername: "a.passes.com" } }, "hello"), "tls hello");
          await assert.rejects(exchange({ socket, tls: { servername: "b.passes.com" } }, "hello"));
        });
      } finally {
        for (const listener of running) listener.close();
      }
    }),
});

/** The secrets for a proxy in namespace `edge`, from a Secret in the namespace with all of `files`. */
function credential(names: readonly string[]): Served["secrets"] {
  const text = (name: string) => Deno.readTextFileSync(`${pem}${name}.pem`);
  const stringData = { "tls.crt": text("cert"), "tls.key": text("key"), "ca.crt": text("root") };
  const tree = { apiVersion: "v1", kind: "Secret", metadata: { namespace: "edge", name: "web" }, stringData };
  const { fact } = readFact("Secret", tree, inFile("test"), { digestKey: new Uint8Array(32) });
  const facts = new FactStore();
  facts.addSource("test", 0).apply({ upserted: [fact!], removed: [] });
  const refused = () => assert.fail("nothing is refused");
  const own = new Credentials({ facts, table: new ResourceTable(), refused }).open(
    { namespace: "edge", name: "gw" },
    () => {},
  );
  own.want(names);
  return [...own.set].map(({ value }) => decode("envoy.extensions.transport_sockets.tls.v3.Secret", value));
}

Deno.test({
  name: "a server with a credential by name serves its certificate; in mode MUTUAL it refuses clients without one",
  ignore,
  fn: () =>
    withSocket(async (socket) => {
      const documents = [
        { kind: "World", properties: { agent: true } },
        gateway([
          server(socket, "HTTPS", "simple", ["simple.com"], { mode: "SIMPLE", credentialName: "web" }),
          server(socket, "HTTPS", "mutual", ["mutual.com"], { mode: "MUTUAL", credentialName: "web" }),
        ]),
        virtualService("all", ["simple.com", "mutual.com"], { http: [answers("in")] }),
      ];
      const secrets = credential(["kubernetes://web", "kubernetes://web-cacert"]);
      await withEnvoy(binary!, { ...served(documents), secrets: secrets ?? [] }, async () => {
        const get = (servername: string, tls: object = {}) =>
          request({ socket, tls: { servername, ...tls } }, servername, "/").then(reported, () => "refused");
        const own = { cert: await Deno.readTextFile(`${pem}cert.pem`), key: await Deno.readTextFile(`${pem}key.pem`) };
        assert.deepEqual(
          [await get("simple.com"), await get("mutual.com"), await get("mutual.com", own)],
          ["200 in", "refused", "200 in"],
        );
      });
    }),
});
