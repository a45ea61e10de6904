/**
 * Rules of ProxyConfig.
 *
 * @module
 */
import { checkSelector } from "../../validation/shared.ts";
import { checkCount } from "../../validation/values.ts";
import type { Validate } from "../validate.ts";
import type { ProxyConfigSpec } from "./schema.ts";

/** Checks a ProxyConfig. */
export const validateProxyConfig: Validate<ProxyConfigSpec> = (spec, _meta, report) => {
  checkSelector(spec.selector, "spec.selector", report);
  checkCount(spec.concurrency, "spec.concurrency", report);
};
