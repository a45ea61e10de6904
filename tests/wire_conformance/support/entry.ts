/**
 * A service for servers whose clients want a response.
 * @module
 */

/** A ServiceEntry with one endpoint. */
export const ENTRY = `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: shop }
spec:
  hosts: [a.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.1 }]
`;
