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

/** The configuration: a port of requests and one of TLS. */
export function dynamicDnsWorld(wildcard: string, requests: number, names: number): string {
  const listener = (number: number, protocol: string) =>
    `{ port: { number: ${number}, name: p${number}, protocol: ${protocol} }, bind: ${SIDECAR}, captureMode: NONE, hosts: ["./*"] }`;
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
