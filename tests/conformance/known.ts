/**
 * The tests of the official conformance suite that do not pass, each with the reason. A row goes when its test passes.
 *
 * @module
 */
import type { GatewayApiVersion } from "./support/definitions.ts";
import type { KnownFailures } from "./support/summary.ts";

/** Rows by the version of the suite. */
export const KNOWN: Readonly<Record<GatewayApiVersion, KnownFailures>> = {
  "v1.6.1": {},
  inference: {},
  "v1.3.0": {
    GatewayStaticAddresses:
      "the test reads the addresses before it waits for Programmed: the Service of the Gateway does not exist by then",
  },
};
