/**
 * Servers of Gateways that no workload listens for, though some workload serves the Gateway.
 *
 * @module
 */
import type { Judge } from "./judge.ts";

export const judgeGateway: Judge<"Gateway"> = ({ key, spec }, { mesh, routers, inForce, noteDead }) => {
  const dead = spec.servers.map((_, at) => at).filter((at) =>
    // Clusters are made for a server that passes connections on, also where nothing listens for it.
    spec.servers[at]!.tls?.mode !== "AUTO_PASSTHROUGH" && !inForce.hasWithin(key, "servers", `${at}`)
  );
  if (dead.length === 0) return [];
  noteDead();
  const served = routers.map(({ namespace, labels }) => mesh.gateways.select(namespace, labels))
    .filter((gateways) => gateways.some((one) => one.key === key));
  if (served.length === 0) return [];
  // A server without anything to serve may still keep its port from others, of which another finding tells.
  const others = new Set(served.flat().flatMap((one) => one.spec.servers));
  const isContested = (at: number) =>
    [...others].some((server) => server !== spec.servers[at] && server.port.number === spec.servers[at]!.port.number);
  if (dead.some(isContested)) return [];
  const expected = "a server that some workload of the Gateway listens for (none does)";
  if (dead.length === spec.servers.length) {
    return [{ field: "", parts: dead.map((at) => `spec.servers[${at}]`), expected }];
  }
  return dead.map((at) => ({
    field: `spec.servers[${at}].port.number`,
    value: spec.servers[at]!.port.number,
    expected,
  }));
};
