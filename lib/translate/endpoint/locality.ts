/**
 * Localities: `region/zone/subzone`, each part possibly empty, and the equivalent labels.
 *
 * @module
 */
import { ownClusterName } from "../../config/spelling/cluster_name.ts";
import {
  CLUSTER_LABEL,
  NETWORK_LABEL,
  NODE_LABEL,
  REGION_LABEL,
  SUBZONE_LABEL,
  ZONE_LABEL,
} from "../../registry/labels.ts";

/** The parts of a locality, with Envoy's names. */
export interface LocalityParts {
  region?: string;
  zone?: string;
  sub_zone?: string;
}

/** Splits `region/zone/subzone`; undefined when empty. Text behind a third slash is ignored. */
export function locality(text: string): LocalityParts | undefined {
  if (text === "") return undefined;
  const [region = "", zone = "", sub_zone = ""] = text.split("/");
  return { ...(region && { region }), ...(zone && { zone }), ...(sub_zone && { sub_zone }) };
}

/** Whether a locality matches a rule's `region/zone/subzone`, where `*` and omitted parts match everything. */
export function matchesLocality(text: string, rule: string): boolean {
  const [region = "", zone = "", subzone = ""] = text.split("/");
  const [ruleRegion = "", ruleZone = "", ruleSubzone = ""] = rule.split("/");
  return (ruleRegion === "*" || region === ruleRegion) && part(zone, ruleZone) && part(subzone, ruleSubzone);
}

function part(value: string, rule: string): boolean {
  return rule === "*" || rule === "" || value === rule;
}

/** How far `there` is from `here`: 0 same subzone, 1 same zone, 2 same region, 3 elsewhere. */
export function distance(here: string, there: string): 0 | 1 | 2 | 3 {
  if (here === there) return 0;
  const [region = "", zone = "", subzone = ""] = here.split("/");
  const [otherRegion = "", otherZone = "", otherSubzone = ""] = there.split("/");
  if (region !== otherRegion) return 3;
  if (zone !== otherZone) return 2;
  return subzone === otherSubzone ? 0 : 1;
}

/** Where something runs. */
export interface EndpointPlace {
  readonly locality: string;
  readonly network: string;
  readonly clusterId: string;
  readonly nodeName?: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The value of a label. Labels of a place (region, zone, subzone, network, cluster, node) default to the place itself.
 * Empty: not set.
 */
export function placeLabel(place: EndpointPlace, label: string): string {
  const own = place.labels[label];
  if (own !== undefined) return own;
  const [region = "", zone = "", subzone = ""] = place.locality.split("/");
  switch (label) {
    case REGION_LABEL:
      return region;
    case ZONE_LABEL:
      return zone;
    case SUBZONE_LABEL:
      return subzone;
    case NETWORK_LABEL:
      return place.network;
    case CLUSTER_LABEL:
      return ownClusterName(place.clusterId);
    case NODE_LABEL:
      return place.nodeName ?? "";
    default:
      return "";
  }
}
