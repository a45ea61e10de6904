/**
 * What waits for the part "diagnostics".
 *
 * @module
 */
import type { NotBuiltPart } from "./entry.ts";

/** The part and what waits for it. */
export const diagnostics: NotBuiltPart = {
  title: "diagnostics",
  about: "Profiles and introspection pages of the process.",
  flags: [
    "install-cni --ctrlz_address",
    "install-cni --ctrlz_port",
    "pilot-discovery --profile",
  ],
};
