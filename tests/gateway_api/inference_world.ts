/**
 * InferencePools of a folder: pods on loopback, and endpoint pickers.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import type { Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { GrpcServer } from "../../lib/grpc/server.ts";
import type { GrpcService } from "../../lib/grpc/service.ts";
import { listen, startListening } from "../../lib/sockets/listen/tcp.ts";
import { SocketTransport } from "../../lib/sockets/transport/socket.ts";
import type { Certificate } from "../certificates.ts";
import { pickerService, type PoolEndpoints } from "../conformance/picker/picker.ts";
import { document } from "./folder_world.ts";

/** The setting of the extension. */
export const WITH_POOLS = { ENABLE_GATEWAY_API_INFERENCE_EXTENSION: true };

/** A running endpoint picker. */
export interface RunningPicker extends AsyncDisposable {
  readonly port: number;
}

/** Runs an endpoint picker of a pool. @param tls Default: plain text */
export function runPicker(endpoints: PoolEndpoints, tls?: Certificate): Promise<RunningPicker> {
  return runService(pickerService(endpoints), tls);
}

/** Runs a gRPC service on loopback. @param tls Default: plain text */
export async function runService(service: GrpcService, tls?: Certificate): Promise<RunningPicker> {
  const server = new GrpcServer([service]);
  const accept = (socket: Socket) => server.accept(new SocketTransport(socket));
  const place = { host: "127.0.0.1", port: 0 };
  const secure = tls && { cert: tls.certificate, key: tls.key, ALPNProtocols: ["h2"] };
  const listener = secure === undefined
    ? await listen(place, accept)
    : await startListening(createTlsServer(secure, accept), place);
  return {
    port: listener.port,
    async [Symbol.asyncDispose]() {
      await Promise.all([listener.close(), server.stop(0)]);
    },
  };
}

/** The Service of a picker, port 9002. Nobody listens at port 1. */
export function pickerEntry(name: string, port = 1): string {
  return document({
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name, namespace: "shop" },
    spec: {
      hosts: [`${name}.shop.svc.cluster.local`],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      ports: [{ number: 9002, name: "grpc", protocol: "GRPC", targetPort: port }],
      endpoints: [{ address: "127.0.0.1" }],
    },
  });
}

/** A workload of a pool, on loopback. */
export function poolWorkload(app: string): string {
  return document({
    apiVersion: "networking.mesh.io/v1",
    kind: "WorkloadEntry",
    metadata: { name: app, namespace: "shop" },
    spec: { address: "127.0.0.1", labels: { app } },
  });
}

/** A pool of namespace `shop`. @param app Label of the workloads */
export function pool(
  name: string,
  app: string,
  ports: readonly number[],
  picker: string,
  { failureMode, ...more }: { readonly failureMode?: string; readonly appProtocol?: string } = {},
): string {
  return document({
    apiVersion: "inference.networking.k8s.io/v1",
    kind: "InferencePool",
    metadata: { name, namespace: "shop" },
    spec: {
      selector: { matchLabels: { app } },
      targetPorts: ports.map((number) => ({ number })),
      endpointPickerRef: { name: picker, port: { number: 9002 }, ...(failureMode && { failureMode }) },
      ...more,
    },
  });
}

/** A reference of a route to a pool. */
export function toPool(name: string, more: object = {}): object {
  return { group: "inference.networking.k8s.io", kind: "InferencePool", name, ...more };
}
