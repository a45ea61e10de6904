/**
 * The targets of policies of backends as groups of a derivation: all policies of a target are one group.
 *
 * @module
 */
import type { DerivationReader } from "../../config/derive/derivation.ts";
import type { ObjectMeta } from "../../config/types.ts";
import { externalService, isExternal } from "../attach/external_backends.ts";
import type { TargetReference } from "../attach/policy_targets.ts";
import { NETWORKING_GROUPS, serviceNamed } from "../attach/services.ts";
import type { AttachOptions } from "../attach/types.ts";

/** The group of a target, `Service/NAMESPACE/NAME` or `ServiceEntry/NAMESPACE/NAME`; undefined: another kind. */
export function groupOf(
  { meta: { namespace } }: { readonly meta: ObjectMeta },
  { group, kind, name }: TargetReference,
): string | undefined {
  if (group === "" && kind === "Service") return `Service/${namespace}/${name}`;
  const isEntry = kind === "ServiceEntry" && NETWORKING_GROUPS.includes(group);
  return isEntry ? `ServiceEntry/${namespace}/${name}` : undefined;
}

/** The group of an XBackend as a target, `XBackend/NAMESPACE/NAME`; undefined: another kind. */
export function externalGroupOf(
  { meta: { namespace } }: { readonly meta: ObjectMeta },
  ref: TargetReference,
): string | undefined {
  return isExternal(ref) ? `XBackend/${namespace}/${ref.name}` : undefined;
}

/** A host of a target, with its ports. */
export interface TargetHost {
  readonly host: string;
  readonly ports: readonly { readonly name: string; readonly number: number }[];
}

/** The hosts of a target; none: the target does not exist. */
export function targetOf(group: string, read: DerivationReader, options: AttachOptions): TargetHost[] {
  const [kind, namespace = "", name = ""] = group.split("/");
  if (kind === "Service") {
    const service = serviceNamed({ namespace, name }, read, options);
    return service === undefined ? [] : [{ host: service.host.toLowerCase(), ports: service.ports ?? [] }];
  }
  if (kind === "XBackend") {
    const { host } = externalService({ namespace, name }, read, options) ?? {};
    return host === undefined ? [] : [{ host, ports: [] }];
  }
  const { hosts = [], ports = [] } = read.object("ServiceEntry", namespace, name)?.spec ?? {};
  return hosts.map((host) => ({ host: host.toLowerCase(), ports }));
}
