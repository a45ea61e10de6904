/**
 * Finds the service for a name: `reviews.shop`, `shop/reviews` or a host.
 *
 * @module
 */
import { nearestName } from "../../kernel/text/nearest.ts";
import type { Service } from "../../registry/types.ts";
import type { DescribedWorld } from "./world.ts";

/** A name that fits no service. The message has the name and says what there is. */
export class NoSuchService extends Error {
  override readonly name = "NoSuchService";
}

/** The most names listed in a message. */
const MAX_LISTED = 10;

/**
 * Finds the service.
 *
 * @throws {NoSuchService} with the names that are near
 */
export function findService(wanted: string, { services, facts, domain }: DescribedWorld): Service {
  const all = [...services.services()].sort((a, b) => (shownName(a) < shownName(b) ? -1 : 1));
  const exact = all.filter((one) => isNamed(one, wanted, domain));
  if (exact[0] !== undefined) return exact[0];
  const [namespace = "", name = ""] = wanted.includes("/") ? wanted.split("/") : wanted.split(".").reverse();
  if (facts.get("Service", namespace, name) !== undefined) {
    throw new NoSuchService(
      `Service ${namespace}/${name} is written, but Services of manifests are part of the mesh only with ` +
        `--registries=File`,
    );
  }
  const guess = nearestName(wanted, all.map(shownName));
  if (guess !== undefined) throw new NoSuchService(`no service ${wanted}; did you mean ${guess}?`);
  const elsewhere = all.filter((one) => one.name === name || one.name === namespace).map(shownName);
  const listed = elsewhere.length > 0 ? elsewhere : all.map(shownName);
  if (listed.length === 0) throw new NoSuchService(`no service ${wanted}; the mesh has no service`);
  const more = listed.length > MAX_LISTED ? ` and ${listed.length - MAX_LISTED} more` : "";
  throw new NoSuchService(`no service ${wanted}; there are ${listed.slice(0, MAX_LISTED).join(", ")}${more}`);
}

function isNamed({ hostname, name, namespace }: Service, wanted: string, domain: string): boolean {
  return hostname === wanted || `${namespace}/${name}` === wanted || `${namespace}/${hostname}` === wanted ||
    `${name}.${namespace}` === wanted || hostname === `${wanted}.svc.${domain}` || hostname === `${wanted}.${domain}`;
}

/** `reviews.shop`, as users name it. */
function shownName({ name, namespace }: Service): string {
  return `${name}.${namespace}`;
}
