/**
 * Fetches a short text from another server: bounded in time and size.
 *
 * Permissions: net (the address that is fetched).
 *
 * @module
 */

/** Limits of one fetch. */
export interface FetchLimits {
  /** Milliseconds for all of it. */
  readonly timeout: number;
  /** Longest body in bytes. */
  readonly size: number;
}

/**
 * The body of a page as text. Redirects are not followed: an address that was configured says where its content is.
 *
 * @throws Error that names the address and what went wrong
 */
export async function fetchText(url: string, { timeout, size }: FetchLimits): Promise<string> {
  const signal = AbortSignal.timeout(timeout);
  try {
    const response = await fetch(url, { signal, redirect: "error", headers: { accept: "application/json" } });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`status ${response.status}, expected 200`);
    }
    return await readUpTo(response, size);
  } catch (error) {
    const reason = signal.aborted ? `no answer within ${timeout / 1000} s` : (error as Error).message;
    throw new Error(`${url}: ${reason}`);
  }
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
