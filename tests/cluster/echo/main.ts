/**
 * A server and clients for tests in a cluster: one file without further files, in the image `local/echo:1`.
 *
 *     main.ts serve [--http PORT] [--tcp PORT]     HTTP: JSON about the request; TCP: the same bytes back;
 *             [--grpc PORT]                        gRPC: the health of the service "" (good) and of others (bad)
 *     main.ts load URL [--rate N] [--seconds N]    N requests a second until SIGTERM or the end;
 *                                                  --await-first: from the first success on;
 *                                                  --fresh: each request has a connection of its own
 *     main.ts get URL [--exit CODE] [--quit]       one request: status and body; --quit: then ends the proxy
 *
 * @module
 */
import { createServer, type ServerHttp2Stream } from "node:http2";

/** Time after which a request of the load counts as failed, ms. */
const TIMEOUT_MS = 10_000;

/** Failures that are printed one by one. */
const SHOWN_FAILURES = 20;

const [command = "", ...rest] = Deno.args;

/** The value of an option, or its default. */
function option(name: string, otherwise: number): number {
  const at = rest.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(rest[at + 1]);
}

function print(value: unknown): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(value)}\n`));
}

/** Answers of the services that this service calls: the URLs of the variable CALLS, with commas between. */
async function calls(): Promise<readonly { readonly url: string; readonly version: string }[]> {
  const urls = (Deno.env.get("CALLS") ?? "").split(",").filter((url) => url !== "");
  return await Promise.all(urls.map(async (url) => {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new Error(`${url}: status ${response.status}`);
    return { url, version: (await response.json()).version };
  }));
}

/** A request in words, and who answers. */
async function answer(request: Request): Promise<Response> {
  const url = new URL(request.url);
  const status = Number(url.searchParams.get("status") ?? 200);
  const delay = Number(url.searchParams.get("delay") ?? 0);
  if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
  const called = url.pathname === "/ready" ? [] : await calls().catch((error) => error as Error);
  if (called instanceof Error) return Response.json({ error: called.message }, { status: 502 });
  const body = {
    pod: Deno.env.get("POD_NAME") ?? Deno.hostname(),
    version: Deno.env.get("VERSION") ?? "",
    method: request.method,
    path: url.pathname + url.search,
    headers: Object.fromEntries(request.headers),
    ...called.length === 0 ? {} : { calls: called },
    body: (await request.text()).slice(0, 1000),
  };
  return Response.json(body, { status });
}

/** Answers `grpc.health.v1.Health/Check`. A request without bytes is about the whole server. */
function serveHealth(port: number): void {
  const server = createServer();
  server.on("stream", (stream: ServerHttp2Stream) => {
    let bytes = 0;
    stream.on("data", (chunk: Uint8Array) => void (bytes += chunk.length));
    stream.on("end", () => {
      const [frame, good, bad] = [5, 1, 2];
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(Uint8Array.of(0, 0, 0, 0, 2, 8, bytes > frame ? bad : good));
    });
  });
  server.listen(port, "0.0.0.0");
}

/** Serves until SIGTERM, then answers what has begun and ends. */
async function serve(): Promise<void> {
  const http = Deno.serve({ port: option("http", 8080), hostname: "0.0.0.0", onListen: () => {} }, answer);
  const tcp = Deno.listen({ port: option("tcp", 9000), hostname: "0.0.0.0" });
  serveHealth(option("grpc", 9001));
  Deno.addSignalListener("SIGTERM", () => {
    tcp.close();
    void http.shutdown().then(() => Deno.exit(0));
  });
  print({ serving: { http: http.addr.port, tcp: (tcp.addr as Deno.NetAddr).port } });
  for await (const connection of tcp) {
    void connection.readable.pipeTo(connection.writable).catch(() => {});
  }
}

/** The counts of a load. */
interface Summary {
  sent: number;
  done: number;
  failed: number;
  statuses: Record<string, number>;
  errors: Record<string, number>;
  /** Answers by the version of the answering pod. */
  versions: Record<string, number>;
  /** The first failures, each with its time. */
  failures: { at: string; error: string }[];
  /** Hashes of the client certificates in the answers. */
  certificates: string[];
  /** Longest time of an answer, ms. */
  slowestMs: number;
}

async function one(url: string, summary: Summary, client?: Deno.HttpClient): Promise<void> {
  const started = performance.now();
  const at = new Date().toISOString();
  summary.sent++;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), ...client && { client } });
    const text = await response.text();
    count(summary.statuses, String(response.status));
    count(summary.versions, /"version":"([^"]*)"/.exec(text)?.[1] ?? "");
    const hash = /Hash=([0-9a-f]{64})/.exec(text)?.[1];
    if (hash !== undefined && !summary.certificates.includes(hash)) summary.certificates.push(hash);
    if (!response.ok) {
      fail(summary, at, `status ${response.status}: ${text.slice(0, 200)}`, `status ${response.status}`);
    }
  } catch (error) {
    const text = String(error);
    fail(summary, at, text, text.replace(/[\d.:]{5,}/g, "ADDRESS").slice(0, 200));
  }
  summary.done++;
  summary.slowestMs = Math.max(summary.slowestMs, Math.round(performance.now() - started));
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

function fail(summary: Summary, at: string, error: string, kind: string): void {
  summary.failed++;
  count(summary.errors, kind);
  if (summary.failures.length < SHOWN_FAILURES) summary.failures.push({ at, error });
}

/**
 * Sends requests at a steady rate, whatever the answers do: a request that waits does not hold up the next request.
 * Prints the counts so far once a second, and the summary at the end.
 */
async function load(url: string): Promise<void> {
  const [rate, seconds] = [option("rate", 100), option("seconds", Infinity)];
  const summary: Summary = {
    ...{ sent: 0, done: 0, failed: 0, statuses: {}, errors: {}, versions: {}, failures: [], certificates: [] },
    slowestMs: 0,
  };
  if (rest.includes("--await-first")) await succeeded(url);
  const client = rest.includes("--fresh") ? Deno.createHttpClient({ poolMaxIdlePerHost: 0 }) : undefined;
  const running = new Set<Promise<void>>();
  const started = performance.now();
  let stopped = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, () => void (stopped = true));
  for (let shown = 0; !stopped;) {
    const passed = (performance.now() - started) / 1000;
    if (passed >= seconds) break;
    while (summary.sent < Math.min(passed, seconds) * rate) {
      const request = one(url, summary, client).finally(() => running.delete(request));
      running.add(request);
    }
    if (Math.floor(passed) > shown) {
      shown = Math.floor(passed);
      const { sent, done, failed, certificates } = summary;
      print({ second: shown, sent, done, failed, certificates: certificates.length });
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(running);
  print({ summary });
  Deno.exit(0);
}

/** Resolves when a request succeeds. */
async function succeeded(url: string): Promise<void> {
  const signal = () => AbortSignal.timeout(TIMEOUT_MS);
  while (
    !await fetch(url, { signal: signal() }).then((response) => response.text().then(() => response.ok), () => false)
  ) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function get(url: string): Promise<void> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    print({ status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() });
  } catch (error) {
    print({ status: 0, error: String(error) });
  }
  if (rest.includes("--quit")) {
    await fetch("http://127.0.0.1:15020/quitquitquit", { method: "POST" }).then((answer) => answer.text());
  }
  const code = option("exit", 0);
  if (code !== 0) Deno.exit(code);
}

if (command === "serve") await serve();
else if (command === "load") await load(rest[0] ?? "");
else if (command === "get") await get(rest[0] ?? "");
else {
  console.error("expected serve, load URL or get URL");
  Deno.exit(2);
}
