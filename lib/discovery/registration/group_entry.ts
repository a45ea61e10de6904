/**
 * The WorkloadEntry of a proxy, from the template of a WorkloadGroup.
 *
 * @module
 */
import { objectFromSpec } from "../../config/object.ts";
import { HEALTH_CHECKED, REGISTRATION } from "../../config/kinds/workload_entry/registration.ts";
import { type ConfigObject, UNDATED } from "../../config/types.ts";
import { fromStruct } from "../../pb/wellknown.ts";
import { Metadata } from "../../translate/proxy/metadata.ts";
import type { Proxy } from "../../translate/proxy/node.ts";

/** A proxy asks for registration by naming a group (`AUTO_REGISTER_GROUP`). */
export interface DesiredRegistration {
  readonly group: string;
  readonly namespace: string;
  /** Name of the proxy's own entry. */
  readonly name: string;
  readonly address: string;
  /** Empty: the template's network. */
  readonly network: string;
  /** Empty: the template's locality. */
  readonly locality: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether the agent probes the workload. */
  readonly isProbed: boolean;
}

/** Longest name in an orchestrator, characters. */
const MOST_NAME = 253;

/** The wanted registration of a proxy; undefined: the proxy names no group. */
export function desiredRegistration(proxy: Proxy): DesiredRegistration | undefined {
  const metadata = new Metadata(fromStruct(proxy.node.metadata));
  const group = metadata.text("AUTO_REGISTER_GROUP");
  const [address] = proxy.addresses;
  if (group === "" || address === undefined) return undefined;
  const network = metadata.text("NETWORK");
  return {
    ...{ group, address, namespace: proxy.namespace, network: network || proxy.properties.network },
    name: entryName(group, address, network),
    locality: proxy.properties.locality,
    labels: metadata.labels("LABELS"),
    isProbed: metadata.settings("PROXY_CONFIG", "readinessProbe").readinessProbe !== undefined,
  };
}

/**
 * Joins the group, the address, and the network if the proxy names a network. If the name is too long, its beginning is
 * cut off.
 */
export function entryName(group: string, address: string, network: string): string {
  const parts = [group, address.replaceAll(":", "-"), ...network === "" ? [] : [network]];
  return parts.join("-").slice(-MOST_NAME);
}

/** An entry, or why there can be none. */
export type GroupEntry =
  | { readonly entry: ConfigObject<"WorkloadEntry"> }
  | { readonly refused: string };

/**
 * The entry of a proxy. Labels of the proxy have precedence over the group's labels, and the group's labels over the
 * template's.
 */
export function groupEntry(group: ConfigObject<"WorkloadGroup">, desired: DesiredRegistration): GroupEntry {
  const { template, metadata = {} } = group.spec;
  const labels = { ...template.labels, ...metadata.labels, ...desired.labels };
  const annotations = {
    ...metadata.annotations,
    [REGISTRATION.group]: group.meta.name,
    ...(desired.isProbed ? { [HEALTH_CHECKED]: "true" } : {}),
  };
  const spec = {
    ...template,
    address: desired.address,
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
    ...(desired.network === "" ? {} : { network: desired.network }),
    ...(desired.locality === "" ? {} : { locality: desired.locality }),
  };
  const { namespace, name } = desired;
  const meta = { namespace, name, labels, annotations, creationTimestamp: UNDATED };
  const origin = { from: "derived", source: "registration", of: group.key, parent: group.origin } as const;
  const { object, findings } = objectFromSpec("WorkloadEntry", meta, spec, origin);
  if (object !== undefined) return { entry: object as ConfigObject<"WorkloadEntry"> };
  const wrong = findings.filter(({ severity }) => severity === "error").map(({ message }) => message);
  return {
    refused: `no WorkloadEntry can be made of WorkloadGroup ${namespace}/${group.meta.name}: ${wrong.join("; ")}`,
  };
}
