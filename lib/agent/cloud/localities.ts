/**
 * Regions of clouds, from the names of zones.
 *
 * @module
 */
import type { NodeLocality } from "../node/agent_node.ts";

/**
 * A zone of Google, `europe-west1-b`, lies in the region before the last part of the name. A regional cluster has a
 * region alone.
 */
export function googleLocality(place: string): NodeLocality {
  const at = place.lastIndexOf("-");
  const region = place.slice(0, Math.max(0, at));
  const dash = region.indexOf("-", 1);
  const isZone = /^[a-z]+$/.test(place.slice(at + 1)) && /\d$/.test(region) && dash > 0 && dash < region.length - 2;
  return isZone ? { region, zone: place } : { region: place };
}

/** A zone of Amazon, `us-east-1a`, lies in the region before the last letter of the name. */
export function amazonLocality(zone: string): NodeLocality {
  const region = /^(.+\d)[a-z]$/.exec(zone)?.[1];
  return region === undefined ? { zone } : { region, zone };
}
