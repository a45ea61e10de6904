/**
 * Objects of a folder as texts: Gateway `shop/edge` with services and routes of namespace `shop`.
 *
 * @module
 */

/** An object as a YAML document. JSON is YAML. */
export function document(object: object): string {
  return `\n---\n${JSON.stringify(object)}`;
}

/** A service with one endpoint on loopback, behind port 8080. */
export function backendService(name: string, port: number, namespace = "shop", protocol = "TCP"): string {
  return document({
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name, namespace },
    spec: {
      hosts: [`${name}.${namespace}.svc.cluster.local`],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [{ number: 8080, name: "first", protocol, targetPort: port }],
      endpoints: [{ address: "127.0.0.1", ports: { first: port } }],
    },
  });
}

/** An object of the Gateway API. Default namespace: `shop`. */
export function api(kind: string, name: string, spec: object, metadata: object = {}): string {
  const whole = { name, namespace: "shop", ...metadata };
  return document({ apiVersion: "gateway.networking.k8s.io/v1", kind, metadata: whole, spec });
}

/** Gateway `shop/edge`. */
export function edgeGateway(listeners: readonly object[], more: object = {}): string {
  return api("Gateway", "edge", { gatewayClassName: "mesh", listeners, ...more });
}

/** An HTTPRoute of Gateway `shop/edge`. */
export function httpRoute(
  name: string,
  rules: readonly object[],
  { sectionName, ...more }: { readonly sectionName?: string; readonly hostnames?: readonly string[] } = {},
): string {
  return api("HTTPRoute", name, {
    parentRefs: [{ name: "edge", ...(sectionName && { sectionName }) }],
    ...more,
    rules,
  });
}

/** A rule to port 8080 of a service. */
export function ruleTo(name: string, more: object = {}): object {
  return { ...more, backendRefs: [{ name, port: 8080 }] };
}
