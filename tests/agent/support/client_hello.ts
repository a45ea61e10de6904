/**
 * The versions of TLS offered by clients: a port that reads the beginning of each handshake, and ends the handshake.
 * Format: RFC 8446, section 4.1.2; `supported_versions` in 4.2.1.
 *
 * Permissions: net (loopback).
 * @module
 */

const VERSIONS: Readonly<Record<number, string>> = { 0x0301: "TLS 1.0", 0x0302: "1.1", 0x0303: "1.2", 0x0304: "1.3" };
const SUPPORTED_VERSIONS = 43;

/** The versions of a ClientHello, with the header of its record. */
function versionsOf(bytes: Uint8Array): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  // Record, handshake, version and random; then three lists.
  let at = 5 + 4;
  const legacy = view.getUint16(at);
  at += 2 + 32;
  at += 1 + view.getUint8(at);
  at += 2 + view.getUint16(at);
  at += 1 + view.getUint8(at);
  for (const end = at + 2 + view.getUint16(at), from = at + 2, cursor = { at: from }; cursor.at < end;) {
    const [type, length] = [view.getUint16(cursor.at), view.getUint16(cursor.at + 2)];
    if (type === SUPPORTED_VERSIONS) {
      const count = view.getUint8(cursor.at + 4) / 2;
      return Array.from({ length: count }, (_, i) => VERSIONS[view.getUint16(cursor.at + 5 + 2 * i)])
        .filter((version) => version !== undefined).sort();
    }
    cursor.at += 4 + length;
  }
  return [VERSIONS[legacy] ?? `${legacy}`];
}

/** The port. */
export class HelloReader implements AsyncDisposable {
  /** The versions offered by each client, in the order of the clients. */
  readonly offered: (readonly string[])[] = [];
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #serving = this.#serve();

  get port(): number {
    return this.#listener.addr.port;
  }

  /** `https://127.0.0.1:PORT`. */
  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  async #serve(): Promise<void> {
    for await (const connection of this.#listener) {
      const buffer = new Uint8Array(8192);
      let length = 0;
      while (length < 5 || length < 5 + (buffer[3]! << 8 | buffer[4]!)) {
        const read = await connection.read(buffer.subarray(length));
        if (read === null) break;
        length += read;
      }
      if (length > 5) this.offered.push(versionsOf(buffer.subarray(0, length)));
      connection.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#serving.catch(() => {});
  }
}
