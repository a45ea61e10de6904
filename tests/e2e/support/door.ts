/**
 * A gateway with services, as configuration: all in the namespace `demo`.
 *
 * @module
 */

/** The identity of the gateway `door`, on this machine. */
export const DOOR = {
  type: "router",
  name: "door",
  namespace: "demo",
  address: "127.0.0.1",
  labels: { app: "door" },
} as const;

/** A gateway `door` for every host on a port. */
export function gateway(port: number): string {
  return `
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec:
  selector: { app: door }
  servers: [{ port: { number: ${port}, name: http, protocol: HTTP }, hosts: ["*"] }]
`;
}

/** A service behind the gateway, at a port of 127.0.0.1, for the host `NAME.test`. */
export function service(name: string, port: number): string {
  return `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: demo }
spec:
  hosts: [${name}.demo.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 127.0.0.1, ports: { http: ${port} } }]
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: ${name}, namespace: demo }
spec:
  hosts: [${name}.test]
  gateways: [door]
  http: [{ route: [{ destination: { host: ${name}.demo.svc.cluster.local } }] }]
`;
}
