/**
 * A fixed piece of work that measures the present speed of the machine. Its mix resembles the server's work: parsed
 * text, objects and maps by name, and bytes that are joined, hashed and compressed.
 *
 *     deno run tests/bench/mesh/calibration.ts      prints the CPU seconds that the work took
 *
 * Never change the work without {@linkcode REFERENCE}, or the reverse: all targets are quotients of both.
 *
 * @module
 */
import { createHash } from "node:crypto";
import process from "node:process";
import { gzipSync } from "node:zlib";

/** CPU seconds of {@linkcode calibrationWork} on the reference machine of all targets. */
export const REFERENCE = 1.33;

/** The expected result of the work: a digest of everything made. */
export const EXPECTED = "e77ac2fc12048260b55c3f24a630211c010f6e0a532065a3c9037a9f8bdffb6b";

interface Item {
  readonly host: string;
  readonly addresses: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

function items(round: number): Item[] {
  return Array.from({ length: 3000 }, (_, i) => ({
    host: `outbound|80|v${i % 3}|svc-${i}.ns-${round}.svc.cluster.local`,
    addresses: Array.from({ length: 5 }, (_, j) => `172.16.${i >> 8 & 255}.${(i + j) & 255}`),
    labels: { app: `svc-${i}`, version: `v${i % 2}`, round: `${round}` },
  }));
}

/** Bytes of an item: lengths and texts, like protobuf. */
function packed({ host, addresses, labels }: Item, encoder: TextEncoder): Uint8Array {
  const texts = [host, ...addresses, ...Object.entries(labels).flat()].map((text) => encoder.encode(text));
  const bytes = new Uint8Array(texts.reduce((sum, { length }) => sum + 2 + length, 0));
  let at = 0;
  for (const text of texts) {
    bytes[at] = text.length & 255;
    bytes[at + 1] = text.length >> 8;
    bytes.set(text, at + 2);
    at += 2 + text.length;
  }
  return bytes;
}

/** Does the work. Returns a digest of everything made. */
export function calibrationWork(rounds = 10): string {
  const digest = createHash("sha256");
  const encoder = new TextEncoder();
  for (let round = 0; round < rounds; round++) {
    const read = JSON.parse(JSON.stringify(items(round))) as Item[];
    const byHost = new Map(read.map((item) => [item.host, item]));
    const byHash = new Map<string, Uint8Array>();
    for (const name of [...byHost.keys()].sort()) {
      const bytes = packed(byHost.get(name)!, encoder);
      byHash.set(createHash("sha256").update(bytes).digest("hex"), bytes);
    }
    const all = new Uint8Array([...byHash.values()].reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const bytes of byHash.values()) {
      all.set(bytes, at);
      at += bytes.length;
    }
    digest.update(all).update(String(gzipSync(all, { level: 1 }).length > 0));
  }
  return digest.digest("hex");
}

if (import.meta.main) {
  const before = process.cpuUsage();
  const made = calibrationWork();
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ cpu: (user + system) / 1e6, made }));
}
