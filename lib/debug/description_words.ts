/**
 * Parts of a description in words, for the command and for the page.
 *
 * @module
 */
import type { Labels } from "../registry/labels.ts";
import type { DescribedPort, DescribedRoute, DescribedTarget, DescribedTls } from "./description.ts";

/** `app=cart, version=v1`. */
export function labelText(labels: Labels): string {
  return Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(", ");
}

/** The mode of mutual TLS, the objects behind the mode, and the modes of ports. */
export function tlsText({ mode, ports, objects }: DescribedTls): string {
  const own = Object.entries(ports).map(([port, one]) => `port ${port} ${one}`);
  const by = objects.length === 0 ? "the default of the mesh" : `by ${objects.join(", ")}`;
  return [`${mode}, ${by}`, ...own].join("; ");
}

/** Name and protocol of a port, and where it leads. */
export function portText({ name, protocol, targets }: DescribedPort): string {
  const title = [name, protocol].filter(Boolean).join(" ");
  return targets.length === 0
    ? `${title}, no workload is known behind it`
    : `${title} to port ${targets.join(", ")} of workloads`;
}

/** A destination from the view of the described service: `10 % to subset v2`. */
export function targetText({ host, subset, percent, isHere }: DescribedTarget): string {
  const share = percent === undefined ? "" : `${percent} % `;
  const name = isHere ? subset === undefined ? "this service" : `subset ${subset}` : host;
  return `${share}to ${name}`;
}

/** Where requests of a route go, if the route has no destination. */
export function answerText({ answers }: DescribedRoute): string {
  return answers ?? "nowhere";
}

/** The gateways of routes beside the mesh: ` by gateway shop/entry`; empty: none. */
export function gatewaysText(gateways: readonly string[]): string {
  const outside = gateways.filter((name) => name !== "mesh");
  return outside.length === 0 ? "" : ` by ${outside.map((name) => `gateway ${name}`).join(", ")}`;
}
