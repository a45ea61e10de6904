/**
 * Rewrites extension configurations on their way to the proxy: a local file replaces the remote Wasm module of a
 * filter.
 *
 *     response ── modules are fetched ──> all fetched ────────────────> to the proxy
 *                                    └──> a module is missing ────────> to the proxy, with a stand-in for its filter;
 *                                                                       the server gets the reason
 *                                            fetched again, endlessly ──> to the proxy, alone
 *
 * Responses go on in the order in which they came. The stand-in is the last version that the proxy has. Without a last
 * version, the stand-in denies or allows everything, by the failure policy of the filter.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { WireError } from "../../resource/protowire.ts";
import { type RelayVariant, requestNames, requestType, unwantedNames } from "../relay/messages.ts";
import type { OpenRewriter, ResponseRewriter, RewriteTarget } from "../relay/relay.ts";
import { EXTENSION_CONFIG_TYPE } from "./extension_type.ts";
import type { WantedModule } from "./cache/wasm_cache.ts";
import { type RemoteWasmFilter, standInOf } from "./config/wasm_filter.ts";
import {
  type ExtensionResource,
  type ExtensionResponse,
  lateResponse,
  readExtensionResponse,
  withConfig,
  withResources,
} from "./conversion.ts";

/** Inputs of a rewriter. */
export interface WasmRewriterOptions {
  /**
   * The file of a module.
   * @throws {Error} With the reason when the module cannot be fetched.
   */
  readonly file: (wanted: WantedModule) => Promise<string>;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** From 0 to 1; default: `Math.random`. */
  readonly random?: () => number;
}

/** Pauses between rounds of fetches of a missing module, ms: the first pause is doubled up to the longest. */
const RETRY = { first: 500, longest: 60_000 };
/** Time for a module without a timeout in its configuration, ms. */
const DEFAULT_TIMEOUT = 5000;
/** Limit of filters whose last version is kept as a stand-in for a later version. */
const MAX_LAST = 1000;

/**
 * The proxy's configurations by name. They are kept from one connection to the next, because the proxy keeps its
 * configurations.
 */
type LastConfigs = Map<string, Uint8Array>;

/** Makes the rewriters of a relay's connections. */
export function wasmRewriters(options: WasmRewriterOptions): OpenRewriter {
  const last: LastConfigs = new Map();
  return (variant, target) => new WasmRewriter(options, last, variant, target);
}

/** The outcome for one resource. */
interface RewrittenResource {
  readonly resource: ExtensionResource;
  /** The content for the proxy. */
  readonly content: Uint8Array;
  /** The configuration with a file; absent: there is nothing to rewrite, or no file. */
  readonly config?: Uint8Array;
  readonly missing?: MissingModule;
}

/** A filter whose module is not available now. */
interface MissingModule {
  readonly resource: ExtensionResource;
  readonly filter: RemoteWasmFilter;
  readonly reason: string;
  /** Whether another attempt may succeed. */
  readonly isFetched: boolean;
}

class WasmRewriter implements ResponseRewriter {
  readonly #options: WasmRewriterOptions;
  readonly #last: LastConfigs;
  readonly #variant: RelayVariant;
  readonly #target: RewriteTarget;
  /** Responses are sent one after the other, in the order of arrival. */
  #queue: Promise<void> = Promise.resolve();
  #head: Pick<ExtensionResponse, "version" | "nonce"> = { version: "", nonce: "" };
  /** Modules that are fetched again, by the name of their filter. */
  readonly #missing = new Map<string, { cancel: Cancel }>();
  #isClosed = false;

  constructor(options: WasmRewriterOptions, last: LastConfigs, variant: RelayVariant, target: RewriteTarget) {
    this.#options = options;
    this.#last = last;
    this.#variant = variant;
    this.#target = target;
  }

  take(bytes: Uint8Array): void {
    // Fetches begin now; only the sending waits.
    const converted = this.#convert(bytes).catch((error: Error) => {
      this.#options.log.error(`an extension configuration goes to the proxy as it came: ${error.message}`);
      return () => this.#target.send(bytes);
    });
    this.#enqueue(async () => (await converted)());
  }

  /**
   * Modules of filters that the proxy gives up are not fetched again, and the last versions of such filters are
   * forgotten.
   */
  asked(request: Uint8Array): void {
    if (this.#missing.size + this.#last.size === 0) return;
    if (requestType(this.#variant, request) !== EXTENSION_CONFIG_TYPE) return;
    if (this.#variant === "delta") return unwantedNames(request).forEach((name) => this.#forget(name));
    const wanted = new Set(requestNames(request));
    for (const name of [...this.#missing.keys(), ...this.#last.keys()]) if (!wanted.has(name)) this.#forget(name);
  }

  close(): void {
    this.#isClosed = true;
    for (const { cancel } of this.#missing.values()) cancel();
    this.#missing.clear();
  }

  #enqueue(send: () => void | Promise<void>): void {
    this.#queue = this.#queue.then(async () => {
      if (!this.#isClosed) await send();
    }).catch((error: Error) => this.#options.log.error(`an extension configuration is not sent: ${error.message}`));
  }

  /** Resolves with a function that sends the response. */
  async #convert(bytes: Uint8Array): Promise<() => void> {
    const { clock, metrics } = this.#options;
    const begin = clock.monotonic();
    let response: ExtensionResponse;
    try {
      response = readExtensionResponse(this.#variant, bytes);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      return () => this.#target.send(bytes);
    }
    const made = await Promise.all(response.resources.map((resource) => this.#make(resource)));
    metrics.histogram("wasm_config_conversion_duration").observe(clock.monotonic() - begin);
    return () => {
      if (!this.#isClosed) this.#send(bytes, response, made);
    };
  }

  async #make(resource: ExtensionResource): Promise<RewrittenResource | MissingModule> {
    const { filter, content, isBroken } = resource;
    if (filter === undefined) {
      this.#count(isBroken ? "unmarshal_failure" : "no_remote_load");
      return { resource, content };
    }
    if (filter.url === "") {
      this.#count("miss_remote_fetch_hint");
      return { resource, filter, reason: "its configuration has no http_uri", isFetched: false };
    }
    try {
      const config = filter.withFile(await this.#options.file(wantedModule(filter)));
      this.#count("success");
      return { resource, content: withConfig(this.#variant, content, config, false), config };
    } catch (error) {
      this.#count("fetch_failure");
      return { resource, filter, reason: (error as Error).message, isFetched: true };
    }
  }

  #send(bytes: Uint8Array, response: ExtensionResponse, made: readonly (RewrittenResource | MissingModule)[]): void {
    this.#head = response;
    for (const name of response.removed) this.#forget(name);
    const outcomes = made.map((one) => "content" in one ? one : this.#standIn(one));
    const missing = outcomes.flatMap((one) => one.missing ?? []);
    if (missing.length > 0) this.#refuse(response.nonce, missing);
    for (const { resource, config, missing } of outcomes) this.#remember(resource, config, missing);
    const isChanged = outcomes.some(({ resource, content }) => content !== resource.content);
    const contents = outcomes.map(({ content }) => content);
    this.#target.send(isChanged ? withResources(this.#variant, bytes, contents, missing.length > 0) : bytes);
  }

  #standIn(missing: MissingModule): RewrittenResource {
    const { resource, filter } = missing;
    const config = this.#last.get(resource.name) ?? standInOf(filter);
    return { resource, content: withConfig(this.#variant, resource.content, config, true), missing };
  }

  #refuse(nonce: string, missing: readonly MissingModule[]): void {
    const reasons = missing.map(({ resource: { name }, filter, reason }) => {
      const meanwhile = this.#last.has(name)
        ? "the version before stays in force"
        : filter.failOpen
        ? "everything is allowed without it"
        : "everything is denied without it";
      return `Wasm filter ${name}: ${reason}; ${meanwhile}`;
    });
    for (const reason of reasons) this.#options.log.warn(reason);
    this.#target.refuse(nonce, reasons.join("; "));
  }

  #remember({ name, filter }: ExtensionResource, config: Uint8Array | undefined, missing?: MissingModule): void {
    this.#missing.get(name)?.cancel();
    this.#missing.delete(name);
    if (missing?.isFetched) this.#fetchLater(missing, 0);
    if (config !== undefined) this.#keepLast(name, config);
    else if (filter === undefined) this.#last.delete(name);
  }

  #keepLast(name: string, config: Uint8Array): void {
    this.#last.delete(name);
    this.#last.set(name, config);
    for (const oldest of this.#last.keys()) {
      if (this.#last.size <= MAX_LAST) break;
      this.#last.delete(oldest);
    }
  }

  #forget(name: string): void {
    this.#missing.get(name)?.cancel();
    this.#missing.delete(name);
    this.#last.delete(name);
  }

  #fetchLater(missing: MissingModule, failures: number): void {
    const { clock, random = Math.random } = this.#options;
    const { name } = missing.resource;
    const pause = Math.min(RETRY.longest, RETRY.first * 2 ** failures) * (0.5 + random() / 2);
    const retry = { cancel: clock.after(pause, () => void this.#fetchAgain(missing, failures, retry)) };
    this.#missing.set(name, retry);
  }

  async #fetchAgain(missing: MissingModule, failures: number, retry: object): Promise<void> {
    const { resource, filter } = missing;
    const isWanted = () => !this.#isClosed && this.#missing.get(resource.name) === retry;
    let path: string;
    try {
      path = await this.#options.file(wantedModule(filter));
    } catch (error) {
      this.#options.log.debug(`Wasm filter ${resource.name}: ${(error as Error).message}`);
      if (isWanted()) this.#fetchLater(missing, failures + 1);
      return;
    }
    this.#enqueue(() => {
      if (!isWanted()) return;
      this.#count("success");
      this.#options.log.info(`Wasm filter ${resource.name}: its module is there`);
      this.#missing.delete(resource.name);
      const config = filter.withFile(path);
      this.#keepLast(resource.name, config);
      const content = withConfig(this.#variant, resource.content, config, false);
      this.#target.send(lateResponse(this.#variant, this.#head, content, this.#missing.size > 0));
    });
  }

  #count(result: string): void {
    this.#options.metrics.counter("wasm_config_conversion_count").inc({ result });
  }
}

function wantedModule(filter: RemoteWasmFilter): WantedModule {
  const { url, sha256, name, resourceVersion, pullPolicy, pullSecret, timeout = DEFAULT_TIMEOUT } = filter;
  return { url, checksum: sha256, resource: name, resourceVersion, pullPolicy, pullSecret, timeout };
}
