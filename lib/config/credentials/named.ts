/**
 * Credentials named in objects: in servers of Gateways, and in the TLS settings of DestinationRules.
 *
 * @module
 */
import type { InternalServer } from "../kinds/gateway/internal.ts";
import type { ClientTlsSettings, ServerTlsSettings } from "../kinds/kinds.ts";
import { type AnyConfigObject, isKind } from "../types.ts";

/** A name of a credential, and the required parts of the credential. */
export interface NamedCredential {
  readonly name: string;
  /** Path of the name. */
  readonly field: string;
  readonly needsPair: boolean;
  readonly needsAuthorities: boolean;
  /** Only proxies of the object's namespace read the credential; false: gateways of any namespace do. */
  readonly isOfNamespace: boolean;
}

/** End of the name of a credential with only authorities. */
export const AUTHORITIES_ALONE = "-cacert";

/** Beginning of the name of authorities in a ConfigMap. */
export const CONFIG_MAP = "configmap://";

/** Between names whose authorities count together. The names themselves have no comma. */
const BETWEEN = ",";

/** One name for the authorities of several credentials. @param names Never empty. */
export function joinedNames(names: readonly string[]): string {
  return names.join(BETWEEN);
}

/** The names in a joined name. */
export function namesIn(joined: string): string[] {
  return joined.split(BETWEEN);
}

/** The credentials that an object names, in the order of its fields. */
export function namedCredentials(object: AnyConfigObject): NamedCredential[] {
  if (isKind(object, "Gateway")) {
    const { servers, internal } = object.spec;
    const ofServers = servers.flatMap(({ tls, internal }, at) =>
      tls ? serverCredentials(tls, `spec.servers[${at}].tls`, internal) : []
    );
    return internal?.clientCredential === undefined
      ? ofServers
      : [...ofServers, ...derived(internal.clientCredential, "spec.internal.clientCredential", "pair")];
  }
  if (!isKind(object, "DestinationRule")) return [];
  const { trafficPolicy, subsets = [], workloadSelector, internal } = object.spec;
  if (internal !== undefined) {
    return (internal.backendTls ?? []).flatMap(({ authorities }, at) =>
      authorities ? derived(authorities, `spec.internal.backendTls[${at}].authorities`, "authorities") : []
    );
  }
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

/** Credentials that only derived objects name, with their namespaces in the names. */
function derived(joined: string, field: string, part: "pair" | "authorities"): NamedCredential[] {
  const parts = { needsPair: part === "pair", needsAuthorities: part === "authorities" };
  return namesIn(joined).map((name) => ({ name, field, ...parts, isOfNamespace: true }));
}

/**
 * The credentials of a server. Envoy takes the authorities of the first name, however many certificates there are. A
 * derived server may name the authorities apart.
 */
export function serverCredentials(
  tls: ServerTlsSettings,
  at: string,
  { clientAuthorities }: InternalServer = {},
): NamedCredential[] {
  if (tls.mode !== "SIMPLE" && tls.mode !== "MUTUAL" && tls.mode !== "OPTIONAL_MUTUAL") return [];
  const own = ownCredentials(tls, at, tls.mode !== "SIMPLE" && clientAuthorities === undefined);
  if (tls.mode === "SIMPLE" || clientAuthorities === undefined) return own;
  return [...own, ...derived(clientAuthorities, `${at}.clientAuthorities`, "authorities")];
}

function ownCredentials(tls: ServerTlsSettings, at: string, verifies: boolean): NamedCredential[] {
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

/** A credential under the name in proxies' requests, and the part that proxies need. */
export interface AskedCredential {
  readonly resource: string;
  readonly part: "certificate" | "authorities";
}

/**
 * The requests of proxies to the server for a credential; none if an agent holds the credential (`builtin://`,
 * `sds://`).
 */
export function askedCredentials({ name, needsPair, needsAuthorities }: NamedCredential): AskedCredential[] {
  const resource = credentialResource(name);
  if (resource === undefined) return [];
  return [
    ...(needsPair ? [{ resource, part: "certificate" } as const] : []),
    ...(needsAuthorities ? [{ resource: `${resource}${AUTHORITIES_ALONE}`, part: "authorities" } as const] : []),
  ];
}

/** The name of a credential in proxies' requests to the server; undefined: an agent serves the credential. */
export function credentialResource(name: string): string | undefined {
  if (name.startsWith("builtin://") || name.startsWith("sds://")) return undefined;
  return /^[a-z-]+:\/\//.test(name) ? name : `kubernetes://${name}`;
}

/** Why a name can never provide a part of a credential; undefined: the name can. */
export function neverHolds({ resource, part }: AskedCredential): string | undefined {
  return part === "certificate" && resource.startsWith(CONFIG_MAP)
    ? "a ConfigMap holds authorities, and no certificate with its key"
    : undefined;
}

/** The name with the namespace of its object: `configmap://name` belongs to the namespace. */
export function inNamespace(name: string, namespace: string): string {
  if (!name.startsWith(CONFIG_MAP) || name.includes("/", CONFIG_MAP.length)) return name;
  return `${CONFIG_MAP}${namespace}/${name.slice(CONFIG_MAP.length)}`;
}
