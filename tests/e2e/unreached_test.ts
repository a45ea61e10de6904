/**
 * Calls of a service while the application of one replica has closed its port, but callers do not know yet: real Envoys
 * retry calls that reached no application, and only these calls.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { withPorts } from "../../scripts/ports.ts";
import { counted, entry, ingress, sidecar } from "./support/measured.ts";
import { envoyPath, testBothModes, type TestEnvoy, TestMesh } from "./support/mesh.ts";

const path = envoyPath();
const REQUESTS = 20;
/** The first attempt and the default number of retries. */
const MOST_ATTEMPTS = 3;

/** An application, with the paths of the requests that the application got. */
interface Application extends AsyncDisposable {
  readonly port: number;
  readonly got: readonly string[];
}

/** Starts an application. The answer comes after the whole request. */
async function application(answer: (response: http.ServerResponse) => void): Promise<Application> {
  const got: string[] = [];
  const server = http.createServer((request, response) => {
    got.push(request.url ?? "");
    request.resume().on("end", () => answer(response));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    got,
    port: (server.address() as net.AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const serves = () => application((response) => void response.end("served"));

interface Answer {
  readonly status: number;
  readonly grpcStatus: string | undefined;
}

/** A request with a body, on a new connection. */
function call(port: number, url: string, headers: http.OutgoingHttpHeaders = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const options = { host: "127.0.0.1", port, path: url, method: "POST", agent: false, headers };
  const request = http.request({ ...options, headers: { host: "app.test", ...headers } }, (response) => {
    response.resume().on("end", () => {
      const said = response.headers["grpc-status"];
      resolve({ status: response.statusCode ?? 0, grpcStatus: said === undefined ? undefined : String(said) });
    });
  });
  request.on("error", reject).end("body");
  return promise;
}

/** Sends requests one after another. Returns the answers. */
async function calls(port: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let i = 0; i < REQUESTS; i++) answers.push(await call(port, `/${i}`));
  return answers;
}

/** A counter of an Envoy. */
async function counter(envoy: TestEnvoy, name: string): Promise<number> {
  const text = await envoy.admin(`stats?filter=${encodeURIComponent(`${name}$`)}`) ?? "";
  return [...text.matchAll(/: (\d+)$/gm)].reduce((sum, [, value]) => sum + Number(value), 0);
}

interface Replicas {
  /** Port of the service at the caller. */
  readonly port: number;
  readonly caller: TestEnvoy;
  readonly servers: readonly TestEnvoy[];
}

/** Starts a caller's Envoy, and an Envoy in front of each port of an application. */
async function withReplicas(
  applications: readonly (number | undefined)[],
  run: (replicas: Replicas) => Promise<void>,
  onDemand = false,
) {
  await withPorts(2 + 2 * applications.length, async ([port = 0, closed = 0, ...ports]) => {
    const names = applications.map((_, i) => `server${i}`);
    const service = entry("app", port, "HTTP", ports[0]!) as { spec: { endpoints: unknown[] } };
    service.spec.endpoints = names.map((_, i) => ({ address: "127.0.0.1", ports: { http: ports[i] } }));
    const files = Object.fromEntries(
      names.map((name, i) =>
        [`${name}.json`, JSON.stringify(ingress(name, "HTTP", ports[i]!, applications[i] ?? closed))] as const
      ),
    );
    await using mesh = await TestMesh.start({
      onDemand,
      files: { ...files, "service.json": JSON.stringify(service) },
      meshConfig: { defaultProviders: { metrics: ["prometheus"] } },
    });
    const servers: TestEnvoy[] = [];
    for (const name of names) servers.push(await mesh.attach(path!, sidecar(name), true));
    const caller = await mesh.attach(path!, sidecar("caller"), true);
    await mesh.settled();
    for (const [i, server] of servers.entries()) await server.ready(ports[i]!);
    await caller.ready(port);
    await run({ port, caller, servers });
  });
}

testBothModes({
  name: "no request fails, and no application gets a request twice, while the application of a replica is closed",
  ignore: path === undefined,
  fn: async (onDemand) => {
    await using open = await serves();
    await withReplicas([open.port, undefined], async ({ port, caller }) => {
      assert.deepEqual([...new Set((await calls(port)).map(({ status }) => status))], [200]);
      assert.equal(new Set(open.got).size, REQUESTS);
      assert.equal(open.got.length, REQUESTS);
      assert.ok(await counter(caller, "upstream_rq_retry_success") > 0, "no request met the closed application");
    }, onDemand);
  },
});

Deno.test({
  name: "a request that reached an application is not sent again, whether the application breaks off or answers 503",
  ignore: path === undefined,
  fn: async () => {
    for (
      const answer of [
        (response: http.ServerResponse) => void response.destroy(),
        (response: http.ServerResponse) => void response.writeHead(503).end(),
      ]
    ) {
      await using open = await serves();
      await using broken = await application(answer);
      await withReplicas([open.port, broken.port], async ({ port }) => {
        const failed = (await calls(port)).filter(({ status }) => status !== 200);
        assert.ok(failed.length > 0, "no request met the broken application");
        assert.equal(failed.length, broken.got.length);
        assert.deepEqual([...new Set(failed.map(({ grpcStatus }) => grpcStatus))], [undefined]);
        assert.equal(open.got.length + broken.got.length, REQUESTS);
      });
    }
  },
});

Deno.test({
  name: "an application that says UNAVAILABLE itself gets a request as often as the retries of the caller say",
  ignore: path === undefined,
  fn: async () => {
    await using unavailable = await application((response) =>
      void response.writeHead(503, { "grpc-status": 14 }).end()
    );
    await withReplicas([unavailable.port], async ({ port }) => {
      assert.equal((await call(port, "/")).status, 503);
      assert.equal(unavailable.got.length, MOST_ATTEMPTS);
    });
  },
});

Deno.test({
  name: "while all applications are closed, a call fails after the default retries, for gRPC as UNAVAILABLE",
  ignore: path === undefined,
  fn: () =>
    withReplicas([undefined], async ({ port, caller, servers }) => {
      const attempts = () => counter(servers[0]!, "http\\.inbound_.*downstream_rq_total");
      assert.deepEqual(await call(port, "/"), { status: 503, grpcStatus: "14" });
      assert.equal(await attempts(), MOST_ATTEMPTS);
      // Metrics show the status of gRPC for calls of gRPC alone.
      const { labels } = await counted(caller, "requests_total", { response_code: "503" });
      assert.deepEqual(labels.map((series) => series["grpc_response_status"] ?? ""), [""]);
      assert.deepEqual(await call(port, "/", { "content-type": "application/grpc" }), {
        status: 200,
        grpcStatus: "14",
      });
      assert.equal(await attempts(), 2 * MOST_ATTEMPTS);
    }),
});
