/**
 * Pages for clients of discovery, which ask by a name such as `config_dump?proxyID=a.shop`.
 *
 * @module
 */
import { type HttpRequest, type HttpResponse, jsonResponse, textResponse } from "../http/message.ts";
import { type PageAudience, pageRefusal, shownTo } from "./audience.ts";
import { OWN_PAGES, PAGES } from "./pages.ts";
import type { DebugView } from "./view.ts";

/** Longest page, bytes. */
export const MAX_PAGE = 32 * 1024 * 1024;

/** A page, or why there is none. */
export type AskedPage =
  | { readonly runs: readonly Uint8Array[] }
  | { readonly refused: "not allowed" | "too long"; readonly why: string };

/** How pages are given out. */
export interface AskedPageOptions {
  readonly view: DebugView;
  /** What the client may see. */
  readonly audience: PageAudience;
  /** Bytes; default {@linkcode MAX_PAGE}. */
  readonly longest?: number;
  /** The client has gone. */
  readonly signal: AbortSignal;
}

/** The page of a name, as GET answers. A mistake in the query also gives a page, whose text says what was expected. */
export async function askedPage(
  name: string,
  { view, audience, longest = MAX_PAGE, signal }: AskedPageOptions,
): Promise<AskedPage> {
  const { path, query } = pageName(name);
  const page = PAGES.find((one) => one.path === path);
  const why = pageRefusal(audience, path, page, OWN_PAGES);
  if (why !== undefined) return { refused: "not allowed", why };
  const response = await respond(path, requestOf(path, query, signal), shownTo(view, audience));
  const runs = await contentOf(response, longest, signal);
  if (runs !== undefined) return { runs };
  const most = `${longest / 1024 / 1024} MiB`;
  return { refused: "too long", why: `page ${JSON.stringify(path)} has more than ${most}: ask for a part of it` };
}

/** Longest page name in an answer, in characters. */
const MAX_SHOWN = 200;

function pageName(name: string): { readonly path: string; readonly query: URLSearchParams } {
  const at = name.indexOf("?");
  const path = at < 0 ? name : name.slice(0, at);
  return { path: path.slice(0, MAX_SHOWN), query: new URLSearchParams(at < 0 ? "" : name.slice(at + 1)) };
}

function requestOf(path: string, query: URLSearchParams, signal: AbortSignal): HttpRequest {
  const nothing = { headers: {}, host: "", params: {}, body: new Uint8Array(), peer: { address: "" } };
  return { method: "GET", path: `/debug/${path}`, query, signal, ...nothing };
}

function respond(path: string, request: HttpRequest, view: DebugView): HttpResponse | Promise<HttpResponse> {
  const read = PAGES.filter(({ methods = ["GET"] }) => methods.includes("GET"));
  if (path === "list") return jsonResponse(read.map((one) => one.path).sort(), request);
  const page = read.find((one) => one.path === path);
  return page === undefined ? textResponse(404, `no page ${path}; list has them\n`) : page.answer(request, view);
}

/** The bytes of a response; undefined: too many. */
async function contentOf(
  { body, parts }: HttpResponse,
  longest: number,
  signal: AbortSignal,
): Promise<Uint8Array[] | undefined> {
  const runs: Uint8Array[] = [];
  let length = 0;
  const fits = (part: string | Uint8Array) => {
    const run = typeof part === "string" ? new TextEncoder().encode(part) : part;
    runs.push(run);
    return (length += run.length) <= longest;
  };
  if (!fits(body)) return undefined;
  for await (const part of parts ?? []) {
    signal.throwIfAborted();
    if (!fits(part)) return undefined;
  }
  return runs;
}
