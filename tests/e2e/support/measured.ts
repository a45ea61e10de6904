/**
 * Proxies with measured metrics: services, statements about workloads, and series of metrics.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import { peerMetadata } from "../../../lib/agent/node/peer_metadata.ts";
import type { TestEnvoy } from "./mesh.ts";

type Labels = Readonly<Record<string, string>>;

/** The series of a metric with the given labels, and the sum. */
export async function counted(
  envoy: TestEnvoy,
  name: string,
  wanted: Labels,
): Promise<{ sum: number; labels: Labels[] }> {
  const text = await envoy.admin("stats/prometheus") ?? "";
  const found = [...text.matchAll(new RegExp(`^envoy_istio_${name}\\{(.*)\\} (\\S+)$`, "gm"))]
    .map(([, labels = "", value]) => ({
      labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, one]) => [key!, one!])),
      value: Number(value),
    }))
    .filter(({ labels }) => Object.entries(wanted).every(([key, value]) => labels[key] === value));
  return { sum: found.reduce((sum, { value }) => sum + value, 0), labels: found.map(({ labels }) => labels) };
}

/** A service `NAME.test` of the mesh on a port, with an endpoint of the application `far`. */
export function entry(name: string, port: number, protocol: string, endpoint: number): object {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name, namespace: "demo" },
    spec: {
      hosts: [`${name}.test`],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [{ number: port, protocol, name: protocol.toLowerCase() }],
      endpoints: [{ address: "127.0.0.1", ports: { [protocol.toLowerCase()]: endpoint }, labels: { app: "far" } }],
    },
  };
}

/** How the sidecar of an application takes requests on a port. */
export function ingress(app: string, protocol: string, port: number, application: number): object {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "Sidecar",
    metadata: { name: app, namespace: "demo" },
    spec: {
      workloadSelector: { labels: { app } },
      egress: [{ hosts: ["~/*"] }],
      ingress: [{
        port: { number: port, protocol, name: "in" },
        defaultEndpoint: `127.0.0.1:${application}`,
        bind: "127.0.0.1",
        captureMode: "NONE",
      }],
    },
  };
}

/** A workload's statement in the header. */
export const said = (workload: string) =>
  peerMetadata({ workload, namespace: "demo", cluster: "c1", labels: { app: workload }, additional: [] });

/** A sidecar with a statement about its workload. */
export function sidecar(name: string) {
  const metadata = { MESH_PEER: said(name) };
  return { type: "sidecar", name, namespace: "demo", address: "127.0.0.1", labels: { app: name }, metadata } as const;
}
