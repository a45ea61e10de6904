/** Values of labels in rare cases: retries, answers of proxies, nonsensical headers, gRPC, unknown hosts. */
import assert from "node:assert/strict";
import { Client, credentials, Server, ServerCredentials, status } from "@grpc/grpc-js";
import { peerMetadata } from "../../lib/agent/node/peer_metadata.ts";
import { withPorts } from "../../scripts/ports.ts";
import { Authority, openssl } from "../certificates.ts";
import { askWith, headerEcho } from "./support/header_echo.ts";
import { writeIdentity } from "./support/identity_files.ts";
import { counted, entry, ingress, sidecar } from "./support/measured.ts";
import { envoyPath, testBothModes, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const ignore = path === undefined;

const meshConfig = { defaultProviders: { metrics: ["prometheus"] } };
const files = (objects: readonly object[]) =>
  Object.fromEntries(objects.map((object, i) => [`${i}.json`, JSON.stringify(object)]));

/** An application that refuses the first two requests per path, and accepts further requests. */
function refusesTwice() {
  const seen = new Map<string, number>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ url }) => {
    const { pathname } = new URL(url);
    const times = (seen.get(pathname) ?? 0) + 1;
    seen.set(pathname, times);
    return new Response("", { status: times > 2 ? 200 : 503 });
  });
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

const RETRIES = {
  apiVersion: "networking.istio.io/v1",
  kind: "VirtualService",
  metadata: { name: "app", namespace: "demo" },
  spec: {
    hosts: ["app.test"],
    http: [{
      route: [{ destination: { host: "app.test" } }],
      retries: { attempts: 3, retryOn: "5xx", perTryTimeout: "60s" },
    }],
  },
};

const DENIED = {
  apiVersion: "security.istio.io/v1",
  kind: "AuthorizationPolicy",
  metadata: { name: "denied", namespace: "demo" },
  spec: {
    selector: { matchLabels: { app: "server" } },
    action: "DENY",
    rules: [{ to: [{ operation: { paths: ["/denied"] } }] }],
  },
};

testBothModes({
  name:
    "a request that is tried again counts once at the client; an answer of the server's proxy says who it is; a header of nonsense is nobody",
  ignore,
  fn: (onDemand) =>
    withPorts(2, async ([here = 0, there = 0]) => {
      await using app = refusesTwice();
      const proxyHeaders = { metadataExchangeHeaders: { mode: "UNDEFINED" } };
      await using mesh = await TestMesh.start({
        onDemand,
        files: files([entry("app", here, "HTTP", there), ingress("server", "HTTP", there, app.port), RETRIES, DENIED]),
        meshConfig: { ...meshConfig, defaultConfig: { proxyHeaders } },
      });
      const server = await mesh.attach(path!, sidecar("server"), true);
      await server.ready(there);
      const client = await mesh.attach(path!, sidecar("client"), true);
      await client.ready(here);
      const at = { client: (code: number) => count(client, code), server: (code: number) => count(server, code) };
      const count = async (envoy: typeof client, code: number) =>
        (await counted(envoy, "requests_total", { response_code: `${code}`, destination_workload: "server" })).sum;

      assert.equal((await askWith(here, { path: "/again" })).status, 200);
      await until("both have counted", async () => await at.client(200) === 1 && await at.server(200) === 1);
      assert.deepEqual([await at.client(503), await at.server(503)], [0, 2]);

      assert.equal((await askWith(here, { path: "/denied" })).status, 403);
      await until("the refusal is counted", async () => await at.client(403) === 1 && await at.server(403) === 1);
      const { labels: [refused] } = await counted(server, "requests_total", { response_code: "403" });
      assert.equal(refused?.["source_workload"], "client");

      for (const header of ["%%%", btoa("no message"), ""]) {
        const answer = await askWith(there, { path: "/nonsense", headers: { "x-mesh-peer": header } });
        assert.notEqual(answer.status, 0);
      }
      const nobody = { source_workload: "unknown", source_workload_namespace: "unknown", source_app: "unknown" };
      await until("they are counted", async () => {
        return (await counted(server, "requests_total", { ...nobody, source_canonical_revision: "latest" })).sum === 3;
      });
      await mesh.settled();
    }),
});

Deno.test({
  name:
    "headers in which the proxy gathers facts are its own: a client's are not believed, and none reaches the application",
  ignore,
  fn: () =>
    withPorts(2, async ([here = 0, there = 0]) => {
      const seen: string[] = [];
      const app = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ headers }) => {
        seen.push(...[...headers.keys()].filter((name) => name.startsWith("x-mesh")));
        return new Response("", { headers: FORGED_ANSWER });
      });
      try {
        await using mesh = await TestMesh.start({
          files: files([entry("app", here, "HTTP", there), ingress("server", "HTTP", there, app.addr.port)]),
          meshConfig,
        });
        const server = await mesh.attach(path!, sidecar("server"), true);
        await server.ready(there);
        const client = await mesh.attach(path!, sidecar("client"), true);
        await client.ready(here);
        assert.equal((await askWith(here, { path: "/", headers: FORGED })).status, 200);
        assert.equal((await askWith(there, { path: "/", headers: FORGED })).status, 200);
        for (const [envoy, requests] of [[client, 1], [server, 2]] as const) {
          await until("they are counted", async () => (await counted(envoy, "requests_total", {})).sum === requests);
          const { labels } = await counted(envoy, "requests_total", {});
          assert.equal(labels.flatMap((one) => Object.values(one)).some((value) => /forged/.test(value)), false);
          assert.deepEqual(
            new Set(labels.map((one) => one["connection_security_policy"])),
            new Set([envoy === server ? "none" : "unknown"]),
          );
        }
        assert.deepEqual(seen, []);
        await mesh.settled();
      } finally {
        await app.shutdown();
      }
    }),
});

/** Headers of the filters, with forged facts. */
const FORGED = {
  "x-mesh-of-self": btoa("forged"),
  "x-mesh-of-service": "forged.test;forged;forged",
  "x-mesh-of-certificate": "spiffe://cluster.local/ns/forged/sa/forged",
  "x-mesh-of-tls": "forged",
};

/** The same, with the header for answers only. */
const FORGED_ANSWER = { ...FORGED, "x-mesh-of-endpoint": "forged;forged;forged;forged;forged" };

const GRPC = {
  path: "/shop.Cart/Add",
  requestStream: false,
  responseStream: false,
  requestSerialize: (value: Buffer) => value,
  requestDeserialize: (value: Buffer) => value,
  responseSerialize: (value: Buffer) => value,
  responseDeserialize: (value: Buffer) => value,
} as const;

testBothModes({
  name: "calls of gRPC are counted as such, with the status that the application gives",
  ignore,
  fn: (onDemand) =>
    withPorts(2, async ([here = 0, there = 0]) => {
      const application = new Server();
      application.addService({ add: GRPC }, {
        add: ({ request }: { request: Buffer }, answer: (error: object | null, value?: Buffer) => void) =>
          request.length > 0 ? answer(null, request) : answer({ code: status.FAILED_PRECONDITION, details: "empty" }),
      });
      const port = await new Promise<number>((resolve, reject) =>
        application.bindAsync(
          "127.0.0.1:0",
          ServerCredentials.createInsecure(),
          (error, bound) => error ? reject(error) : resolve(bound),
        )
      );
      const caller = new Client(`127.0.0.1:${here}`, credentials.createInsecure(), {
        "grpc.default_authority": "app.test",
      });
      try {
        await using mesh = await TestMesh.start({
          onDemand,
          files: files([entry("app", here, "GRPC", there), ingress("server", "GRPC", there, port)]),
          meshConfig,
        });
        const server = await mesh.attach(path!, sidecar("server"), true);
        await server.ready(there);
        const client = await mesh.attach(path!, sidecar("client"), true);
        await client.ready(here);
        const call = (text: string) =>
          new Promise<number>((resolve) =>
            caller.makeUnaryRequest(
              GRPC.path,
              GRPC.requestSerialize,
              GRPC.responseDeserialize,
              Buffer.from(text),
              (error) => resolve(error?.code ?? status.OK),
            )
          );
        assert.deepEqual([await call("one"), await call("")], [status.OK, status.FAILED_PRECONDITION]);
        for (const envoy of [client, server]) {
          for (const grpc_response_status of [`${status.OK}`, `${status.FAILED_PRECONDITION}`]) {
            const labels = { request_protocol: "grpc", response_code: "200", grpc_response_status };
            await until("it is counted", async () => (await counted(envoy, "requests_total", labels)).sum === 1);
          }
        }
        await mesh.settled();
      } finally {
        caller.close();
        application.forceShutdown();
      }
    }),
});

const STRANGERS = [
  { mode: "REGISTRY_ONLY", name: "BlackHoleCluster" },
  { mode: "ALLOW_ANY", name: "PassthroughCluster" },
];

for (const { mode, name } of STRANGERS) {
  testBothModes({
    name: `requests to hosts that nobody knows count for ${name} under ${mode}`,
    ignore,
    fn: (onDemand) =>
      withPorts(1, async ([port = 0]) => {
        await using mesh = await TestMesh.start({
          onDemand,
          files: {},
          meshConfig: { ...meshConfig, outboundTrafficPolicy: { mode } },
        });
        const identity = sidecar("client");
        const metadata = { ...identity.metadata, HTTP_PROXY_PORT: port };
        const envoy = await mesh.attach(path!, { ...identity, metadata }, true);
        await envoy.ready(port);
        await askWith(port, { headers: { host: "stranger.test" } });
        const labels = { destination_service_name: name, destination_service: "stranger.test", reporter: "source" };
        await until("it is counted", async () => (await counted(envoy, "requests_total", labels)).sum === 1);
        await mesh.settled();
      }),
  });
}

testBothModes({
  name: "the namespace of a peer is that of its certificate, on both sides, whatever its header says",
  ignore: ignore || !openssl,
  fn: (onDemand) =>
    withPorts(2, async ([here = 0, there = 0]) => {
      const folder = await Deno.makeTempDir({ prefix: "mesh-peers-" });
      const authority = await Authority.make("mesh");
      try {
        await using app = headerEcho();
        const attached = async (name: string, side: "CLIENT" | "SERVER") => {
          const names = [["URI", `spiffe://cluster.local/ns/demo/sa/${name}`]] as const;
          const identity = await writeIdentity(
            folder,
            name,
            await authority.sign(name, 1, names),
            authority.certificate,
          );
          const parts = { workload: name, cluster: "c1", labels: { app: name }, additional: [] };
          const metadata = { ...identity(side), MESH_PEER: peerMetadata({ ...parts, namespace: "forged" }) };
          return mesh.attach(path!, { ...sidecar(name), metadata }, true);
        };
        const service = entry("app", here, "HTTP", there) as { spec: { endpoints: object[] } };
        const [endpoint] = service.spec.endpoints;
        const identified = { ...endpoint, serviceAccount: "server", labels: { "security.istio.io/tlsMode": "istio" } };
        await using mesh = await TestMesh.start({
          onDemand,
          files: files([
            { ...service, spec: { ...service.spec, endpoints: [identified] } },
            ingress("server", "HTTP", there, app.port),
          ]),
          meshConfig,
        });
        const server = await attached("server", "SERVER");
        await server.ready(there);
        const client = await attached("client", "CLIENT");
        await client.ready(here);
        assert.equal((await askWith(here)).status, 200);
        const both = { source_workload: "client", destination_workload: "server", response_code: "200" };
        const sides = [[client, { destination_workload_namespace: "demo" }], [server, {
          source_workload_namespace: "demo",
        }]] as const;
        for (const [envoy, namespace] of sides) {
          await until("it is counted", async () => (await counted(envoy, "requests_total", both)).sum === 1);
          assert.equal((await counted(envoy, "requests_total", { ...both, ...namespace })).sum, 1);
        }
        // Each proxy reports its own facts as configured.
        assert.equal((await counted(client, "requests_total", { source_workload_namespace: "forged" })).sum, 1);
        await mesh.settled();
      } finally {
        await authority.remove();
        await Deno.remove(folder, { recursive: true });
      }
    }),
});
