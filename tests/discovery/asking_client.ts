/**
 * A client that subscribes as Envoy does, over a stream without a network: to everything at first, then to the endpoints
 * of its clusters, the routes of its listeners, and virtual hosts. A client of a workload that calls hosts asks for each.
 * @module
 */
import { PipelineSource } from "../../lib/discovery/proxies/source.ts";
import type { EncodedMessage } from "../../lib/simulate/decoded.ts";
import type { AdsStream } from "../../lib/xds/ads/stream.ts";
import type { ProxyView } from "../../lib/xds/protocol/source.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, VIRTUAL_HOST } from "../../lib/xds/protocol/types.ts";
import { assignmentOf, routesOf, usesVhds } from "../bench/mesh/load/response.ts";
import { StreamClient } from "../xds/support/stream_client.ts";
import type { Fixture } from "./fixture.ts";

interface Held {
  readonly version: string;
  readonly bytes: Uint8Array;
}

const TYPES = [CLUSTER, ENDPOINTS, LISTENER, ROUTE, VIRTUAL_HOST];

export class AskingClient {
  readonly #source: PipelineSource;
  readonly #table: Fixture["pipeline"]["table"];
  readonly #held = new Map<string, Map<string, Held>>(TYPES.map((type) => [type, new Map()]));
  readonly #names = new Map<string, Set<string>>(TYPES.map((type) => [type, new Set()]));
  /** The names that the client has asked for, `ROUTE CONFIGURATION/HOST`. */
  readonly asked = new Set<string>();
  /** The names of removed clusters, since the last question. */
  readonly removed = new Set<string>();
  #client!: StreamClient<ProxyView>;
  #watchesHosts = false;

  constructor(fixture: Fixture, readonly node: object) {
    this.#source = new PipelineSource(fixture.pipeline, fixture.nodes);
    this.#table = fixture.pipeline.table;
    this.#open();
    this.#client.ask(CLUSTER);
    this.#client.ask(LISTENER);
    this.settle();
  }

  get view(): ProxyView {
    return this.#client.view;
  }

  /** Whether the client asks for virtual hosts by the host of a request. */
  get asks(): boolean {
    return this.view.onDemand !== undefined;
  }

  #open(): void {
    const opened: { stream?: AdsStream } = {};
    this.#client = new StreamClient<ProxyView>(
      {
        table: this.#table,
        connect: (request, control) =>
          this.#source.connect(request, {
            ...control,
            answered: (typeUrl, names) => opened.stream?.answered(typeUrl, names),
          }) as ProxyView,
      },
      true,
      { request: { node: this.node } },
    );
    opened.stream = this.#client.stream;
  }

  /** A request for a host comes, by a route configuration that the client has. */
  call(route: string, host: string): void {
    const name = `${route}/${host.toLowerCase()}`;
    if (!this.asks || this.asked.has(name)) return;
    this.asked.add(name);
    this.#client.ask(VIRTUAL_HOST, { names: [name] });
  }

  /** Takes one response, if there is one. */
  takeOne(): boolean {
    this.#client.stream.reconcile();
    if (this.#client.inbox.length === 0) return false;
    const { typeUrl, resources, removed } = this.#client.accept();
    const held = this.#held.get(typeUrl)!;
    for (const [name, { version, bytes }] of resources) {
      if (this.#wants(typeUrl, name)) held.set(name, { version, bytes });
    }
    for (const name of removed) {
      held.delete(name);
      if (typeUrl === CLUSTER) this.removed.add(name);
    }
    this.#follow(typeUrl);
    return true;
  }

  /** Takes all responses. */
  settle(): void {
    while (this.takeOne());
  }

  /** A response may have been on its way when the client unsubscribed. */
  #wants(typeUrl: string, name: string): boolean {
    if (typeUrl === ENDPOINTS || typeUrl === ROUTE) return this.#names.get(typeUrl)!.has(name);
    return typeUrl !== VIRTUAL_HOST || this.#names.get(ROUTE)!.values().some((route) => name.startsWith(`${route}/`));
  }

  /** Asks for what the resources of a type refer to. */
  #follow(typeUrl: string): void {
    const values = [...this.#held.get(typeUrl)!.values()].map(({ bytes }) => bytes);
    if (typeUrl === CLUSTER) this.#subscribe(ENDPOINTS, values.flatMap((value) => assignmentOf(value) ?? []));
    if (typeUrl === LISTENER) this.#subscribe(ROUTE, values.flatMap((value) => [...routesOf(value)]));
    if (typeUrl === ROUTE && !this.#watchesHosts && values.some(usesVhds)) {
      this.#watchesHosts = true;
      this.#client.ask(VIRTUAL_HOST);
    }
  }

  #subscribe(typeUrl: string, wanted: readonly string[]): void {
    const before = this.#names.get(typeUrl)!;
    const now = new Set(wanted);
    const names = [...now.difference(before)], unsubscribe = [...before.difference(now)];
    for (const name of unsubscribe) this.#held.get(typeUrl)!.delete(name);
    this.#names.set(typeUrl, now);
    if (names.length + unsubscribe.length > 0) this.#client.ask(typeUrl, { names, unsubscribe });
    if (typeUrl === ROUTE) { for (const route of unsubscribe) this.#forgetHosts(route); }
  }

  /** The virtual hosts of a route configuration, and the questions for them, end with the route configuration. */
  #forgetHosts(route: string): void {
    const hosts = this.#held.get(VIRTUAL_HOST)!;
    for (const name of [...hosts.keys()]) if (name.startsWith(`${route}/`)) hosts.delete(name);
    const unsubscribe = [...this.asked].filter((name) => name.startsWith(`${route}/`));
    for (const name of unsubscribe) this.asked.delete(name);
    if (unsubscribe.length > 0) this.#client.ask(VIRTUAL_HOST, { unsubscribe });
  }

  /** The stream breaks, and the client comes back with what it has. */
  reconnect(): void {
    this.#client.close();
    this.#open();
    const versions = (type: string) =>
      Object.fromEntries([...this.#held.get(type)!].map(([name, { version }]) => [name, version]));
    const again = (type: string, names: Iterable<string>) =>
      this.#client.ask(type, { names: [...names], versions: versions(type) });
    again(CLUSTER, []);
    if (this.#names.get(ENDPOINTS)!.size > 0) again(ENDPOINTS, this.#names.get(ENDPOINTS)!);
    again(LISTENER, []);
    if (this.#names.get(ROUTE)!.size > 0) again(ROUTE, this.#names.get(ROUTE)!);
    if (this.#watchesHosts) again(VIRTUAL_HOST, this.asked.size > 0 ? ["*", ...this.asked] : []);
  }

  /** The names of the resources of a type. */
  namesOf(typeUrl: string): ReadonlySet<string> {
    return new Set(this.#held.get(typeUrl)!.keys());
  }

  /** The version of a resource. */
  version(typeUrl: string, name: string): string | undefined {
    return this.#held.get(typeUrl)!.get(name)?.version;
  }

  /** Everything that the client has. */
  *messages(): Iterable<EncodedMessage> {
    for (const [typeUrl, held] of this.#held) {
      for (const [name, { bytes }] of held) yield { name, typeUrl, value: bytes };
    }
  }

  close(): void {
    this.#client.close();
  }
}
