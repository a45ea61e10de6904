/**
 * Pages of a cloud's metadata server.
 *
 * Permissions: net (the server).
 *
 * @module
 */
import { fetchText } from "../../kernel/fetch/fetch_text.ts";
import type { NodeLocality } from "../node/agent_node.ts";

/** A cloud's facts about the machine. */
export interface CloudFacts {
  /** Node metadata `PLATFORM_METADATA`, by the names that servers of the field read. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Empty: the cloud does not say. */
  readonly locality: NodeLocality;
}

/** Asks for a page; rejects when there is none. */
export type MetadataPage = (
  path: string,
  request?: { readonly method?: "PUT"; readonly headers?: Readonly<Record<string, string>> },
) => Promise<string>;

/** Longest page, bytes: a document about a machine has a few kB. */
const MAX_PAGE = 64 * 1024;

/**
 * Pages of one server.
 * @param address The server's address, with scheme.
 * @param deadline Time for one page, ms.
 * @param signal Ends all requests.
 */
export function metadataPages(address: string, deadline: number, signal?: AbortSignal): MetadataPage {
  const base = address.replace(/\/$/, "");
  return async (path, { method, headers = {} } = {}) =>
    (await fetchText(`${base}${path}`, { timeout: deadline, size: MAX_PAGE }, {
      ...(method === undefined ? {} : { method }),
      headers: { accept: "*/*", ...headers },
      ...(signal === undefined ? {} : { signal }),
    })).trim();
}

/** The page's text; undefined: there is none. */
export function optionalPage(page: Promise<string>): Promise<string | undefined> {
  return page.then((text) => text === "" ? undefined : text, () => undefined);
}

/** The members that have a text. */
export function givenTexts(members: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, string] => !!entry[1]));
}
