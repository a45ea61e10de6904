/**
 * A client of an ADS stream without a network: encodes real requests, decodes real responses, and keeps a client's
 * resources.
 * @module
 */
import { encode } from "../../../lib/pb/codec.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { concatBytes } from "../../../lib/resource/block.ts";
import { DiffTable } from "../../../lib/resource/diff.ts";
import type { NameSet } from "../../../lib/resource/name_set.ts";
import { InternedNames } from "../../../lib/resource/names.ts";
import { WireCursor } from "../../../lib/resource/protowire.ts";
import { RecentTexts } from "../../../lib/xds/ads/recent_texts.ts";
import { readRequest } from "../../../lib/xds/ads/request.ts";
import { StackDigests } from "../../../lib/xds/ads/set_stack.ts";
import type { RejectInfo, ResponseInfo } from "../../../lib/xds/ads/stream_types.ts";
import { AdsStream } from "../../../lib/xds/ads/stream.ts";
import { typeRules } from "../../../lib/xds/protocol/types.ts";
import type { ResourceTable } from "../../../lib/resource/set.ts";
import type { ConnectControl, ConnectRequest, ProxyView } from "../../../lib/xds/protocol/source.ts";
import type { MemoryView } from "./memory_source.ts";

const text = new TextDecoder();

/** A decoded response of either variant. */
export interface Received {
  readonly typeUrl: string;
  readonly nonce: string;
  readonly version: string;
  /**
   * Message text by resource name; in state of the world the name is the text before the first `=`. The text of an empty
   * resource is `NAME=nothing`.
   */
  readonly resources: Map<string, { version: string; value: string; bytes: Uint8Array }>;
  readonly removed: string[];
}

/** Fields of a request; `names` is `resource_names` or `resource_names_subscribe`. */
export interface AskedNames {
  names?: string[];
  unsubscribe?: string[];
  versions?: Record<string, string>;
  nonce?: string;
  error?: string;
  /** State of the world: the version of the client's last accepted response. */
  version?: string;
}

/** How a stream differs from the usual. */
export interface StreamClientOptions {
  readonly maxResponseBytes?: number;
  readonly names?: InternedNames;
  readonly owed?: NameSet;
  readonly texts?: RecentTexts;
  readonly wantTimeout?: number;
  readonly request?: Partial<ConnectRequest>;
}

/** A source with immediate answers. */
export interface ClientSource<V extends ProxyView> {
  readonly table: ResourceTable;
  connect(request: ConnectRequest, control: ConnectControl): V;
}

/** The text that stands for an empty resource. */
export function emptyText(name: string): string {
  return `${name}=nothing`;
}

/** The text of a message. In an empty resource the name is field 1; resources of tests begin with a letter. */
function textOf(message: Uint8Array): string {
  const cursor = new WireCursor(message);
  return message[0] === 10 && cursor.next() ? emptyText(cursor.string()) : text.decode(message);
}

export class StreamClient<V extends ProxyView = MemoryView> {
  /** Responses not answered yet, oldest first. */
  readonly inbox: Received[] = [];
  /** All responses ever. */
  readonly received: Received[] = [];
  readonly infos: ResponseInfo[] = [];
  readonly rejects: RejectInfo[] = [];
  readonly accepted: string[] = [];
  /** Types unknown to the server. */
  readonly ignored: string[] = [];
  readonly counts = new Map<string, number>();
  /** The client's resources, by type and name. */
  readonly has = new Map<string, Map<string, { version: string; value: string }>>();
  settled = 0;
  /** Work that waits for a time to pass, ms. */
  readonly laters = new Set<{ readonly delay: number; readonly run: () => void }>();
  readonly stream: AdsStream;
  readonly view: V;
  readonly #names: InternedNames;
  #isAnswered = false;

  constructor(
    source: ClientSource<V>,
    readonly delta: boolean,
    options: StreamClientOptions = {},
  ) {
    this.#names = options.names ?? new InternedNames();
    const request = { node: { id: "client" }, delta, peer: { address: "" }, metadata: {} };
    this.view = source.connect({ ...request, ...options.request }, {
      deadline: Infinity,
      signal: new AbortController().signal,
      waitsFor() {},
      comes() {},
      revoke: () => this.close(),
      answered: (typeUrl, names) => {
        this.stream.answered(typeUrl, names);
        // A view may answer while its sets are read: they are then looked at again before the end of the outer call.
        if (this.#isAnswered) return;
        this.#isAnswered = true;
        this.stream.reconcile();
        this.#isAnswered = false;
      },
    });
    this.stream = new AdsStream("s", this.view, {
      delta,
      gzip: false,
      names: this.#names,
      diffs: new DiffTable(),
      digests: new StackDigests(),
      texts: options.texts ?? new RecentTexts(),
      resources: source.table,
      metrics: {
        count: (name, by) => this.counts.set(name, (this.counts.get(name) ?? 0) + by),
        gauge() {},
        forget() {},
        observe() {},
      },
      maxResponseBytes: options.maxResponseBytes ?? 1 << 20,
      controlPlane: "",
      send: (parts, _compressed, taken) => {
        const response = this.#read(concatBytes(parts));
        this.inbox.push(response);
        this.received.push(response);
        taken();
      },
      onResponse: (info) => this.infos.push(info),
      onReject: (info) => this.rejects.push(info),
      onAccept: (typeUrl) => this.accepted.push(typeUrl),
      onIgnored: (typeUrl) => this.ignored.push(typeUrl),
      wantTimeout: options.wantTimeout ?? 10_000,
      later: (delay, run) => {
        const one = { delay, run };
        this.laters.add(one);
        return () => void this.laters.delete(one);
      },
      onAnswered: () => this.stream.reconcile(),
      onSettled: () => this.settled++,
    }, options.owed);
  }

  /** Ends the stream. */
  close(): void {
    this.stream.close();
    this.view.close();
  }

  /** Lets the time of the first waiting work pass. @returns the time, ms */
  pass(): number {
    const [first] = this.laters;
    if (first === undefined) throw new Error("nothing waits for a time to pass");
    this.laters.delete(first);
    first.run();
    return first.delay;
  }

  /** Sends a request. */
  ask(typeUrl: string, ask: AskedNames = {}): void {
    this.send(this.encode(typeUrl, ask));
  }

  /** Sends an encoded request. */
  send(request: Uint8Array): void {
    this.stream.request(readRequest(request, this.delta, this.#names));
  }

  /** Encodes a request. */
  encode(typeUrl: string, ask: AskedNames = {}): Uint8Array {
    const error_detail = ask.error === undefined ? undefined : { code: 13, message: ask.error };
    return this.delta
      ? encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", {
        type_url: typeUrl,
        resource_names_subscribe: ask.names ?? [],
        resource_names_unsubscribe: ask.unsubscribe ?? [],
        initial_resource_versions: ask.versions ?? {},
        response_nonce: ask.nonce ?? "",
        ...(error_detail && { error_detail }),
      })
      : encode("envoy.service.discovery.v3.DiscoveryRequest", {
        type_url: typeUrl,
        resource_names: ask.names ?? [],
        version_info: ask.version ?? "",
        response_nonce: ask.nonce ?? "",
        ...(error_detail && { error_detail }),
      });
  }

  /** Takes the oldest response of a type out of the inbox. */
  take(typeUrl?: string): Received {
    const at = this.inbox.findIndex((response) => typeUrl === undefined || response.typeUrl === typeUrl);
    if (at < 0) throw new Error(`no response of type ${typeUrl ?? "any"} is waiting`);
    return this.inbox.splice(at, 1)[0]!;
  }

  /** Takes the oldest response of a type in, applies and acknowledges it; `names` as in state of the world. */
  accept(typeUrl?: string, names: string[] = []): Received {
    const response = this.take(typeUrl);
    this.apply(response);
    this.ask(response.typeUrl, { nonce: response.nonce, names: this.delta ? [] : names });
    return response;
  }

  /** Rejects the oldest response of a type. */
  reject(typeUrl: string, error: string, names: string[] = []): Received {
    const response = this.take(typeUrl);
    this.ask(typeUrl, { nonce: response.nonce, error, names: this.delta ? [] : names });
    return response;
  }

  /** Takes a response in as a client of the protocol does. */
  apply(response: Received): void {
    let map = this.has.get(response.typeUrl);
    if (map === undefined || (!this.delta && typeRules(response.typeUrl).whole)) {
      this.has.set(response.typeUrl, map = new Map());
    }
    for (const [name, { version, value }] of response.resources) map.set(name, { version, value });
    for (const name of response.removed) map.delete(name);
  }

  /** Names of a response, sorted. */
  static names(response: Received): string[] {
    return [...response.resources.keys()].sort();
  }

  #read(bytes: Uint8Array): Received {
    // deno-lint-ignore no-explicit-any -- the two message types differ, the fields read here are checked by the tests
    const message = decode<any>(`envoy.service.discovery.v3.${this.delta ? "Delta" : ""}DiscoveryResponse`, bytes);
    const resources: Received["resources"] = new Map();
    for (const item of message.resources ?? []) {
      const body = this.delta ? item.resource : item;
      const value = textOf(body.value ?? new Uint8Array());
      const name = this.delta ? item.name : value.slice(0, value.indexOf("="));
      if (resources.has(name)) throw new Error(`resource ${name} twice in one response`);
      if (body.type_url !== message.type_url) throw new Error(`a ${body.type_url} in a ${message.type_url} response`);
      resources.set(name, { version: item.version ?? "", value, bytes: body.value });
    }
    return {
      typeUrl: message.type_url,
      nonce: message.nonce,
      version: (this.delta ? message.system_version_info : message.version_info) ?? "",
      resources,
      removed: message.removed_resources ?? [],
    };
  }
}
