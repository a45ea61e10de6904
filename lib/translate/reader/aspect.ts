/**
 * Aspects of a proxy's profile, for builders.
 *
 * @module
 */
import { profileOf, type ProxyProfile } from "./proxy_profile.ts";
import type { Reader } from "./reader.ts";

/** An aspect of the proxy's row, recorded as the value alone: kinds of proxies with the same value share results. */
export function aspect<K extends keyof ProxyProfile>(read: Reader, name: K): ProxyProfile[K] {
  return read.derived(`profile/${name}`, ({ type }) => profileOf(type)[name]);
}
