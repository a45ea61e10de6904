/**
 * Names of credentials, as proxies ask for them (Istio's):
 *
 *     kubernetes://NAME, kubernetes://NAMESPACE/NAME    a Secret; without a namespace that of the proxy
 *     kubernetes-gateway://NAMESPACE/NAME               a Secret
 *     configmap://NAMESPACE/NAME                        a ConfigMap with authorities
 *
 * With `-cacert` at the end: its authorities alone.
 *
 * Credentials for registries of images have names of the second form, always with a namespace.
 *
 * @module
 */

/** An object that holds a credential. */
export interface CredentialReference {
  readonly kind: "Secret" | "ConfigMap";
  readonly namespace: string;
  /** The objects that are looked for, the first that exists counts. */
  readonly names: readonly string[];
  /** The wanted part of it: authorities, or (false) a certificate with its key. */
  readonly authorities: boolean;
}

const AUTHORITIES_ALONE = "-cacert";

const FORM = /^(kubernetes|kubernetes-gateway|configmap):\/\/(?:([^/]+)\/)?([^/]+)$/;

/**
 * Reads the name of a credential; undefined: it is none.
 *
 * @param namespace Of the proxy.
 */
export function credentialReference(resource: string, namespace: string): CredentialReference | undefined {
  const [, scheme, written, name] = FORM.exec(resource) ?? [];
  if (scheme === undefined || name === undefined) return undefined;
  if (written === undefined && scheme !== "kubernetes") return undefined;
  const suffixed = name.endsWith(AUTHORITIES_ALONE);
  const plain = suffixed ? name.slice(0, -AUTHORITIES_ALONE.length) : name;
  if (scheme === "configmap") {
    return { kind: "ConfigMap", namespace: written ?? namespace, names: [plain], authorities: true };
  }
  // Authorities may have a secret of their own, or lie beside the certificate.
  const names = suffixed ? [name, plain] : [name];
  return { kind: "Secret", namespace: written ?? namespace, names, authorities: suffixed };
}

/** Reads the name of a Secret with credentials for registries; undefined: it is none. */
export function registryReference(resource: string): CredentialReference | undefined {
  const [, namespace, name] = /^kubernetes:\/\/([^/]+)\/([^/]+)$/.exec(resource) ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  return { kind: "Secret", namespace, names: [name], authorities: false };
}
