/**
 * Credentials that objects name: the servers of Gateways, and the TLS settings of DestinationRules.
 *
 * @module
 */
import type { ClientTlsSettings, ServerTlsSettings } from "../kinds/kinds.ts";
import { type AnyConfigObject, isKind } from "../types.ts";

/** A name of a credential, and what the credential is to have. */
export interface NamedCredential {
  readonly name: string;
  /** Path of the name. */
  readonly field: string;
  readonly needsPair: boolean;
  readonly needsAuthorities: boolean;
  /** Proxies of the object's namespace alone read the credential; false: gateways, which may be in any. */
  readonly isOfNamespace: boolean;
}

/** End of the name of authorities alone. */
export const AUTHORITIES_ALONE = "-cacert";

/** Beginning of the name of authorities in a ConfigMap. */
export const CONFIG_MAP = "configmap://";

/** The credentials that an object names, in the order of its fields. */
export function namedCredentials(object: AnyConfigObject): NamedCredential[] {
  if (isKind(object, "Gateway")) {
    return object.spec.servers.flatMap(({ tls }, at) => tls ? serverCredentials(tls, `spec.servers[${at}].tls`) : []);
  }
  if (!isKind(object, "DestinationRule")) return [];
  const { trafficPolicy, subsets = [], workloadSelector } = object.spec;
  const policies = [
    { policy: trafficPolicy, at: "spec.trafficPolicy" },
    ...subsets.map(({ trafficPolicy: policy }, i) => ({ policy, at: `spec.subsets[${i}].trafficPolicy` })),
  ];
  return policies.flatMap(({ policy, at }) =>
    [
      { tls: policy?.tls, field: `${at}.tls` },
      ...(policy?.portLevelSettings ?? []).map(({ tls }, i) => ({ tls, field: `${at}.portLevelSettings[${i}].tls` })),
    ].flatMap(({ tls, field }) => clientCredential(tls, field, workloadSelector !== undefined))
  );
}

/** Those of a server. Envoy takes the authorities of the first name, however many certificates there are. */
export function serverCredentials(tls: ServerTlsSettings, at: string): NamedCredential[] {
  if (tls.mode !== "SIMPLE" && tls.mode !== "MUTUAL" && tls.mode !== "OPTIONAL_MUTUAL") return [];
  const verifies = tls.mode !== "SIMPLE";
  const of = (name: string, field: string, isFirst: boolean): NamedCredential => ({
    ...{ name, field: `${at}.${field}`, needsPair: true, needsAuthorities: verifies && isFirst, isOfNamespace: false },
  });
  if (tls.credentialNames?.length) {
    return tls.credentialNames.map((name, i) => of(name, `credentialNames[${i}]`, i === 0));
  }
  return tls.credentialName ? [of(tls.credentialName, "credentialName", true)] : [];
}

function clientCredential(
  tls: ClientTlsSettings | undefined,
  at: string,
  isOfNamespace: boolean,
): NamedCredential[] {
  if (!tls?.credentialName || (tls.mode !== "SIMPLE" && tls.mode !== "MUTUAL")) return [];
  return [{
    ...{ name: tls.credentialName, field: `${at}.credentialName`, isOfNamespace },
    ...{ needsPair: tls.mode === "MUTUAL", needsAuthorities: tls.insecureSkipVerify !== true },
  }];
}

/** A credential as proxies ask for it, and the part of it that they need. */
export interface AskedCredential {
  readonly resource: string;
  readonly part: "certificate" | "authorities";
}

/** What proxies ask the server for, by the names of a credential; nothing where an agent has it (`builtin://`, `sds://`). */
export function askedCredentials({ name, needsPair, needsAuthorities }: NamedCredential): AskedCredential[] {
  const resource = credentialResource(name);
  if (resource === undefined) return [];
  return [
    ...(needsPair ? [{ resource, part: "certificate" } as const] : []),
    ...(needsAuthorities ? [{ resource: `${resource}${AUTHORITIES_ALONE}`, part: "authorities" } as const] : []),
  ];
}

/** The name by which proxies ask the server for a credential; undefined: an agent serves it. */
export function credentialResource(name: string): string | undefined {
  if (name.startsWith("builtin://") || name.startsWith("sds://")) return undefined;
  return /^[a-z-]+:\/\//.test(name) ? name : `kubernetes://${name}`;
}

/** Why a part of a credential never comes by that name; undefined: it may. */
export function neverHolds({ resource, part }: AskedCredential): string | undefined {
  return part === "certificate" && resource.startsWith(CONFIG_MAP)
    ? "a ConfigMap holds authorities, and no certificate with its key"
    : undefined;
}

/** The name with the namespace of the object that has it: `configmap://name` is of that namespace. */
export function inNamespace(name: string, namespace: string): string {
  if (!name.startsWith(CONFIG_MAP) || name.includes("/", CONFIG_MAP.length)) return name;
  return `${CONFIG_MAP}${namespace}/${name.slice(CONFIG_MAP.length)}`;
}
