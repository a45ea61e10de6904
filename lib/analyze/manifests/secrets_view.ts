/**
 * Secrets by the names that configuration gives them, in the server's own cluster and in remote ones.
 *
 * @module
 */
import { AUTHORITIES_ALONE } from "../../config/credentials/named.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/** The secrets of one cluster. */
export interface SecretsView {
  /** The text that messages put behind the name of a secret; empty: the server's own cluster. */
  readonly of: string;
  readonly one: (namespace: string, name: string) => Fact<"Secret"> | undefined;
  readonly named: (name: string) => readonly Fact<"Secret">[];
}

/** Those of each cluster, the server's own first. */
export function clusterSecrets(read: AnalysisReader): SecretsView[] {
  const own: SecretsView = {
    of: "",
    one: (namespace, name) => read.fact("Secret", namespace, name),
    named: (name) => read.facts("Secret").filter(({ meta }) => meta.name === name),
  };
  return [
    own,
    ...read.remote.clusters().map((cluster): SecretsView => ({
      of: ` of cluster ${cluster}`,
      one: (namespace, name) => read.remote.secret(cluster, namespace, name),
      named: (name) => read.remote.secrets(cluster, name),
    })),
  ];
}

/** A secret as configuration names it. */
export interface WantedSecret {
  readonly namespace: string;
  readonly name: string;
}

/** Reads a `credentialName`; undefined: it is served by an agent, a file or a ConfigMap. */
export function secretName(credential: string, namespace: string): WantedSecret | undefined {
  const [, scheme = "kubernetes", rest = ""] = /^(?:([a-z-]+):\/\/)?(.*)$/.exec(credential) ?? [];
  if (scheme !== "kubernetes" && scheme !== "kubernetes-gateway") return undefined;
  const slash = rest.indexOf("/");
  return slash < 0 ? { namespace, name: rest } : { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) };
}

/**
 * The secret of that name in the namespace; else the only one of that name: gateways' pods may run elsewhere.
 *
 * @param isOfNamespace Proxies of that namespace alone ask for the secret.
 */
export function secretOf(
  { namespace, name }: WantedSecret,
  cluster: SecretsView,
  isOfNamespace = false,
): Fact<"Secret"> | undefined {
  const own = cluster.one(namespace, name);
  if (own !== undefined || isOfNamespace) return own;
  const [one, ...more] = cluster.named(name);
  return more.length === 0 ? one : undefined;
}

/** The secret that authorities come from: one of their own, or that of the certificate, beside which it is looked for. */
export function authoritySecretOf(
  wanted: WantedSecret,
  cluster: SecretsView,
  isOfNamespace = false,
): Fact<"Secret"> | undefined {
  const beside = secretOf(wanted, cluster, isOfNamespace);
  const namespace = beside?.meta.namespace ?? wanted.namespace;
  return cluster.one(namespace, `${wanted.name}${AUTHORITIES_ALONE}`) ?? beside;
}
