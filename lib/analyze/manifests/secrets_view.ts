/**
 * Secrets by their names in configuration, in the server's own cluster and in remote clusters.
 *
 * @module
 */
import { AUTHORITIES_ALONE } from "../../config/credentials/named.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/** The secrets of a cluster. */
export interface SecretsView {
  /** The text after the name of a secret in messages; empty: the server's own cluster. */
  readonly of: string;
  readonly one: (namespace: string, name: string) => Fact<"Secret"> | undefined;
  readonly named: (name: string) => readonly Fact<"Secret">[];
}

/** The secrets of each cluster, the server's own cluster first. */
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

/** Reads a `credentialName`; undefined: an agent, a file or a ConfigMap serves the credential. */
export function secretName(credential: string, namespace: string): WantedSecret | undefined {
  const [, scheme = "kubernetes", rest = ""] = /^(?:([a-z-]+):\/\/)?(.*)$/.exec(credential) ?? [];
  if (scheme !== "kubernetes" && scheme !== "kubernetes-gateway") return undefined;
  const slash = rest.indexOf("/");
  return slash < 0 ? { namespace, name: rest } : { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) };
}

/**
 * The secret of the name in the namespace, or else the only secret of the name, because gateways' pods may run in
 * another namespace.
 *
 * @param isOfNamespace Only proxies of the namespace ask for the secret.
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

/** The secret with the authorities: a secret of its own, or the secret of the certificate. */
export function authoritySecretOf(
  wanted: WantedSecret,
  cluster: SecretsView,
  isOfNamespace = false,
): Fact<"Secret"> | undefined {
  const beside = secretOf(wanted, cluster, isOfNamespace);
  const namespace = beside?.meta.namespace ?? wanted.namespace;
  return cluster.one(namespace, `${wanted.name}${AUTHORITIES_ALONE}`) ?? beside;
}
