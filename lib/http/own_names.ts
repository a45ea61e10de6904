/**
 * Refuses requests sent by a browser of this machine for web pages of other sites.
 *
 * A page can have its site's name resolve to 127.0.0.1 (DNS rebinding). Then the requests carry that name as host, and
 * the browser shows the answers to the page. A page can also send some kinds of requests to any address. Such requests
 * carry the page's origin.
 *
 * @module
 */
import { textResponse } from "./message.ts";
import type { Guard } from "./route.ts";

/**
 * Refuses requests whose `Host` is neither an address, nor localhost, nor one of the server's own names. Also refuses
 * requests from pages of other servers (`Origin`, `Sec-Fetch-Site`).
 *
 * @param names of the server, without port, in any case
 */
export function guardOwnNames(names: readonly string[]): Guard {
  const own = new Set(names.map((name) => name.toLowerCase()));
  return ({ method, headers, host }) => {
    const name = hostname(host);
    if (name === undefined || !(isAddress(name) || isLocalhost(name) || own.has(name))) {
      return textResponse(
        403,
        `header host: got ${JSON.stringify(host)}, expected an IP address, localhost` +
          `${[...own].map((one) => `, ${one}`).join("")} (setting MESH_DEBUG_HOSTS allows further names)\n`,
      );
    }
    const { origin, "sec-fetch-site": site } = headers;
    if (origin !== undefined && !isOriginOf(origin, host)) {
      return textResponse(403, `header origin: got ${JSON.stringify(origin)}, expected none, or http://${host}\n`);
    }
    // Older browsers send no origin with some forms.
    if (method !== "GET" && (site === "cross-site" || site === "same-site")) {
      return textResponse(403, `header sec-fetch-site: got ${site}, expected same-origin or none\n`);
    }
    return undefined;
  };
}

/** The name or address of a host header, in lower case, without port; undefined: the header has neither. */
function hostname(host: string): string | undefined {
  // Clients of HTTP/1.0 need not name a host. Browsers always do.
  if (host === "") return "localhost";
  return /^(\[[0-9a-f:.%]+\]|[^:[\]/@\s]+)(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase();
}

/** Addresses need no check: no name server can redirect an address. */
function isAddress(name: string): boolean {
  return name.startsWith("[") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(name);
}

/** RFC 6761, 6.3: names of this domain resolve to the loopback, never by a name server. */
function isLocalhost(name: string): boolean {
  return /^(?:[^.]+\.)*localhost\.?$/.test(name);
}

function isOriginOf(origin: string, host: string): boolean {
  const own = parsed(`http://${host}`);
  const other = parsed(origin);
  return own !== undefined && other !== undefined && own.host === other.host && /^https?:$/.test(other.protocol);
}

function parsed(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}
