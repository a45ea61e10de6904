/**
 * A source of metrics over HTTP: Envoy, or the application.
 *
 * Permissions: net (the source).
 *
 * @module
 */
import type { Clock } from "../../kernel/time/clock.ts";
import { commaList } from "../../kernel/text/comma_list.ts";

/** How a source is asked. */
export interface ScrapeRequest {
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Time to the first byte, and to the last byte, ms. */
  readonly times: { readonly head: number; readonly body: number };
  /** The scraper has gone. */
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, "after">;
}

/** A source that has answered. */
export interface ScrapeSource {
  readonly contentType: string;
  /** The source's metrics, in parts as they arrive. An error tells why the metrics end early. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * Asks the source. If nobody reads the bytes, the request ends with its time.
 * @throws {Error} With the reason if there is no answer.
 */
export async function askSource({ url, headers, times, signal, clock }: ScrapeRequest): Promise<ScrapeSource> {
  const control = new AbortController();
  const late = (ms: number) => control.abort(new Error(`not done within ${ms / 1000} s`));
  const left = () => control.abort(new Error("the scraper has gone away"));
  const timers = [clock.after(times.head, () => late(times.head)), clock.after(times.body, () => late(times.body))];
  const done = () => {
    timers.forEach((cancel) => cancel());
    signal.removeEventListener("abort", left);
  };
  if (signal.aborted) left();
  signal.addEventListener("abort", left);
  try {
    const response = await fetch(url, {
      // Compression costs more than the bytes save on the same machine.
      headers: { ...headers, "accept-encoding": "identity" },
      signal: control.signal,
    });
    timers[0]!();
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`status ${response.status}, expected 200`);
    }
    const encodings = encodingsOf(response.headers);
    if (typeof encodings === "string") {
      await response.body?.cancel();
      throw new Error(encodings);
    }
    return { contentType: response.headers.get("content-type") ?? "", bytes: bytesOf(response, encodings, done) };
  } catch (error) {
    done();
    throw new Error(`${url}: ${(error as Error).message}`, { cause: error });
  }
}

type ByteBody = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Names of encodings in HTTP, and in the platform. */
const ENCODINGS: Readonly<Record<string, "gzip" | "deflate">> = { gzip: "gzip", "x-gzip": "gzip", deflate: "deflate" };

/**
 * The compressions of a body, the innermost first, or a text: why the body cannot be read. Some servers compress every
 * answer, and bytes of an unknown encoding would spoil the whole page.
 */
function encodingsOf(headers: Headers): readonly CompressionFormat[] | string {
  const named = commaList(headers.get("content-encoding") ?? "").map((one) => one.toLowerCase())
    .filter((one) => one !== "identity");
  const unknown = named.find((one) => !Object.hasOwn(ENCODINGS, one));
  if (unknown === undefined) return named.map((one) => ENCODINGS[one]!);
  return `content-encoding: got ${JSON.stringify(unknown.slice(0, 40))}, expected gzip, deflate or none`;
}

async function* bytesOf(
  { body, url }: Response,
  encodings: readonly CompressionFormat[],
  done: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    if (body !== null) yield* encodings.reduceRight<ByteBody>(unpacked, body);
  } catch (error) {
    throw new Error(`${url}: ${(error as Error).message}`, { cause: error });
  } finally {
    done();
  }
}

function unpacked(stream: ByteBody, encoding: CompressionFormat): ByteBody {
  return stream.pipeThrough(new DecompressionStream(encoding));
}
