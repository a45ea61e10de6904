/**
 * A pipeline for tests: objects from plain data, proxies without a wire, manual time.
 *
 * @module
 */
import type { MeshConfig, MeshNetworks } from "../../lib/config/mesh/types.ts";
import { parseObject } from "../../lib/config/object.ts";
import type { AnyConfigObject } from "../../lib/config/types.ts";
import {
  cacheSwitches,
  debounceOptions,
  entryOptions,
  translateSettings,
} from "../../lib/discovery/settings/settings.ts";
import { Pipeline } from "../../lib/discovery/pipeline/pipeline.ts";
import type { PipelineOptions } from "../../lib/discovery/pipeline/options.ts";
import { NodeReader } from "../../lib/discovery/pipeline/node_reader.ts";
import type { WaypointAddress } from "../../lib/mesh/waypoints/address.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { TYPE_URL_PREFIX } from "../../lib/pb/codec.ts";
import { readable } from "../../lib/pb/reflect.ts";
import type { EncodedResource } from "../../lib/resource/encoded.ts";
import type { BuildKind } from "../../lib/translate/machine/results/row.ts";
import type { ProxyState } from "../../lib/translate/machine/per_proxy/proxy_state.ts";
import { TYPE } from "../../lib/translate/encode/encode.ts";
import type { Timers } from "../../lib/discovery/pipeline/debounce.ts";
import { defaultMeshConfig } from "../../lib/config/mesh/merge.ts";
import { inFile } from "../config/origins.ts";
import { forService } from "../mesh/for_service.ts";

/** Time under the control of a test: nothing is debounced by itself. */
export const stoppedTime: Timers = { now: () => 0, after: () => () => {} };

/** Address of the workload of a {@linkcode service}. */
export const serviceAddress = (i: number) => `10.0.${i >> 8}.${i & 255}`;

/** How a {@linkcode service} differs from the usual service. */
export interface TestServiceChanges {
  /** Default: `x`. */
  readonly namespace?: string;
  readonly port?: Readonly<Record<string, unknown>>;
  readonly endpoint?: Readonly<Record<string, unknown>>;
}

/** The service `s<i>` of the mesh: HTTP on port 80, with a workload whose label `app` is the service's name. */
export function service(i: number, { namespace = "x", port, endpoint }: TestServiceChanges = {}): object {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name: `s${i}`, namespace },
    spec: {
      hosts: [`s${i}.example.com`],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [{ number: 80, name: "http", protocol: "HTTP", ...port }],
      endpoints: [{ address: serviceAddress(i), labels: { app: `s${i}` }, ...endpoint }],
    },
  };
}

/** How a test pipeline differs from the default pipeline. */
export interface FixtureOptions {
  readonly settings?: Partial<SettingsOf<"pilot-discovery">>;
  readonly mesh?: Partial<MeshConfig>;
  readonly networks?: MeshNetworks;
  /** Manual time. Default: time stands still. */
  readonly timers?: Timers;
  /** Where the event loop turns in the middle of a push; default: after 20 ms. */
  readonly pace?: NonNullable<PipelineOptions["pace"]>;
  /** Kinds of results and indexes besides those of the product. */
  readonly results?: NonNullable<PipelineOptions["results"]>;
  readonly indexes?: NonNullable<PipelineOptions["indexes"]>;
  /** Every variable of caching off. */
  readonly cache?: boolean;
  /** Objects that only some proxies have. */
  readonly staged?: PipelineOptions["staged"];
}

/** A pipeline, and common actions of tests. */
export class Fixture {
  readonly pipeline: Pipeline;
  readonly nodes: NodeReader;
  readonly objects = new Map<string, AnyConfigObject>();
  readonly failures: unknown[] = [];
  /** Results whose builders threw. */
  readonly unbuilt: { readonly kind: BuildKind; readonly name: string }[] = [];
  /** Keys of token issuers by their place; `pipeline.tokenKeysChanged` announces a change. */
  readonly tokenKeys = new Map<string, string>();

  constructor(options: FixtureOptions = {}) {
    const settings = defaultSettings("pilot-discovery", options.settings ?? {});
    const caches = cacheSwitches(settings);
    this.nodes = new NodeReader({
      ...{ vhds: settings.PILOT_ENABLE_VHDS, waypoints: settings.PILOT_ENABLE_AMBIENT_WAYPOINTS },
      ...{ clusterId: "Orch", clusterAliases: {} },
    });
    this.pipeline = new Pipeline({
      mesh: { ...defaultMeshConfig({ systemNamespace: "mesh-system" }), ...options.mesh },
      networks: options.networks ?? { networks: {} },
      settings: translateSettings(settings, "cluster.local"),
      caches: { ...caches, all: options.cache ?? caches.all },
      debounce: debounceOptions(settings),
      entries: entryOptions(settings, "Orch"),
      enhancedDestinationRuleMerge: settings.ENABLE_ENHANCED_DESTINATIONRULE_MERGE,
      timers: options.timers ?? stoppedTime,
      ...options.pace && { pace: options.pace },
      failed: (error) => this.failures.push(error),
      buildFailed: (kind, name, error) => {
        this.failures.push(error);
        this.unbuilt.push({ kind, name });
      },
      ...options.results && { results: options.results },
      ...options.indexes && { indexes: options.indexes },
      staged: options.staged,
      tokenKeys: { keysAt: (place) => this.tokenKeys.get(place), findings: () => [] },
      readAgain: ({ node, properties: { vhds } }, mesh) => this.nodes.read(node, vhds, mesh),
    });
  }

  /** Puts an object if the object passes validation, like a folder. @returns whether the object passed */
  offer(tree: unknown): boolean {
    const { object } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
    if (object) this.put(tree);
    return object !== undefined;
  }

  /**
   * Puts objects given as plain trees.
   *
   * @throws {Error} for a refused object
   */
  put(...trees: readonly unknown[]): void {
    const removed: AnyConfigObject[] = [];
    const added: AnyConfigObject[] = [];
    for (const tree of trees) {
      const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
      if (!object) throw new Error(`refused: ${JSON.stringify(findings)}`);
      const parsed = forService(object as AnyConfigObject);
      const old = this.objects.get(parsed.key);
      if (old?.hash === parsed.hash) continue;
      if (old) removed.push(old);
      this.objects.set(parsed.key, parsed);
      added.push(parsed);
    }
    if (removed.length + added.length > 0) this.pipeline.configChanged(removed, added);
  }

  /** Labels of namespaces, as last set. */
  namespaces: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map();

  /** Sets the labels of namespaces, in our spelling. */
  setNamespaces(all: Fixture["namespaces"]): void {
    this.namespaces = all;
    this.pipeline.namespacesChanged(all);
  }

  /** Addresses of waypoints, as last set. */
  waypointAddresses: ReadonlyMap<string, WaypointAddress> = new Map();

  /** Sets the addresses of all waypoints, by `namespace/name` of their Gateways. */
  setWaypointAddresses(all: Fixture["waypointAddresses"]): void {
    this.waypointAddresses = all;
    this.pipeline.waypointAddressesChanged(all);
  }

  /** Removes objects by key. */
  remove(...keys: readonly string[]): void {
    const gone = keys.map((key) => this.objects.get(key)).filter((object) => object !== undefined);
    for (const { key } of gone) this.objects.delete(key);
    if (gone.length > 0) this.pipeline.configChanged(gone, []);
  }

  /** A proxy joins. */
  join(node: TestNode): ProxyState {
    const { namespace, address, labels = {}, type = "sidecar", delta = true } = node;
    const id = `${type}~${address}~${node.name ?? "app"}.${namespace}~${namespace}.svc.cluster.local`;
    const text = (value: string) => ({ stringValue: value });
    const fields = Object.fromEntries(Object.entries(labels).map(([k, v]) => [k, text(v)]));
    const metadata = { fields: { LABELS: { structValue: { fields } }, ...node.metadata } };
    return this.pipeline.translator.join(this.nodes.read({ id, metadata }, delta, this.pipeline.mesh));
  }
}

/** A proxy of a test. */
export interface TestNode {
  readonly namespace: string;
  readonly address: string;
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly type?: "sidecar" | "router" | "waypoint";
  readonly delta?: boolean;
  readonly metadata?: Readonly<Record<string, { stringValue: string }>>;
}

/** All resources for a proxy, by type and name, as content hashes. */
export function contents(state: ProxyState): Record<string, string> {
  return Object.fromEntries(Object.entries(resources(state)).map(([name, resource]) => [name, resource.version]));
}

/** All resources for a proxy, by type and name, as readable text. */
export function texts(state: ProxyState): Record<string, string> {
  const text = ({ typeUrl, value }: EncodedResource) =>
    JSON.stringify(readable(typeUrl.slice(TYPE_URL_PREFIX.length), value));
  return Object.fromEntries(Object.entries(resources(state)).map(([name, resource]) => [name, text(resource)]));
}

/** All resources for a proxy, by type and name. */
export function resources(state: ProxyState): Record<string, EncodedResource> {
  const found: Record<string, EncodedResource> = {};
  const routes: string[] = [];
  for (const [short, typeUrl] of Object.entries(TYPE)) {
    if (short === "virtualHost") continue;
    for (const set of state.resourceSets(typeUrl) ?? []) {
      for (const resource of set) {
        found[`${short}/${resource.name}`] = resource;
        if (short === "route") routes.push(resource.name);
      }
    }
  }
  for (const name of routes) {
    for (const set of state.virtualHosts(name)) {
      for (const resource of set) found[`virtualHost/${resource.name}`] = resource;
    }
  }
  return found;
}
