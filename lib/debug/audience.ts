/**
 * The rule of access to debug pages, common to HTTP and discovery's streams.
 *
 *     client                                        sees
 *     of this machine, by HTTP                      every page, all proxies
 *     identity of the server's own namespace        every page, all proxies
 *     another identity                              pages about one proxy (`ofProxy`), of proxies with that identity
 *     anybody else                                  nothing
 *
 * @module
 */
import { type HttpResponse, isLocalPeer, type RequestHead, textResponse } from "../http/message.ts";
import type { XdsConnection } from "../xds/connection.ts";
import type { DebugView } from "./view.ts";

/** A client with access to pages. */
export interface PageAudience {
  /** Absent: every page and all proxies. */
  readonly confined?: ConfinedAudience;
}

/** A client with access only to pages about some proxies. */
export interface ConfinedAudience {
  /** For refusals. */
  readonly identity: string;
  isShown(connection: XdsConnection): boolean;
}

/** Finds out what a client may see, or returns a response that refuses the client. */
export type AudienceOf = (
  head: Pick<RequestHead, "peer" | "headers">,
) => PageAudience | HttpResponse | Promise<PageAudience | HttpResponse>;

/** What a client with a proven identity may see. @param systemNamespace the server's own */
export function audienceOf(
  { uri, namespace }: { readonly uri: string; readonly namespace: string | undefined },
  systemNamespace: string,
): PageAudience {
  if (namespace === systemNamespace) return {};
  return { confined: { identity: uri, isShown: ({ stream }) => stream?.view.identity === uri } };
}

/** Lets in only clients of this machine, by the loopback. */
export const localAudience: AudienceOf = ({ peer }) =>
  isLocalPeer(peer)
    ? {}
    : textResponse(401, "debug pages are for callers of the same machine, by 127.0.0.1 or [::1]\n");

/**
 * Why a client may not see a page; undefined: the client may.
 *
 * @param page undefined: there is no such page
 * @param own paths of the pages that a confined client may see
 */
export function pageRefusal(
  { confined }: PageAudience,
  path: string,
  page: { readonly ofProxy?: true } | undefined,
  own: readonly string[],
): string | undefined {
  if (confined === undefined || page?.ofProxy) return undefined;
  return `page ${JSON.stringify(path)}: expected one of ${own.join(", ")}, as ${confined.identity} is of another ` +
    "namespace than the server";
}

/** The part of a server that a client may see. */
export function shownTo(view: DebugView, { confined }: PageAudience): DebugView {
  if (confined === undefined) return view;
  // Not spread: members of the view are read when a page asks for them.
  return Object.create(view, { isShown: { value: confined.isShown, enumerable: true } }) as DebugView;
}
