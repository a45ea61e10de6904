/**
 * Resources that are never shared by a whole class of proxies.
 *
 * @module
 */
import type { InvalidatedKeys } from "../../incremental/keys.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { TranslationResult } from "../cache/translation_cache.ts";
import type { Finding } from "../../config/finding/finding.ts";

/** Per-proxy resources: the inbound side of a sidecar, listeners and routes of a gateway. */
export interface PerProxyResources {
  readonly clusters: ResourceSet;
  readonly listeners: ResourceSet;
  readonly routes: ResourceSet;
  /** Certificates in files that the listeners ask for. */
  readonly secrets: ResourceSet;
  /** A builder threw: what there was before stands in for what it would have made. */
  readonly failing: boolean;
  /** The virtual hosts that one of these route configurations gets by VHDS; undefined: it is none of these. */
  virtualHosts(routeConfiguration: string): ResourceSet | undefined;
  /** Whether a change affects what they are made from. */
  dependsOnAny(keys: InvalidatedKeys): boolean;
  /** Settings that users wrote for the proxy and that are not in force. */
  warnings(): Iterable<Finding>;
  /** The results that they are made from. */
  results(): Iterable<TranslationResult<unknown>>;
}
