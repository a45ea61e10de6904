/**
 * Fetches a short text from another server: bounded in time and size.
 *
 * Permissions: net (the address that is fetched).
 *
 * @module
 */
import { isWebAddress, shownAddress, WEB_ADDRESS } from "./web_address.ts";

/** Limits of one fetch. */
export interface FetchLimits {
  /** Milliseconds for all of it. */
  readonly timeout: number;
  /** Longest body in bytes. */
  readonly size: number;
}

/** The request beside its address. */
export interface FetchRequest {
  /** Default GET. */
  readonly method?: "GET" | "POST" | "PUT";
  /** Names in lower case; `accept` is `application/json` unless it is among them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends it before its time. */
  readonly signal?: AbortSignal;
  /** Makes the request, without following redirects. Default: `fetch`. */
  readonly exchange?: TextExchange;
}

/** A way to ask a server, as `fetch` does. */
export type TextExchange = (url: string, init: RequestInit) => Promise<Response>;

/** A server that answered with another status than 200. */
export class FetchStatusError extends Error {
  override readonly name = "FetchStatusError";
  /** @param body the beginning of its answer */
  constructor(message: string, readonly status: number, readonly body: string) {
    super(message);
  }
}

/** Bytes of an answer with another status that are read. */
const MAX_REFUSAL = 2048;

/**
 * The body of a page as text. Redirects are not followed: an address that was configured says where its content is.
 * Other schemes than http and https are refused, as some of them read files of this machine.
 *
 * @throws {FetchStatusError} for another status than 200; Error that names the address and what else went wrong
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

/** An error's message without the address, which is said anyway. */
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
