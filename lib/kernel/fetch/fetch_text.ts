/**
 * Fetches a short text from another server, with limits on time and size.
 *
 * Permissions: net (the fetched address).
 *
 * @module
 */
import { isWebAddress, shownAddress, WEB_ADDRESS } from "./web_address.ts";

export interface FetchLimits {
  /** Milliseconds for the whole fetch. */
  readonly timeout: number;
  /** Longest body in bytes. */
  readonly size: number;
}

/** A request without the address. */
export interface FetchRequest {
  /** Default GET. */
  readonly method?: "GET" | "POST" | "PUT";
  /** Names in lower case. Default of `accept`: `application/json`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends the fetch early. */
  readonly signal?: AbortSignal;
  /** Makes the request, without following redirects. Default: `fetch`. */
  readonly exchange?: TextExchange;
}

/** A way to ask a server, as `fetch` does. */
export type TextExchange = (url: string, init: RequestInit) => Promise<Response>;

/** A server's answer with another status than 200. */
export class FetchStatusError extends Error {
  override readonly name = "FetchStatusError";
  /** @param body The beginning of the answer. */
  constructor(message: string, readonly status: number, readonly body: string) {
    super(message);
  }
}

/** Longest body read from an answer with another status, bytes. */
const MAX_REFUSAL = 2048;

/**
 * The body of a page as text. Redirects are not followed, because a configured address must lead straight to the
 * content. Other schemes than http and https are refused, because `fetch` reads files of the machine by some of these
 * schemes.
 *
 * @throws {FetchStatusError} for another status than 200, and Error with the address and the cause for any other
 * failure.
 */
export async function fetchText(
  url: string,
  { timeout, size }: FetchLimits,
  { method = "GET", headers = {}, body, signal: given, exchange = fetch }: FetchRequest = {},
): Promise<string> {
  if (!isWebAddress(url)) throw new Error(`${shownAddress(url)}: expected ${WEB_ADDRESS}`);
  const late = AbortSignal.timeout(timeout);
  const signal = given === undefined ? late : AbortSignal.any([late, given]);
  try {
    const response = await exchange(url, {
      ...{ method, signal, redirect: "manual", headers: { accept: "application/json", ...headers } },
      ...(body === undefined ? {} : { body }),
    });
    if (response.status === 200) return await readUpTo(response, size);
    const reason = `status ${response.status}, expected 200`;
    const said = await readUpTo(response, MAX_REFUSAL).catch(() => "");
    throw new FetchStatusError(`${url}: ${reason}`, response.status, said);
  } catch (error) {
    if (error instanceof FetchStatusError) throw error;
    const reason = late.aborted ? `no answer within ${timeout / 1000} s` : reasonOf(error as Error, url);
    throw new Error(`${url}: ${reason}`);
  }
}

/** An error's message without the address, because the caller adds the address. */
function reasonOf({ message }: Error, url: string): string {
  return message.replace(`error sending request for url (${url}): `, "");
}

async function readUpTo({ body }: Response, size: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    // Leaving the loop cancels the rest.
    if (length > size) throw new Error(`more than ${size} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
