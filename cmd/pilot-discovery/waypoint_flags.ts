/**
 * Flags of the commands about waypoints.
 *
 * @module
 */
import { boolFlag, stringFlag } from "../../lib/cli/flag.ts";
import { meshFlags } from "./offline_flags.ts";

export const waypointGenerateFlags = {
  name: stringFlag("waypoint", "name of the waypoint"),
  namespace: stringFlag("", "namespace of the waypoint; default: where `kubectl` applies it", { short: "n" }),
  for: stringFlag("", "traffic of the waypoint; default: that of its class, which is `service`", {
    allowed: ["service", "workload", "all", "none"],
  }),
  from: stringFlag("Same", "namespaces whose services may use the waypoint", { allowed: ["Same", "All"] }),
  revision: stringFlag("", "revision that deploys the waypoint; default: the default revision", { short: "r" }),
  "enroll-namespace": boolFlag("also print the namespace with the label by which all of its services use the waypoint"),
};

export const waypointListFlags = {
  ...meshFlags,
  output: stringFlag("text", "one of `text` or `json`", { short: "o", allowed: ["text", "json"] }),
};
