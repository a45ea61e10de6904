/**
 * The load generator: many simulated proxies in a separate process, driven by commands on standard input
 * (`./protocol.ts`). The first line holds the options.
 *
 * Permissions: net (the server).
 *
 * @module
 */
import { Knowledge } from "./knowledge.ts";
import type { LoadAnswer, LoadCommand, LoadOptions } from "./protocol.ts";
import { type ProxyEvents, SimulatedProxy } from "./proxy.ts";
import type { ScannedResponse } from "./response.ts";
import { readLines } from "../lines.ts";

/** Time limit of a step, ms. Then the answer reports the progress. */
const PATIENCE = 300_000;

class Load implements ProxyEvents {
  readonly #proxies: SimulatedProxy[] = [];
  /** Proxies waiting to connect. */
  #absent: SimulatedProxy[] = [];
  #times = new Map<SimulatedProxy, number>();
  #marker: string | undefined;
  #awaited = 0;
  #lastAt = 0;
  #wire = 0;
  #plain = 0;
  #messages = new Map<string, number>();
  #resources = new Map<string, number>();
  #errors: string[] = [];
  readonly #failed = new Set<SimulatedProxy>();
  #done = Promise.withResolvers<void>();

  constructor(private readonly options: LoadOptions) {
    const knowledge = new Knowledge();
    for (let i = 0; i < options.proxies; i++) this.#proxies.push(new SimulatedProxy(i, options, this, knowledge));
  }

  async run(command: LoadCommand): Promise<LoadAnswer> {
    if (command.do === "connect") {
      this.#begin(undefined);
      this.#absent = [...this.#proxies];
      for (const proxy of this.#absent.splice(0, command.atOnce ?? this.#proxies.length)) proxy.connect();
      await this.#untilDone();
    } else if (command.do === "expect") this.#begin(command.marker, command.by);
    else if (command.do === "seen") await this.#untilDone();
    else if (command.do === "disconnect") { for (const proxy of this.#proxies) proxy.disconnect(); }
    else await this.#quiet(command.ms);
    return {
      times: [...this.#times.values()],
      lastAt: this.#lastAt,
      wireBytes: this.#wire,
      plainBytes: this.#plain,
      messages: Object.fromEntries(this.#messages),
      resources: Object.fromEntries(this.#resources),
      errors: this.#errors,
    };
  }

  message(proxy: SimulatedProxy, bytes: Uint8Array, response: ScannedResponse): void {
    const now = this.#lastAt = Date.now();
    const type = response.typeUrl.slice(response.typeUrl.lastIndexOf(".") + 1);
    this.#plain += bytes.length;
    this.#messages.set(type, (this.#messages.get(type) ?? 0) + 1);
    this.#resources.set(type, (this.#resources.get(type) ?? 0) + response.resources.length);
    if (this.#times.has(proxy)) return;
    const here = this.#marker === undefined
      ? proxy.warm
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(this.#marker);
    if (!here) return;
    if (!this.options.untilAcknowledged) return this.#reached(proxy, now);
    const marker = this.#marker;
    void proxy.acknowledged().then(() => {
      if (marker === this.#marker) this.#reached(proxy, Date.now());
    });
  }

  #reached(proxy: SimulatedProxy, at: number): void {
    if (!this.#times.has(proxy)) this.#times.set(proxy, at);
    this.#absent.shift()?.connect();
    if (this.#times.size === this.#awaited) this.#done.resolve();
  }

  wire(bytes: number): void {
    this.#wire += bytes;
  }

  failed(proxy: SimulatedProxy, message: string): void {
    this.#errors.push(`proxy ${proxy.index}: ${message}`);
    // Nobody is left to wait for.
    if (this.#failed.add(proxy).size === this.#proxies.length) this.#done.resolve();
  }

  #begin(marker: string | undefined, by = this.#proxies.length): void {
    this.#marker = marker;
    this.#awaited = by;
    this.#times = new Map();
    this.#messages = new Map();
    this.#resources = new Map();
    this.#errors = [];
    this.#failed.clear();
    this.#wire = this.#plain = 0;
    this.#done = Promise.withResolvers();
  }

  async #untilDone(): Promise<void> {
    const timer = setTimeout(() => this.#done.resolve(), PATIENCE);
    await this.#done.promise;
    clearTimeout(timer);
  }

  async #quiet(ms: number): Promise<void> {
    for (let rest = ms; rest > 0; rest = this.#lastAt + ms - Date.now()) {
      await new Promise((resolve) => setTimeout(resolve, rest));
    }
  }
}

let load: Load | undefined;
await readLines(Deno.stdin.readable, async (line) => {
  if (load) console.log(JSON.stringify(await load.run(JSON.parse(line) as LoadCommand)));
  else load = new Load(JSON.parse(line) as LoadOptions);
});
Deno.exit(0);
