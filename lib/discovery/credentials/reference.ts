/**
 * Names of credentials in the requests of proxies, as Istio spells them:
 *
 *     kubernetes://NAME, kubernetes://NAMESPACE/NAME    a Secret; the default namespace is the proxy's
 *     kubernetes-gateway://NAMESPACE/NAME               a Secret
 *     configmap://NAMESPACE/NAME                        a ConfigMap with authorities
 *
 * The suffix `-cacert` asks only for the authorities. Before the suffix there may be several names with commas in
 * between: the authorities of all names together.
 *
 * A name of credentials for an image registry is `kubernetes://NAMESPACE/NAME`, always with a namespace.
 *
 * @module
 */
import { AUTHORITIES_ALONE, namesIn } from "../../config/credentials/named.ts";

/** The address of an object with a credential. */
export interface CredentialReference {
  readonly kind: "Secret" | "ConfigMap";
  readonly namespace: string;
  /** Candidate names of the object. The first name with an object counts. */
  readonly names: readonly string[];
  /** Whether the name is the name of a Secret that a derived Gateway names: the scheme is `kubernetes-gateway`. */
  readonly byGateway?: true;
  /** Whether the authorities of the object are wanted, or its certificate and key. */
  readonly authorities: boolean;
}

const FORM = /^(kubernetes|kubernetes-gateway|configmap):\/\/(?:([^/]+)\/)?([^/]+)$/;

/** Most names whose authorities count together: as many as a Gateway or a policy of the Gateway API may name. */
const MOST_TOGETHER = 8;

/**
 * Reads the name of a credential; undefined: the name is not a credential's.
 *
 * @param namespace Namespace of the proxy.
 * @returns Several references: the authorities of all count together.
 */
export function credentialReferences(resource: string, namespace: string): CredentialReference[] | undefined {
  const isAlone = resource.endsWith(AUTHORITIES_ALONE);
  const names = namesIn(isAlone ? resource.slice(0, -AUTHORITIES_ALONE.length) : resource);
  if (names.length > (isAlone ? MOST_TOGETHER : 1)) return undefined;
  const found = names.map((name) => credentialReference(isAlone ? `${name}${AUTHORITIES_ALONE}` : name, namespace));
  const references = found.filter((one) => one !== undefined);
  return references.length === names.length ? references : undefined;
}

/** Reads the name of one credential; see {@linkcode credentialReferences}. */
function credentialReference(resource: string, namespace: string): CredentialReference | undefined {
  const [, scheme, written, name] = FORM.exec(resource) ?? [];
  if (scheme === undefined || name === undefined) return undefined;
  if (written === undefined && scheme !== "kubernetes") return undefined;
  const suffixed = name.endsWith(AUTHORITIES_ALONE);
  const plain = suffixed ? name.slice(0, -AUTHORITIES_ALONE.length) : name;
  if (scheme === "configmap") {
    return { kind: "ConfigMap", namespace: written ?? namespace, names: [plain], authorities: true };
  }
  // Authorities lie in a secret of their own, or beside the certificate.
  const names = suffixed ? [name, plain] : [name];
  const byGateway = scheme === "kubernetes-gateway" ? { byGateway: true } as const : {};
  return { kind: "Secret", namespace: written ?? namespace, names, authorities: suffixed, ...byGateway };
}

/** Reads the name of a Secret with credentials for registries; undefined: the name has another form. */
export function registryReference(resource: string): CredentialReference[] | undefined {
  const [, namespace, name] = /^kubernetes:\/\/([^/]+)\/([^/]+)$/.exec(resource) ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  return [{ kind: "Secret", namespace, names: [name], authorities: false }];
}
