/**
 * Headers and trailers of a response.
 *
 * @module
 */
import type { HttpHeaders } from "../h2/headers.ts";
import type { HeaderSink } from "../h2/hpack.ts";

/** Most bytes of one list. */
const MAX_SIZE = 64 * 1024;

/** One decoded list; a header that comes twice has its values joined by a comma. */
export class ResponseHeaders implements HeaderSink {
  readonly headers: HttpHeaders = Object.create(null);
  tooLarge = false;
  #size = 0;

  add(name: string, value: string): void {
    this.#size += name.length + value.length + 32;
    if (this.#size > MAX_SIZE) this.tooLarge = true;
    if (this.tooLarge) return;
    const before = this.headers[name];
    this.headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
}
