/**
 * An InferencePool as a service of the mesh: a derived ServiceEntry that selects the pods of the pool.
 *
 * @module
 */
import type { DerivedObject } from "../../config/derive/derivation.ts";
import { ownKey, ownLabelValue } from "../../config/spelling/spelling.ts";
import { type InferencePool, poolHost, poolPort } from "../attach/pools.ts";
import { poolObjectName } from "./names.ts";

/** Keeps the mesh from giving the pool an address. Clients reach a pool only through Gateways. */
const NO_ADDRESS = { "networking.mesh.io/enable-autoallocate-ip": "false" } as const;

/** The ServiceEntry of a pool. @param users Namespaces of the Gateways that lead to the pool; never empty */
export function poolServiceEntry(pool: InferencePool, users: readonly string[]): DerivedObject<"ServiceEntry"> {
  const { meta: { namespace, name }, spec: { selector, targetPorts, appProtocol } } = pool;
  return {
    kind: "ServiceEntry",
    meta: { name: poolObjectName(name), namespace, labels: NO_ADDRESS },
    spec: {
      hosts: [poolHost({ namespace, name })],
      ports: [{
        number: poolPort(pool),
        name: "http",
        protocol: appProtocol === "kubernetes.io/h2c" ? "HTTP2" : "HTTP",
      }],
      location: "MESH_INTERNAL",
      resolution: "STATIC",
      // The labels of pods are read in our spelling.
      workloadSelector: { labels: ownLabels(selector.matchLabels) },
      exportTo: users,
      internal: { targetPorts: targetPorts.map(({ number }) => number) },
    },
    of: pool,
  };
}

function ownLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).map(([key, value]) => [ownKey(key), ownLabelValue(ownKey(key), value)]),
  );
}
