/**
 * The commands `waypoint generate` and `waypoint list`: the object of a waypoint, and the waypoints of files with their
 * users.
 *
 * Permissions: read of the named paths, env (the program's variables).
 *
 * @module
 */
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import { columns } from "../../lib/cli/terminal/layout.ts";
import { safeText } from "../../lib/cli/terminal/style.ts";
import { waypointObjects, type WaypointRequest } from "../../lib/install/objects/waypoint.ts";
import { yamlDocuments } from "../../lib/install/template/text.ts";
import { type ListedWaypoint, listWaypoints } from "../../lib/offline/waypoints.ts";
import { readMesh, tellFindings } from "./offline.ts";
import type { waypointGenerateFlags, waypointListFlags } from "./waypoint_flags.ts";

/** A name of a Service: the server deploys a Service with the name of the waypoint. */
const NAME = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
/** A name of a namespace. */
const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const NAMES = "expected lower-case letters, digits and dashes, at most 63";

/** Prints the objects as YAML; resolves with 0. */
export function runWaypointGenerate({ flags, output }: Invocation<typeof waypointGenerateFlags>): Promise<number> {
  const { name, namespace, revision, "enroll-namespace": enrolsNamespace } = flags;
  const problems = [
    ...NAME.test(name) && name !== "none"
      ? []
      : [`flag --name: got ${JSON.stringify(name)}, ${NAMES}, a letter first, and not none`],
    ...namespace === "" || NAMESPACE.test(namespace)
      ? []
      : [`flag --namespace: got ${JSON.stringify(namespace)}, ${NAMES}`],
    ...revision === "" || NAMESPACE.test(revision)
      ? []
      : [`flag --revision: got ${JSON.stringify(revision)}, ${NAMES}`],
    ...enrolsNamespace && namespace === "" ? ["flag --enroll-namespace: got no --namespace, expected its name"] : [],
    ...enrolsNamespace && ["workload", "none"].includes(flags.for)
      ? [
        `flag --enroll-namespace: got --for ${flags.for}, expected service or all: services would not use the waypoint`,
      ]
      : [],
  ];
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  const from = flags.from as WaypointRequest["from"];
  const request = { name, namespace, revision, traffic: flags.for, from, enrolsNamespace };
  output.out(yamlDocuments(waypointObjects(request)));
  return Promise.resolve(0);
}

/** Prints the waypoints. Resolves with 0, or with 1 if an object asks for a waypoint that is not used. */
export async function runWaypointList({ flags, args, output }: Invocation<typeof waypointListFlags>): Promise<number> {
  const { mesh } = await readMesh(args.length === 0 ? ["."] : args, flags, output);
  tellFindings(mesh, output);
  const waypoints = listWaypoints(mesh);
  if (flags.output === "json") output.out(`${JSON.stringify({ waypoints }, undefined, 2)}\n`);
  else output.out(waypoints.length === 0 ? "no waypoint\n" : safeText(waypoints.map(waypointText).join("")));
  return waypoints.some(({ users }) => users.some(({ way }) => way !== "waypoint")) ? 1 : 0;
}

const STATES: Readonly<Record<ListedWaypoint["state"], string>> = {
  ready: "ready",
  "not ready": "not ready: its status has no address",
  "no status": "without a status, taken as ready",
  absent: "there is no such Gateway",
};

function waypointText({ name, state, className, traffic, address, users }: ListedWaypoint): string {
  const facts = [
    ...className === undefined ? [] : [`class ${className}`],
    ...traffic === undefined ? [] : [`for ${traffic}`],
    address === undefined ? STATES[state] : `${STATES[state]} at ${address}`,
  ];
  const rows = columns(users.map(({ object, text }) => [`  ${object}`, text]));
  return [`${name}: ${facts.join(", ")}`, ...users.length === 0 ? ["  no service asks for it"] : rows, ""].join("\n");
}
