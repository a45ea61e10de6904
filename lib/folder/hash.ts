/**
 * Hashes that recognize the documents of a file.
 *
 * @module
 */

/**
 * A hash of 53 bits over part of an array of bytes: two multiplicative hashes of 32 bits with different multipliers
 * (large primes), mixed at the end as in MurmurHash3. The hash distinguishes texts that people write. It does not
 * withstand a search for collisions; by a collision an author could only hide an edit of their own document.
 */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let low = 0x9e3779b9 ^ (end - start);
  let high = 0x85ebca6b;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    low = Math.imul(low ^ byte, 2654435761);
    high = Math.imul(high ^ byte, 1597334677);
  }
  return 0x100000000 * (mix(high ^ low) & 0x1fffff) + mix(low);
}

function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
