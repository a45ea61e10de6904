/**
 * The memory of a sidecar with the whole mesh, and of a sidecar that asks for what its workload calls.
 *
 * Permissions: run (envoy), net (loopback), read and write (a temporary folder), env (ENVOY).
 *
 * @module
 */
import { get } from "node:http";
import { startEnvoy } from "./envoy.ts";

/** Services of the larger mesh. */
export const CROWD = 500;

/** The namespace of the services: only its sidecars have them. */
const NAMESPACE = "crowd";

const hostOf = (index: number) => `service-${index}.crowd.svc.cluster.local`;

/** The services, on a port of this machine, with an application behind each. */
export function crowdFile(port: number, appPort: number): string {
  return Array.from({ length: CROWD }, (_, index) =>
    `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: service-${index}, namespace: ${NAMESPACE} }
spec:
  hosts: [${hostOf(index)}]
  exportTo: ["."]
  location: MESH_INTERNAL
  resolution: STATIC
  ports:
  - { number: ${port}, name: http, protocol: HTTP, targetPort: ${appPort} }
  endpoints:
  - { address: 127.0.0.1 }
`).join("---\n");
}

/** A measured sidecar. */
export interface MeasuredSidecar {
  readonly binary: string;
  readonly folder: string;
  readonly discoveryPort: number;
  readonly port: number;
  readonly asks: boolean;
}

/** Bytes that an Envoy has allocated, by its own statistics, after its workload has called one of the services. */
export async function allocated({ binary, folder, discoveryPort, port, asks }: MeasuredSidecar): Promise<number> {
  await using envoy = await startEnvoy({
    ...{ binary, folder, discoveryPort },
    identity: {
      ...{ type: "sidecar", name: asks ? "asking" : "everything", namespace: NAMESPACE, address: "127.0.0.1" },
      ...{ labels: {}, metadata: asks ? { ON_DEMAND: "true" } : {} },
    },
  });
  await envoy.ready([`127.0.0.1:${port}`]);
  await envoy.until("answer of a service", async () => await statusOf(port, hostOf(0)) === 200);
  const all = asks ? 1 : CROWD;
  await envoy.until("clusters of the services", async () => {
    const page = await envoy.page("clusters") ?? "";
    return page.split("\n").filter((line) => /::observability_name::outbound\|/.test(line)).length >= all;
  });
  const memory = JSON.parse(await envoy.page("memory") ?? "{}") as { readonly allocated?: string };
  return Number(memory.allocated);
}

/** The status of an answer; undefined: none. */
function statusOf(port: number, host: string): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const asked = get({ host: "127.0.0.1", port, headers: { host }, agent: false }, (answer) => {
    answer.resume().on("end", () => resolve(answer.statusCode));
  });
  asked.on("error", () => resolve(undefined));
  return promise;
}
