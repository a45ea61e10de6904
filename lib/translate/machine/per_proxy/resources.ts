/**
 * Resources that are never shared by a whole class of proxies.
 *
 * @module
 */
import type { InvalidatedKeys } from "../../../incremental/keys.ts";
import type { EncodedResource } from "../../../resource/encoded.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import { TYPE } from "../../encode/encode.ts";
import type { TranslationNote } from "../../message/notes.ts";

/** Per-proxy resources: the inbound side of a sidecar or library, listeners and routes of a gateway. */
export interface PerProxyResources {
  readonly clusters: ResourceSet;
  readonly listeners: ResourceSet;
  readonly routes: ResourceSet;
  /** Certificates in files that the listeners ask for. */
  readonly secrets: ResourceSet;
  /** A builder threw: its former results stand in for those that it would have made. */
  readonly failing: boolean;
  /** The virtual hosts that one of these route configurations gets by VHDS; undefined: it is none of these. */
  virtualHosts(routeConfiguration: string): ResourceSet | undefined;
  /** Whether a change affects the results that they are made from. */
  dependsOnAny(keys: InvalidatedKeys): boolean;
  /** Settings that users wrote for the proxy and that are not in force, and outcomes of patches. */
  notes(): Iterable<TranslationNote>;
  /** The results that they are made from. */
  results(): Iterable<TranslationResult<unknown>>;
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

/** The per-proxy resources of a type; undefined: such resources are shared alone. */
export function ownSet(own: PerProxyResources | undefined, typeUrl: string): ResourceSet | undefined {
  const name = SETS[typeUrl as keyof typeof SETS];
  return own === undefined || name === undefined ? undefined : own[name];
}

/** A set with just these resources, made from another set by the differences. */
export function replaced(set: ResourceSet, resources: readonly EncodedResource[]): ResourceSet {
  const names = new Set(resources.map((resource) => resource.name));
  return set.with(resources, [...set].map((resource) => resource.name).filter((name) => !names.has(name)));
}
