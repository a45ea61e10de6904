/**
 * The bucket of a name. Names are spread evenly, and names of one domain are spread over few buckets.
 *
 * @module
 */

const FNV_START = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a of a string's UTF-16 units, unsigned 32 bit. A final mix improves the low bits. */
export function hashName(name: string): number {
  let hash = FNV_START;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), FNV_PRIME);
  return mixed(hash);
}

/**
 * A hash whose upper half depends only on the text after the first dot, so names of one domain share few buckets.
 * Resources of a namespace differ together for the proxies of the namespace, so all other proxies share the other
 * buckets:
 *
 *     outbound|80||cart.shop.svc.cluster.local   lower half: the whole name
 *                       ^^^^^^^^^^^^^^^^^^^^^^   upper half
 */
export function hashByDomain(name: string): number {
  let hash = FNV_START;
  let domain: number | undefined;
  for (let i = name.length - 1; i >= 0; i--) {
    const unit = name.charCodeAt(i);
    if (unit === DOT) domain = hash;
    hash = Math.imul(hash ^ unit, FNV_PRIME);
  }
  const whole = mixed(hash);
  return domain === undefined ? whole : ((mixed(domain) << 16) | (whole & 0xffff)) >>> 0;
}

const DOT = 46;

function mixed(hash: number): number {
  hash ^= hash >>> 15;
  hash ^= hash >>> 8;
  return hash >>> 0;
}

/**
 * The index of a bucket. The count is a power of two. Half of the index bits, rounded down, come from the upper half of
 * the hash. So names of one domain spread over at least as many buckets as the square root of the count.
 */
export function indexOf(hash: number, count: number): number {
  const bits = 31 - Math.clz32(count);
  const rest = count >>> (bits >> 1);
  return ((hash >>> 16) & ((1 << (bits >> 1)) - 1)) * rest + (hash & (rest - 1));
}
