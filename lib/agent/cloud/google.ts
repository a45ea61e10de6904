/**
 * Google Cloud's facts about a machine, from a setting or from the metadata server.
 *
 * Permissions: net (the metadata server).
 *
 * @module
 */
import { googleLocality } from "./localities.ts";
import { type CloudFacts, givenTexts, type MetadataPage, optionalPage } from "./metadata_server.ts";

/** The server answers only requests with this header. */
export const GOOGLE_HEADERS = { "metadata-flavor": "Google" };

const ROOT = "/computeMetadata/v1";

/** Pages of the metadata server, by the key of the fact. */
const PAGES = {
  gcp_project: "project/project-id",
  gcp_project_number: "project/numeric-project-id",
  gcp_gke_cluster_name: "instance/attributes/cluster-name",
  gcp_location: "instance/attributes/cluster-location",
  gcp_gce_instance: "instance/name",
  gcp_gce_instance_id: "instance/id",
  gcp_gce_instance_template: "instance/attributes/instance-template",
  gcp_gce_instance_created_by: "instance/attributes/created-by",
} as const;

/**
 * Metadata of the text `PROJECT_ID|PROJECT_NUMBER|CLUSTER_NAME|CLUSTER_ZONE`. Undefined: the text does not have four
 * parts.
 */
export function googleMetadataOf(text: string): Record<string, string> | undefined {
  const parts = text.split("|").map((part) => part.trim());
  if (parts.length !== 4) return undefined;
  const [gcp_project, gcp_project_number, gcp_gke_cluster_name, gcp_location] = parts;
  return givenTexts({ gcp_project, gcp_project_number, gcp_gke_cluster_name, gcp_location });
}

/** The facts given by a setting. The metadata server is not asked. */
export function givenGoogleFacts(given: Readonly<Record<string, string>>, quotaProject: string): CloudFacts {
  return factsOf(given, given.gcp_location, quotaProject);
}

/** Asks the metadata server. A missing page leaves out a fact. */
export async function googleFacts(page: MetadataPage, quotaProject: string): Promise<CloudFacts> {
  const ask = (path: string) => optionalPage(page(`${ROOT}/${path}`, { headers: GOOGLE_HEADERS }));
  const keys = Object.keys(PAGES) as (keyof typeof PAGES)[];
  const [zonePage, ...texts] = await Promise.all([ask("instance/zone"), ...keys.map((key) => ask(PAGES[key]))]);
  // projects/123/zones/europe-west1-b
  const zone = zonePage?.split("/").at(-1);
  const found = givenTexts(Object.fromEntries(keys.map((key, i) => [key, texts[i]])));
  const location = found.gcp_location ?? zone;
  return factsOf({ ...found, ...givenTexts({ gcp_location: location }) }, zone ?? location, quotaProject);
}

function factsOf(
  found: Readonly<Record<string, string>>,
  place: string | undefined,
  quotaProject: string,
): CloudFacts {
  if (Object.keys(found).length === 0) return { metadata: {}, locality: {} };
  const url = googleClusterUrl(found);
  return {
    metadata: { ...found, ...givenTexts({ gcp_gke_cluster_url: url, gcp_quota_project: quotaProject }) },
    locality: place === undefined ? {} : googleLocality(place),
  };
}

/** The name of a cluster in the cloud's API. Undefined: a part of the name is unknown. */
function googleClusterUrl(metadata: Readonly<Record<string, string>>): string | undefined {
  const { gcp_project: project, gcp_location: location, gcp_gke_cluster_name: cluster } = metadata;
  if (!project || !location || !cluster) return undefined;
  return `https://container.googleapis.com/v1/projects/${project}/locations/${location}/clusters/${cluster}`;
}
