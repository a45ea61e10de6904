/**
 * Takes log lines of the plugin, which runs as many short processes, over a socket in the run folder, and writes them as
 * this program's own, under the scope `cni-plugin`.
 *
 * Permissions: read and write (the socket's path).
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import { isObject, type JsonObject } from "../config/network.ts";

/** Most bytes of one request: a call has a few lines. */
const MAX_BODY = 1024 * 1024;

/** A socket that is served. */
export interface LogSocket {
  stop(): Promise<void>;
}

/**
 * Serves `POST /log`: an array of texts, each a line as JSON.
 *
 * @throws When the socket cannot be made.
 */
export function serveLogSocket(path: string, log: Logger): LogSocket {
  removeSocket(path);
  const onError = (error: unknown) => {
    log.warn("lines of the plugin could not be taken", { error });
    return new Response("", { status: 500 });
  };
  const server = Deno.serve({ path, onListen() {}, onError }, (request) => takeLines(request, log));
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
