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
  settings: [],
  flags: [],
  meshFields: [],
  refused: {
    "configSources[].address k8s://CLUSTER": "is a warning; nothing is read from there, as by Istio",
  },
};
