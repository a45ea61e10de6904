/**
 * The name of a destination's cluster, from the view of a proxy: at the waypoint of a service the cluster leads to the
 * workloads behind the waypoint, and has another name than at clients.
 *
 * @module
 */
import type { Service } from "../../registry/types.ts";
import { aspect } from "../reader/aspect.ts";
import type { Reader } from "../reader/reader.ts";
import { waypointName } from "../reader/waypoint_role.ts";
import { listenerKind } from "../service/protocol.ts";
import { outboundClusterName, servedClusterName } from "./names.ts";

/** A destination as rules name it. */
interface NamedDestination {
  readonly host: string;
  readonly port: number;
  /** Empty: the default cluster. */
  readonly subset: string;
  readonly service: Service | undefined;
}

/** The name of the cluster. */
export function clusterName(read: Reader, { host, port, subset, service }: NamedDestination): string {
  if (service === undefined || !read.settings.waypoints || !aspect(read, "waypoint")) {
    return outboundClusterName(port, subset, host);
  }
  const waypoint = read.waypointOf(host);
  const isOwn = waypoint !== undefined &&
    read.derived(`isWaypoint/${waypoint}`, (properties) => waypointName(properties) === waypoint);
  if (!isOwn) return outboundClusterName(port, subset, host);
  const protocol = service.ports.find((one) => one.port === port && one.protocol !== "UDP")?.protocol ?? "TCP";
  return servedClusterName(port, listenerKind(protocol) === "tcp" ? "tcp" : "http", subset, host);
}
