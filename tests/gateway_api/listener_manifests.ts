/**
 * Manifests of Gateways, Secrets and grants for tests of listeners.
 *
 * @module
 */

/** Head of a Gateway. */
export const GATEWAY = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\n";

/** TLS of a listener with a usable certificate. */
export const GOOD_TLS = "tls: {certificateRefs: [{name: good}]}";

/** Secrets and authorities, usable and others. */
export const SECRETS = `
apiVersion: v1
kind: Secret
metadata: {name: good}
type: kubernetes.io/tls
data: {tls.crt: $CERTIFICATE, tls.key: $KEY}
---
apiVersion: v1
kind: Secret
metadata: {name: malformed}
type: kubernetes.io/tls
stringData: {tls.crt: hello, tls.key: world}
---
apiVersion: v1
kind: Secret
metadata: {name: far, namespace: vault}
type: kubernetes.io/tls
data: {tls.crt: $CERTIFICATE, tls.key: $KEY}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: authorities}
data: {ca.crt: $AUTHORITY_TEXT}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: empty}
data: {other: text}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: far, namespace: vault}
data: {ca.crt: $AUTHORITY_TEXT}
---
`;

/** Head of a grant in namespace `vault`. */
export const GRANT = `
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: grant, namespace: vault}
`;

/** A Gateway `gw` with listeners in flow form. */
export function gateway(listeners: string, more = ""): string {
  return `${GATEWAY}metadata: {name: gw}\nspec: {gatewayClassName: mesh, listeners: [${listeners}]${more}}\n---\n`;
}
