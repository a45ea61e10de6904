/**
 * Facts from the orchestrator, the objects to which configuration refers: namespaces, services with their endpoints and
 * pods, nodes, accounts, secrets and config maps.
 *
 * Permissions: the permissions of the client.
 *
 * @module
 */
import { DEPLOYED_KINDS } from "../../gateway_api/deploy/types.ts";
import { readFact } from "../../config/facts/read.ts";
import type { Fact, FactKind } from "../../config/facts/types.ts";
import { FACT_API_VERSIONS } from "../../config/facts/types.ts";
import type { Finding } from "../../finding/finding.ts";
import type { StoreSource } from "../../config/store.ts";
import type { SharingApi } from "../settings/settings.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import type { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { ApiResource, ListScope } from "../../orch/informer/resource.ts";
import { needsNodes } from "../../registry/orch/entrances.ts";
import { REPORT_LABEL } from "../../status/report.ts";
import { DefinedFeed } from "./defined_feed.ts";
import { ApiFeed, type FindingsListener, type ReadApiObject } from "./feed.ts";

/** A kind of facts in the orchestrator. */
interface FactResource {
  readonly kind: FactKind;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly scope?: ListScope;
  /** Read only for services. */
  readonly services?: true;
}

/** Excludes secrets that proxies never need: releases of charts, tokens of accounts. A cluster may have thousands. */
const SECRETS_OF_OTHERS = "type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token";

const RESOURCES: readonly FactResource[] = [
  { kind: "Namespace", plural: "namespaces", namespaced: false, scope: { metadataOnly: true } },
  { kind: "Service", plural: "services", namespaced: true },
  { kind: "EndpointSlice", plural: "endpointslices", namespaced: true },
  { kind: "Pod", plural: "pods", namespaced: true, services: true },
  { kind: "Node", plural: "nodes", namespaced: false, scope: { metadataOnly: true }, services: true },
  { kind: "Ingress", plural: "ingresses", namespaced: true, services: true },
  { kind: "IngressClass", plural: "ingressclasses", namespaced: false, services: true },
  { kind: "ServiceAccount", plural: "serviceaccounts", namespaced: true, scope: { metadataOnly: true } },
  { kind: "Secret", plural: "secrets", namespaced: true, scope: { fieldSelector: SECRETS_OF_OTHERS } },
  { kind: "ConfigMap", plural: "configmaps", namespaced: true, scope: { labelSelector: `!${REPORT_LABEL}` } },
];

/** Resources that exist only in orchestrators with a definition. */
const SHARING: readonly FactResource[] = [
  { kind: "ServiceExport", plural: "serviceexports", namespaced: true, scope: { metadataOnly: true } },
  { kind: "ServiceImport", plural: "serviceimports", namespaced: true },
];

export interface FactFeedsParts {
  readonly client: ApiClient;
  readonly kernel: Pick<Kernel, "log" | "metrics" | "clock">;
  readonly cluster: string;
  readonly facts: StoreSource<Fact>;
  /** Keys the hashes of facts; see `FactOptions`. */
  readonly digestKey: Uint8Array;
  /** Limits reading to one namespace; empty: all namespaces are read. */
  readonly namespace: string;
  /** Whether facts become services. */
  readonly services: boolean;
  /** Kinds to read. Default: all kinds. */
  readonly kinds?: readonly FactKind[];
  /** The API of exports and imports; undefined: exports and imports are not read. */
  readonly sharing?: SharingApi | undefined;
  readonly onFindings: FindingsListener;
  /** Called with each failure of a list or watch. Default: failures are only counted. */
  readonly troubled?: (error: ApiError) => void;
}

export class FactFeeds {
  readonly #feeds: readonly { readonly feed: ApiFeed<Fact>; readonly resource: ApiResource }[];
  readonly #shared: readonly DefinedFeed<Fact>[];
  readonly #namespace: string;
  /** Whether nodes are read with their addresses. */
  #wholeNodes = false;

  constructor(parts: FactFeedsParts) {
    const { namespace, services, kinds, sharing } = parts;
    this.#namespace = namespace;
    const isWanted = ({ kind }: FactResource) => kinds?.includes(kind) ?? true;
    const wanted = RESOURCES.filter((one) => (services || !one.services) && isWanted(one));
    this.#feeds = wanted.map((one) => {
      const { kind, plural, namespaced } = one;
      const [group = "", version = ""] = FACT_API_VERSIONS[kind].includes("/")
        ? FACT_API_VERSIONS[kind].split("/")
        : ["", FACT_API_VERSIONS[kind]];
      return { feed: this.#feedOf(one, parts, parts.troubled), resource: { group, version, plural, kind, namespaced } };
    });
    const shared = SHARING.filter((one) => isWanted(one) && (one.kind === "ServiceExport" || sharing?.imports));
    this.#shared = sharing === undefined || !services
      ? []
      : shared.map((one) => this.#definedFeed(one, parts, sharing));
  }

  #feedOf(
    { kind, scope }: FactResource,
    { client, kernel, cluster, facts: target, digestKey, namespace, onFindings }: FactFeedsParts,
    troubled: FactFeedsParts["troubled"],
  ): ApiFeed<Fact> {
    const read = (tree: ApiJson): ReadApiObject<Fact> => {
      const { fact, findings } = readFact(kind, leanTree(kind, tree), originOf(tree, cluster), { digestKey });
      if (fact?.kind === "Service" && needsNodes(fact)) this.readNodeAddresses();
      return fact === undefined ? { findings } : { object: fact, findings };
    };
    const parts = { client, kernel, cluster, onFindings, troubled, kind, target, read };
    return new ApiFeed<Fact>({ ...parts, scope: { namespace, ...scope } });
  }

  #definedFeed(one: FactResource, parts: FactFeedsParts, { groups, version }: SharingApi): DefinedFeed<Fact> {
    const { kind, plural, namespaced } = one;
    // A fault of a shared feed is not a fault of the cluster: the server can work without exports and imports.
    const feed: ApiFeed<Fact> = this.#feedOf(one, parts, (error) => defined.troubled(error));
    const places = groups.map((group) => ({ group, version, plural, kind, namespaced }));
    const log = parts.kernel.log.scope("orch");
    const defined = new DefinedFeed<Fact>({ client: parts.client, feed, places, log });
    return defined;
  }

  /** Begins. Resolves when the objects of all feeds are in the store. */
  async start(): Promise<void> {
    for (const { feed, resource } of this.#feeds) feed.follow(resource);
    const shared = this.#shared.map((one) => one.start());
    await Promise.all([...this.#feeds.map(({ feed }) => feed.whenSynced), ...shared]);
  }

  /**
   * Nodes are large and change every few minutes. Their addresses are read only when the first service, or the status
   * of Ingresses, needs an address.
   */
  readNodeAddresses(): void {
    if (this.#wholeNodes) return;
    this.#wholeNodes = true;
    this.#feeds.find(({ resource }) => resource.kind === "Node")?.feed.rescope({ namespace: this.#namespace });
  }

  /** All feeds. Namespaces and nodes come first, because services and endpoints are read with them. */
  feeds(): readonly ApiFeed<Fact>[] {
    const isFirst = ({ kind }: ApiFeed<Fact>) => kind === "Namespace" || kind === "Node";
    const all = [...this.#feeds, ...this.#shared].map(({ feed }) => feed);
    return [...all.filter(isFirst), ...all.filter((feed) => !isFirst(feed))];
  }

  /** The trouble of the first feed that does not hear from the API; undefined: all is well. */
  get trouble(): string | undefined {
    return this.#feeds.map(({ feed }) => feed.trouble).find((trouble) => trouble !== undefined);
  }

  *findings(): Generator<Finding> {
    for (const { feed } of [...this.#feeds, ...this.#shared]) yield* feed.findings();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#feeds.map(({ feed }) => feed.stop()), ...this.#shared.map((one) => one.stop())]);
  }
}

/**
 * Entries of config maps that are read: authorities, revocation lists, and overlays of deployed Gateways. Dashboards and
 * scripts are not kept. Their names are kept, because overlays stand in a config map of their own.
 */
const ENTRIES: ReadonlySet<string> = new Set([
  ...["ca.crt", "ca.crl", "cacert", "crl"],
  ...Object.keys(DEPLOYED_KINDS),
]);

function leanTree(kind: FactKind, tree: ApiJson): ApiJson {
  if (kind !== "ConfigMap") return tree;
  const part = (value: unknown) =>
    isApiJson(value)
      ? Object.fromEntries(Object.entries(value).map(([key, text]) => [key, ENTRIES.has(key) ? text : ""]))
      : value;
  return { ...tree, data: part(tree["data"]), binaryData: part(tree["binaryData"]) };
}

function originOf({ metadata }: ApiJson, source: string) {
  const uid = isApiJson(metadata) && typeof metadata["uid"] === "string" ? metadata["uid"] : "";
  return { from: "api", source, uid } as const;
}
