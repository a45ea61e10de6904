/**
 * What waits for the part "orchestrator".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const orchestrator: NotBuiltPart = {
  title: "orchestrator",
  about: "The orchestrator as a source of objects, services and clusters.",
  settings: [
    "ENABLE_MCS_AUTO_EXPORT",
    "ENABLE_MCS_CLUSTER_LOCAL",
    "ENABLE_MCS_HOST",
    "ENABLE_MCS_SERVICE_DISCOVERY",
    "MCS_API_GROUP",
    "MCS_API_VERSION",
  ],
  flags: [],
  meshFields: [],
  refused: {
    "configSources[].address xds:// and k8s://CLUSTER": "is a warning; nothing is read from there",
  },
};
