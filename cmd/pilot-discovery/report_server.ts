/**
 * The parts of a report that a running server gives: its pages, its process, and the configuration of its proxies.
 *
 * Permissions: net (the addresses of the server).
 *
 * @module
 */
import * as z from "zod";
import { httpExchange } from "../../lib/cli/http.ts";
import { type ArchivePart, fileName } from "../../lib/offline/report/archive.ts";
import { type KnownVariables, shownVariable, withoutSecrets } from "../../lib/offline/report/secret_json.ts";
import { failureText } from "./answerer.ts";
import { askServer } from "./ask_server.ts";
import type { ReportScope } from "./report_scope.ts";

/** Longest page, in bytes. */
const MAX_PAGE = 64 * 1024 * 1024;

/** Longest time for a page, in milliseconds. */
const PAGE_TIME = 60_000;

const LIST = z.array(z.string().regex(/^[\w-]{1,60}$/)).max(1000);
const CONNECTIONS = z.looseObject({ clients: z.array(z.looseObject({ connectionId: z.string() })) });
const VARIABLES = z.array(z.object({ name: z.string(), value: z.string() }));

/** The pages of the process itself, on their own port. */
const PROCESS_PAGES = ["argj", "envj", "versionj", "procj", "memj"] as const;

/** The ports of a server. */
export interface ReportedServer {
  /** Of the debug pages. */
  readonly server: URL;
  /** Of the metrics. */
  readonly monitoring: URL;
  /** Of the process itself. */
  readonly introspection: URL;
}

/**
 * The parts of a server.
 *
 * @throws {UsageError} when no discovery server answers
 */
export async function* serverParts(
  { server, monitoring, introspection }: ReportedServer,
  scope: ReportScope,
): AsyncGenerator<ArchivePart> {
  const pages = LIST.parse(await askServer("GET", new URL("/debug/list", server)));
  for (const page of pages) yield* partOf(new URL(`/debug/${page}`, server), `server/${fileName(page)}`, scope);
  for (const page of ["version", "metrics"]) yield* partOf(new URL(`/${page}`, monitoring), `server/${page}`, scope);
  for (const page of PROCESS_PAGES) {
    yield* partOf(new URL(`/${page}`, introspection), `server/process/${page.slice(0, -1)}`, scope);
  }
  const { clients } = CONNECTIONS.parse(await askServer("GET", new URL("/debug/connections", server)));
  scope.connected = new Set(clients.map(({ connectionId }) => proxyOf(connectionId)));
  let left = scope.maxProxies;
  for (const { connectionId } of clients) {
    const name = proxyOf(connectionId);
    const namespace = name.slice(name.lastIndexOf(".") + 1);
    if (!scope.takes(namespace)) continue;
    if (left-- <= 0) {
      scope.failed("proxies", `more than ${scope.maxProxies} are connected: only the first are in the report`);
      return;
    }
    const url = new URL("/debug/config_dump?include_eds", server);
    url.searchParams.set("proxyID", connectionId);
    yield* partOf(url, `proxies/${fileName(namespace)}/${fileName(name)}`, scope);
  }
}

/** `POD.NAMESPACE` */
function proxyOf(connectionId: string): string {
  return connectionId.split("~")[2] ?? "";
}

/** A page; nothing when there is none. Why there is none is noted. */
async function* partOf(url: URL, path: string, scope: ReportScope): AsyncGenerator<ArchivePart> {
  if (scope.isOver()) return;
  try {
    const timeout = Math.max(1, Math.min(PAGE_TIME, scope.left()));
    const { status, body, headers } = await httpExchange({ method: "GET", url, timeout, maxBytes: MAX_PAGE });
    // Pages that need a query refuse without it, and are about a single thing.
    if (status === 400 || status === 405) return;
    if (status !== 200) return scope.failed(path, `status ${status}`);
    const isJson = (headers["content-type"] ?? "").startsWith("application/json");
    const text = path === "server/process/env" ? variablesText(body, scope.known) : withoutSecrets(body, scope.known);
    yield { path: `${path}.${isJson ? "json" : "txt"}`, text };
  } catch (error) {
    scope.failed(path, failureText(error));
  }
}

/** The variables of a process. Nothing but settings is shown. */
function variablesText(body: string, known: KnownVariables): string {
  const read = VARIABLES.parse(JSON.parse(body));
  const shown = read.map(({ name, value }) => ({ name, value: shownVariable(name, value, known) }));
  return `${JSON.stringify(shown, undefined, 1)}\n`;
}
