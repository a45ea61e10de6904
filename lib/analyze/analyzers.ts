/**
 * All analyzers, one line each.
 *
 * @module
 */
import { type Analyzer, analyzer } from "./analyzer.ts";
import { DESTINATIONS } from "./references/destinations.ts";
import { GATEWAY_REFERENCES } from "./references/gateways.ts";
import { SHARED_HOSTS } from "./routing/shared_hosts.ts";

/** In the order in which an object's findings are shown. */
export const ANALYZERS: readonly Analyzer[] = [
  analyzer(GATEWAY_REFERENCES),
  analyzer(SHARED_HOSTS),
  analyzer(DESTINATIONS),
];
