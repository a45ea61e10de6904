/**
 * Which Gateways get proxies from this server, and which revision deploys them.
 *
 * @module
 */
import type { Texts } from "../../injection/spelling.ts";
import type { ApiGatewaySpec } from "../../config/kinds/kinds.ts";

/** The version of this controller. Istio's controllers write versions of the same numbering into Gateways. */
export const OWN_VERSION = 5;

/**
 * Whether the server deploys the proxies of a Gateway: the Gateway names no address, or a single address of type IPAddress.
 *
 * @param allowsManual `ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT`; false: every Gateway is managed.
 */
export function isManagedGateway(
  { addresses = [] }: Pick<ApiGatewaySpec, "addresses">,
  allowsManual: boolean,
): boolean {
  if (!allowsManual || addresses.length === 0) return true;
  return addresses.length === 1 && addresses[0]!.type === "IPAddress";
}

/** Whether a newer controller deploys a Gateway. @param version Annotation of the Gateway; undefined: no annotation. */
export function isOfNewerController(version: string | undefined): boolean {
  if (version === undefined) return false;
  return !/^\d{1,9}$/.test(version) || Number(version) > OWN_VERSION;
}

/** The revisions that are known to a server. */
export interface KnownRevisions {
  /** `REVISION`; empty: `default`. */
  readonly own: string;
  /** The default revision. */
  readonly default: string;
  /** Revisions by tag. */
  readonly tags: ReadonlyMap<string, string>;
}

/**
 * Whether this revision deploys a Gateway and writes its status. The label of the Gateway, else of its namespace, names the
 * revision or a tag of the revision. Without a label the default revision does both.
 */
export function isOwnGateway(
  { labels, namespaceLabels }: { readonly labels: Texts; readonly namespaceLabels: Texts },
  revisions: KnownRevisions,
): boolean {
  const own = revisions.own || "default";
  const named = labels["mesh.io/rev"] ?? namespaceLabels["mesh.io/rev"];
  if (named === undefined) return own === (revisions.default || "default");
  return (revisions.tags.get(named) ?? named) === own;
}
