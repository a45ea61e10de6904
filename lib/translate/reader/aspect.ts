/**
 * Aspects of a proxy's profile, as builders read them.
 *
 * @module
 */
import { profileOf, type ProxyProfile } from "./proxy_profile.ts";
import type { Reader } from "./reader.ts";

/** One aspect of the proxy's row, recorded as its value alone: kinds that agree in it share results. */
export function aspect<K extends keyof ProxyProfile>(read: Reader, name: K): ProxyProfile[K] {
  return read.derived(`profile/${name}`, ({ type }) => profileOf(type)[name]);
}
