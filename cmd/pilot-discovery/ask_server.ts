/**
 * Asks the debug pages of a running server.
 *
 * Permissions: net (the server's address).
 *
 * @module
 */
import { UsageError } from "../../lib/cli/command.ts";
import { httpExchange } from "../../lib/cli/http.ts";

/** Longest time for an answer, ms: a preview may take as long as the server allows. */
const TIMEOUT = 90_000;

/** The URL of a server's pages; undefined: the text is no address (`host:port`, or a URL). */
export function serverUrl(text: string): URL | undefined {
  const isUrl = /^https?:\/\/[^/]+\/?$/.test(text);
  if (!isUrl && !/^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)?:\d{1,5}$/.test(text)) return undefined;
  const url = isUrl ? text : `http://${text.startsWith(":") ? `127.0.0.1${text}` : text}`;
  return URL.canParse(url) ? new URL(url) : undefined;
}

/**
 * Asks, and reads the answer as JSON.
 *
 * @throws {UsageError} when the server cannot be reached, refuses, or does not answer in JSON
 */
export async function askServer(method: "GET" | "POST", url: URL, body?: string): Promise<unknown> {
  const answer = await httpExchange({ method, url, body, timeout: TIMEOUT }).catch((error: Error) => {
    throw new UsageError(`${url.origin}: ${error.message || String(error)}; is the server running?`);
  });
  if (answer.status !== 200) throw new UsageError(`${url.origin}: ${answer.body.trim() || `status ${answer.status}`}`);
  try {
    return JSON.parse(answer.body);
  } catch {
    throw new UsageError(
      `${url.origin}${url.pathname}: the answer is not JSON, expected the answer of a discovery server`,
    );
  }
}
