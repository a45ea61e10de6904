/**
 * A client in Envoy's place on an agent's socket: subscribes like Envoy, with hardly any CPU use.
 *
 * Permissions: read, write (the socket).
 *
 * @module
 */
import type { Shape } from "./configuration.ts";
import { Knowledge } from "./load/knowledge.ts";
import { SimulatedProxy } from "./load/proxy.ts";
import { until } from "./usage.ts";

/** The client. */
export class RelayedProxy {
  /** Bytes of received messages. */
  bytes = 0;
  #marker: Uint8Array = new Uint8Array();
  #seen = Promise.withResolvers<void>();
  #failed = "";
  readonly #proxy: SimulatedProxy;

  constructor(socket: string, shape: Shape) {
    this.#proxy = new SimulatedProxy(0, { target: socket, proxies: 1, delta: true, gzip: false, shape }, {
      message: (_, bytes) => {
        this.bytes += bytes.length;
        if (this.#marker.length > 0 && includes(bytes, this.#marker)) this.#seen.resolve();
      },
      wire() {},
      failed: (_, reason) => void (this.#failed = reason),
    }, new Knowledge());
  }

  /** Resolves when every requested resource has arrived. */
  async connect(): Promise<void> {
    this.#proxy.connect();
    await until("all configuration had come", () => {
      if (this.#failed !== "") throw new Error(this.#failed);
      return this.#proxy.warm;
    });
  }

  /** Resolves when a later message has the text. */
  sees(text: string): Promise<void> {
    this.#marker = new TextEncoder().encode(text);
    this.#seen = Promise.withResolvers();
    return this.#seen.promise;
  }

  stop(): void {
    this.#proxy.disconnect();
  }
}

function includes(bytes: Uint8Array, text: Uint8Array): boolean {
  for (let at = bytes.indexOf(text[0]!); at >= 0; at = bytes.indexOf(text[0]!, at + 1)) {
    if (text.every((byte, i) => bytes[at + i] === byte)) return true;
  }
  return false;
}
