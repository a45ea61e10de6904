/**
 * What the plugin, which runs as many short processes, has of the node agent over a socket in the run folder, when there
 * is one: its log lines are written as this program's own, under the scope `cni-plugin`; pods are looked up over a
 * connection that is there already. (A process of its own spends more on TLS than on anything else.)
 *
 * Permissions: read and write (the socket's path).
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import { isObject, type JsonObject } from "../config/network.ts";
import { type PodLookup, PodSourceError } from "../pods/source.ts";

/** Most bytes of one request: a call has a few lines. */
const MAX_BODY = 1024 * 1024;

/** A socket that is served. */
export interface LogSocket {
  stop(): Promise<void>;
}

/**
 * Serves `POST /log`: an array of texts, each a line as JSON; `GET /pods/<namespace>/<name>` and `GET
 * /namespaces/<name>`: what the orchestrator answers, or `null`.
 *
 * @throws When the socket cannot be made.
 */
export function serveLogSocket(path: string, log: Logger, pods: PodLookup): LogSocket {
  removeSocket(path);
  const onError = (error: unknown) => {
    log.warn("lines of the plugin could not be taken", { error });
    return new Response("", { status: 500 });
  };
  const server = Deno.serve(
    { path, onListen() {}, onError },
    (request) => request.method === "GET" ? lookUp(new URL(request.url).pathname, pods) : takeLines(request, log),
  );
  Deno.chmodSync(path, 0o600);
  const mine = Deno.lstatSync(path).ino;
  return {
    async stop() {
      await server.shutdown();
      // The next installer may have made its own socket there already.
      if (inodeOf(path) === mine) removeSocket(path);
    },
  };
}

async function takeLines(request: Request, log: Logger): Promise<Response> {
  if (request.method !== "POST" || new URL(request.url).pathname !== "/log") return new Response("", { status: 404 });
  if (Number(request.headers.get("content-length") ?? "0") > MAX_BODY) return new Response("", { status: 413 });
  let lines: unknown;
  try {
    lines = JSON.parse(await request.text());
  } catch {
    return new Response("expected JSON\n", { status: 400 });
  }
  if (!Array.isArray(lines)) return new Response("expected an array\n", { status: 400 });
  for (const line of lines) if (typeof line === "string") writeLine(line, log);
  return new Response("");
}

async function lookUp(path: string, pods: PodLookup): Promise<Response> {
  const [kind, first = "", second = "", ...more] = path.slice(1).split("/").map(decodeURIComponent);
  try {
    if (kind === "pods" && second !== "" && more.length === 0) {
      return Response.json(await pods.pod(first, second) ?? null);
    }
    if (kind === "namespaces" && second === "") return Response.json(await pods.namespaceLabels(first) ?? null);
    return new Response("", { status: 404 });
  } catch (error) {
    if (error instanceof PodSourceError) return new Response(error.message, { status: error.status ?? 504 });
    throw error;
  }
}

/** A line in its own level; one that is no JSON as it is. */
function writeLine(line: string, log: Logger): void {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = { msg: line };
  }
  const { level, msg, time: _time, scope: _scope, ...fields }: JsonObject = isObject(value) ? value : { msg: line };
  const text = typeof msg === "string" ? msg : line;
  const known = (["debug", "info", "warn", "error", "fatal"] as const).find((name) => name === level);
  log[known ?? "info"](text, fields);
}

function removeSocket(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function inodeOf(path: string): number | null | undefined {
  try {
    return Deno.lstatSync(path).ino;
  } catch {
    return undefined;
  }
}
