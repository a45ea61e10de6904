/**
 * What waits for the part "authority".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const authority: NotBuiltPart = {
  title: "authority",
  about: "Certificates by way of the orchestrator.",
  settings: [
    "CERT_SIGNER_DOMAIN",
    "ORCH_SIGNER",
  ],
};
