import assert from "node:assert/strict";
import { HealthService } from "../../../lib/grpc/health.ts";
import { GrpcServer } from "../../../lib/grpc/server.ts";
import type { AppProber } from "../../../lib/config/agent_texts/app_probers.ts";
import { MAX_PROBE_BODY } from "../../../lib/agent/probes/http_answer.ts";
import { probePages, type ProbeRoutesInput } from "../../../lib/agent/status/probe_routes.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { listen } from "../../../lib/sockets/listen/tcp.ts";
import { SocketTransport } from "../../../lib/sockets/transport/socket.ts";
import { TestAuthority } from "../support/authority.ts";
import { answering, application, type OpenPort, servePages } from "../support/status_pages.ts";
import { PATIENCE } from "../../patience.ts";

const PATH = "/app-health/cart/livez";
const STATUS_PORT = 15020;

/** The pages of a single probe. */
async function pagesOf(
  probe: AppProber["probe"],
  more: Partial<ProbeRoutesInput> & { readonly timeout?: number } = {},
): Promise<OpenPort> {
  const prober = { probe, timeout: more.timeout ?? PATIENCE };
  const pages = probePages({
    probers: new Map([[PATH, prober]]),
    ...{ host: "127.0.0.1", statusPort: STATUS_PORT, http2: true, keepAlive: false },
    ...{ clock: systemClock, log: silentLog().scope("probes") },
    ...more,
  });
  const served = await servePages(pages.routes);
  return {
    port: served.port,
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      pages.close();
    },
  };
}

const http = (port: number, target = "/", secure = false) => ({ type: "http", port, target, secure }) as const;

async function ask({ port }: OpenPort, headers: Record<string, string> = {}, path = PATH) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  return { status: response.status, body: await response.text() };
}

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfine";

Deno.test("an HTTP probe comes from the address that is not redirected, with the caller's headers, and answers with the application's", async () => {
  await using app = await answering(OK.replace("200 OK", "418 Teapot"));
  await using pages = await pagesOf(http(app.port, "/well?a=1"));
  const answer = await ask(pages, { "user-agent": "kube-probe/1.30", "x-token": "abc", accept: "*/*" });
  assert.deepEqual(answer, { status: 418, body: "fine" });
  assert.deepEqual(app.hosts, ["127.0.0.6"]);
  const [request = ""] = app.requests;
  assert.match(request, /^GET \/well\?a=1 HTTP\/1\.1\r\n/);
  for (const line of ["user-agent: kube-probe/1.30", "x-token: abc", "accept: */*", "connection: close"]) {
    assert.ok(request.includes(`\r\n${line}\r\n`), `${line} in ${request}`);
  }
  assert.equal(request.match(/^host:/gim)?.length, 1);
});

Deno.test("a probe's host keeps its name; the agent's port in it becomes the application's", async () => {
  await using app = await answering(OK);
  await using own = await servePages([]);
  const host = async (statusPort: number) => {
    await using pages = await pagesOf(http(app.port), { statusPort });
    await ask(pages);
    return { asked: pages.port, host: /^host: (.*)\r$/m.exec(app.requests.at(-1) ?? "")?.[1] };
  };
  const other = await host(own.port);
  assert.equal(other.host, `127.0.0.1:${other.asked}`);
  await using pages = await pagesOf(http(app.port));
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: pages.port });
  for (const [given, passed] of [["cart.test:15020", `cart.test:${app.port}`], ["cart.test", "cart.test"]]) {
    await connection.write(new TextEncoder().encode(`GET ${PATH} HTTP/1.1\r\nHost: ${given}\r\n\r\n`));
    await connection.read(new Uint8Array(1000));
    assert.equal(/^host: (.*)\r$/m.exec(app.requests.at(-1) ?? "")?.[1], passed);
  }
});

Deno.test("HTTPS probes accept any certificate, and use HTTP/2 if it is allowed", async () => {
  const { certificate, privateKey } = await (await TestAuthority.make()).serverCertificate("nobody.test");
  const versions: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert: String(certificate), key: String(privateKey), onListen() {} },
    (request) => {
      versions.push(`${request.headers.get("x-probe")} ${new URL(request.url).pathname}`);
      return new Response("x".repeat(100_000), { status: 201 });
    },
  );
  for (const http2 of [true, false]) {
    for (const keepAlive of [true, false]) {
      await using pages = await pagesOf(http(server.addr.port, "/s", true), { http2, keepAlive });
      for (let i = 0; i < 2; i++) {
        const { status, body } = await ask(pages, { "x-probe": String(http2) });
        assert.deepEqual([status, body.length], [201, MAX_PROBE_BODY]);
      }
    }
  }
  assert.equal(versions.length, 8);
  await server.shutdown();
});

Deno.test("a connection is kept between probes only if configured, and a connection closed by the application is made anew", async () => {
  const keep = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine";
  for (const [keepAlive, connections] of [[true, 1], [false, 3]] as const) {
    await using app = await answering(keep);
    await using pages = await pagesOf(http(app.port), { keepAlive });
    for (let i = 0; i < 3; i++) assert.equal((await ask(pages)).status, 200);
    assert.equal(app.hosts.length, connections, `kept: ${keepAlive}`);
  }
  let answers = 0;
  await using app = await application((socket) =>
    socket.on("data", () => {
      answers++;
      socket.write(keep);
      setTimeout(() => socket.destroy());
    })
  );
  await using pages = await pagesOf(http(app.port), { keepAlive: true });
  for (let i = 0; i < 3; i++) assert.equal((await ask(pages)).status, 200);
  assert.equal(answers, 3);
});

Deno.test("redirects are followed on the same host, ten requests long; one elsewhere is a success", async () => {
  await using last = await answering(OK);
  const to = (location: string, code = 302) =>
    `HTTP/1.1 ${code} Found\r\nContent-Length: 0\r\nConnection: close\r\n${
      location && `Location: ${location}\r\n`
    }\r\n`;
  const cases: readonly (readonly [string, number, string])[] = [
    [to(`http://127.0.0.1:${last.port}/x`), 200, "fine"],
    [to(`//127.0.0.1:${last.port}/x`, 308), 200, "fine"],
    [to("http://elsewhere.test/x"), 200, ""],
    [to("http://169.254.169.254/latest/"), 200, ""],
    [to(""), 200, ""],
    [to("/x", 304), 200, ""],
    [to("/round"), 500, "10 redirects led to no answer\n"],
    [to("http://[x/"), 500, 'a redirect to "http://[x/", which is not a URL\n'],
    [to("ftp://127.0.0.1/x"), 500, 'a redirect to "ftp://127.0.0.1/x", expected http or https\n'],
  ];
  for (const [response, status, body] of cases) {
    await using app = await answering(response);
    await using pages = await pagesOf(http(app.port));
    assert.deepEqual(await ask(pages), { status, body }, response);
  }
});

Deno.test("an application that hangs, breaks off or never ends costs its time or its first bytes", async () => {
  const cases: readonly (readonly [string, number, RegExp])[] = [
    ["", 500, /no answer within 0\.3 s/],
    ["HTTP/1.1 200 OK\r\nContent-Le", 500, /no answer within 0\.3 s/],
    ["HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", 500, /no answer within 0\.3 s/],
    ["garbage\r\n\r\n", 500, /not an HTTP\/1 response/],
    [`HTTP/1.1 200 OK\r\nX: ${"x".repeat(100_000)}`, 500, /longer than 65536 bytes/],
    ["HTTP/1.1 200 OK\r\nContent-Type: a\x80b\r\nContent-Length: 2\r\n\r\nok", 200, /ok/],
  ];
  for (const [response, status, body] of cases) {
    await using app = await answering(response);
    await using pages = await pagesOf(http(app.port), body.source.includes("within") ? { timeout: 300 } : {});
    const answer = await ask(pages);
    assert.equal(answer.status, status, response.slice(0, 50));
    assert.match(answer.body, body);
  }
  let isOver = false;
  await using endless = await application((socket) => {
    socket.once("close", () => isOver = true);
    const more = () => {
      while (!socket.destroyed && socket.write("x".repeat(60_000)));
    };
    socket.on("drain", more);
    socket.once("data", () => (socket.write("HTTP/1.1 200 OK\r\n\r\n"), more()));
  });
  await using pages = await pagesOf(http(endless.port));
  assert.equal((await ask(pages)).body.length, MAX_PROBE_BODY);
  while (!isOver) await new Promise((resolve) => setTimeout(resolve, 5));
});

Deno.test("a probe ends when its caller goes away", async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  await using app = await application((socket) => socket.resume().once("close", () => resolve()));
  await using pages = await pagesOf(http(app.port), { timeout: 3_600_000 });
  const caller = new AbortController();
  const asked = fetch(`http://127.0.0.1:${pages.port}${PATH}`, { signal: caller.signal });
  while (app.hosts.length === 0) await new Promise((wait) => setTimeout(wait, 5));
  caller.abort();
  await assert.rejects(asked);
  await closed;
});

Deno.test("a TCP probe needs a connection, nothing more", async () => {
  const app = await application(() => {});
  await using pages = await pagesOf({ type: "tcp", port: app.port });
  assert.equal((await ask(pages)).status, 200);
  await app[Symbol.asyncDispose]();
  const refused = await ask(pages);
  assert.equal(refused.status, 500);
  assert.match(refused.body, /ECONNREFUSED|refused/);
  assert.deepEqual(app.hosts, ["127.0.0.6"]);
});

Deno.test("a gRPC probe is served when the service says so", async () => {
  const health = new HealthService();
  health.set("", "SERVING");
  health.set("cart", "NOT_SERVING");
  const withHealth = new GrpcServer([health.service]);
  const without = new GrpcServer([]);
  const listeners = await Promise.all(
    [withHealth, without].map((server) =>
      listen({ host: "127.0.0.1", port: 0 }, (socket) => server.accept(new SocketTransport(socket)))
    ),
  );
  const [{ port: served = 0 } = {}, { port: unserved = 0 } = {}] = listeners;
  await using silent = await application(() => {});
  const cases = [
    [served, "", 200, /^$/],
    [served, "cart", 500, /NOT_SERVING/],
    [served, "unknown", 500, /NotFound: unknown service/],
    [unserved, "", 500, /no service grpc\.health\.v1\.Health/],
    [silent.port, "", 500, /no answer within 0\.5 s/],
  ] as const;
  for (const [port, service, status, body] of cases) {
    const limit = port === silent.port ? { timeout: 500 } : {};
    await using pages = await pagesOf({ type: "grpc", port, service }, limit);
    const answer = await ask(pages);
    assert.equal(answer.status, status, service);
    assert.match(answer.body, body);
  }
  for (const listener of listeners) await listener.close();
  for (const server of [withHealth, without]) await server.stop(0);
});

Deno.test("a path without a probe is a bad request, whatever it holds", async () => {
  await using pages = await pagesOf({ type: "tcp", port: 1 });
  for (const path of ["/app-health/cart/readyz", "/app-lifecycle/x/prestopz", "/app-health/__proto__/livez"]) {
    assert.equal((await ask(pages, {}, path)).status, 400, path);
  }
});
