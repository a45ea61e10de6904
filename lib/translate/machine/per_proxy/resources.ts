/**
 * Resources of single proxies.
 *
 * @module
 */
import type { EncodedResource } from "../../../resource/encoded.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import { TYPE } from "../../encode/encode.ts";
import type { TranslationNote } from "../../message/notes.ts";
import type { ProxyProperties } from "../../reader/proxy_properties.ts";

/** Per-proxy resources: the inbound side of a sidecar or library, listeners and routes of a gateway. */
export interface PerProxyResources {
  readonly clusters: ResourceSet;
  readonly listeners: ResourceSet;
  readonly routes: ResourceSet;
  /** Certificates in files, for the listeners. */
  readonly secrets: ResourceSet;
  /** A builder threw, and former results stand in. */
  readonly failing: boolean;
  /**
   * The virtual hosts of a route configuration, for VHDS. Undefined: the per-proxy resources have no such route
   * configuration.
   */
  virtualHosts(routeConfiguration: string): ResourceSet | undefined;
  /** Outcomes of patches, and settings for the proxy with no effect. */
  notes(): Iterable<TranslationNote>;
  /** The results behind the resources. */
  readonly results: readonly TranslationResult<unknown>[];
  /** Results for the proxy in other roles, with the properties of each role. Absent: none. */
  readonly roles?: readonly RoleResults[];
}

/** Results for a proxy in a role. */
export interface RoleResults {
  readonly properties: ProxyProperties;
  readonly results: readonly TranslationResult<unknown>[];
}

/** The set of each type. */
const SETS = {
  [TYPE.cluster]: "clusters",
  [TYPE.listener]: "listeners",
  [TYPE.route]: "routes",
  [TYPE.secret]: "secrets",
} as const;

/** Type URLs of per-proxy resources. */
export const OWN_TYPES: ReadonlySet<string> = new Set(Object.keys(SETS));

/** The per-proxy resources of a type; undefined: the proxy has only shared resources of the type. */
export function ownSet(own: PerProxyResources | undefined, typeUrl: string): ResourceSet | undefined {
  const name = SETS[typeUrl as keyof typeof SETS];
  return own === undefined || name === undefined ? undefined : own[name];
}

/** A set with exactly these resources. Built from the earlier set, with which the new set shares equal buckets. */
export function replaced(set: ResourceSet, resources: readonly EncodedResource[]): ResourceSet {
  const names = new Set(resources.map((resource) => resource.name));
  return set.with(resources, [...set].map((resource) => resource.name).filter((name) => !names.has(name)));
}
