/**
 * Gzip members with uncompressed bytes.
 *
 * @module
 */
import { crc32 } from "node:zlib";

/** RFC 1952: the magic number, deflate, no flags, no time, no extra flags, an unknown system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);

/**
 * A gzip member with `data` uncompressed. For few bytes, and for bytes of a single client, storing is much cheaper than
 * compressing, and the member joins shared compressed blocks in one stream.
 *
 * @param data A deflate block stores at most 65,535 bytes. Longer data takes several blocks.
 */
export function storedGzipMember(data: Uint8Array): Uint8Array {
  const blocks = Math.max(1, Math.ceil(data.length / 0xffff));
  const out = new Uint8Array(10 + blocks * 5 + data.length + 8);
  const view = new DataView(out.buffer);
  out.set(HEADER);
  let at = 10;
  for (let block = 0; block < blocks; block++) {
    const part = data.subarray(block * 0xffff, (block + 1) * 0xffff);
    out[at] = block === blocks - 1 ? 1 : 0;
    view.setUint16(at + 1, part.length, true);
    view.setUint16(at + 3, ~part.length & 0xffff, true);
    out.set(part, at + 5);
    at += 5 + part.length;
  }
  view.setUint32(at, crc32(data), true);
  view.setUint32(at + 4, data.length, true);
  return out;
}
