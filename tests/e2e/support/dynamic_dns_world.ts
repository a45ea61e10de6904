/**
 * A client whose sidecar resolves the hosts of requests, by a service entry with a wildcard.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import http from "node:http";

/** Where the sidecar listens; the services are at the same ports of 127.0.0.1. */
export const SIDECAR = "127.0.0.2";

const listener = (number: number, protocol: string) =>
  `{ port: { number: ${number}, name: p${number}, protocol: ${protocol} }, bind: ${SIDECAR}, captureMode: NONE, hosts: ["./*"] }`;

/** The configuration: a port of requests and one of TLS. */
export function dynamicDnsWorld(wildcard: string, requests: number, names: number): string {
  return `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: wild, namespace: demo }
spec:
  hosts: ["${wildcard}"]
  location: MESH_EXTERNAL
  resolution: DYNAMIC_DNS
  ports:
  - { number: ${requests}, name: http, protocol: HTTP }
  - { number: ${names}, name: tls, protocol: TLS }
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: client, namespace: demo }
spec:
  workloadSelector: { labels: { app: client } }
  outboundTrafficPolicy: { mode: REGISTRY_ONLY }
  egress: [${listener(requests, "HTTP")}, ${listener(names, "TLS")}]
`;
}

/**
 * A service of plain bytes, all of whose connections a rule sends to a host under the wildcard, and a service of requests
 * that a rule copies to that host. Added to the world before.
 *
 * @param names The port of the wildcard's TLS; `requests`: of its requests.
 */
export function ruledWorld(host: string, ports: Record<"requests" | "names" | "bytes" | "copied", number>): string {
  const { requests, names, bytes, copied } = ports;
  const to = `{ destination: { host: ${host}, port: { number: ${names} } }, weight: 50 }`;
  const plain = `
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: plain, namespace: demo }
spec:
  hosts: [plain.test]
  resolution: STATIC
  ports: [{ number: ${bytes}, name: tcp, protocol: TCP }, { number: ${copied}, name: http, protocol: HTTP }]
  endpoints: [{ address: 127.0.0.1 }]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: plain, namespace: demo }
spec:
  hosts: [plain.test]
  tcp: [{ match: [{ port: ${bytes} }], route: [${to}, ${to}] }]
  http:
  - route: [{ destination: { host: plain.test, port: { number: ${copied} } } }]
    mirrors: [{ destination: { host: ${host}, port: { number: ${requests} } } }]
`;
  const egress = listener(bytes, "TCP") + ", " + listener(copied, "HTTP");
  return dynamicDnsWorld("*.localhost", requests, names).replace("egress: [", `egress: [${egress}, `) + plain;
}

/** The body of an answer, or the status where it is not 200. */
export function askNamed(port: number, host: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const request = http.get({ host: SIDECAR, port, headers: { host }, agent: false }, (response) => {
    let body = "";
    response.setEncoding("utf8").on("data", (text) => body += text);
    response.on("end", () => resolve(response.statusCode === 200 ? body : `${response.statusCode}`));
  });
  request.on("error", (error) => resolve(error.message));
  return promise;
}
