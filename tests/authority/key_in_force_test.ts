/** The key in force signs by a signer while the signer has the key, and without a signer otherwise. */
import assert from "node:assert/strict";
import { KeyInForce } from "../../lib/authority/key_in_force.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import type { Signer } from "../../lib/pki/signer.ts";
import { P256 } from "../pki/support/make.ts";

/** A signer with a recognisable signature. */
class MarkedSigner implements Signer {
  readonly signatureAlgorithm = Uint8Array.of();
  fails = false;
  released = 0;
  sign(): Promise<Uint8Array> {
    return this.fails ? Promise.reject(new Error("broken")) : Promise.resolve(MARK);
  }
  release(): void {
    this.released++;
  }
}

const MARK = Uint8Array.of(1, 2, 3);
const BODY = Uint8Array.of(9);

function recording() {
  const lines: string[] = [];
  return { lines, warn: (message: string) => void lines.push(message) };
}

Deno.test("a key signs by itself until its signer has it, then by that, and by itself when another key is in force", async () => {
  const [first, second] = [await PrivateKey.generate(P256), await PrivateKey.generate(P256)];
  const made: MarkedSigner[] = [];
  const gate = Promise.withResolvers<void>();
  const log = recording();
  const keys = new KeyInForce(async () => {
    await gate.promise;
    made.push(new MarkedSigner());
    return made.at(-1)!;
  }, log);
  const taking = keys.take(first);
  assert.equal(keys.of(first), first);
  gate.resolve();
  await taking;
  assert.deepEqual(await keys.of(first).sign(BODY), MARK);
  await keys.take(first);
  assert.equal(made.length, 1, "the same key stays where it is");
  assert.equal(keys.of(second), second);
  await keys.take(second);
  assert.deepEqual([made.length, made[0]!.released, made[1]!.released], [2, 1, 0]);
  assert.equal(keys.of(first), first);
  await keys.take(undefined);
  assert.deepEqual([made[0]!.released, made[1]!.released], [1, 1]);
  assert.equal(keys.of(second), second);
  assert.deepEqual(log.lines, []);
});

Deno.test("a signer that comes when another key is in force is given back", async () => {
  const [first, second] = [await PrivateKey.generate(P256), await PrivateKey.generate(P256)];
  const waiting: ((signer: MarkedSigner) => void)[] = [];
  const keys = new KeyInForce(() => new Promise<Signer>((resolve) => waiting.push(resolve)), recording());
  const one = keys.take(first);
  const two = keys.take(second);
  const [late, inForce] = [new MarkedSigner(), new MarkedSigner()];
  waiting[1]!(inForce);
  await two;
  waiting[0]!(late);
  await one;
  assert.deepEqual([late.released, inForce.released], [1, 0]);
  assert.deepEqual(await keys.of(second).sign(BODY), MARK);
});

Deno.test("a failing signer costs no certificate: the key signs, and one log line reports the failure", async () => {
  const key = await PrivateKey.generate({ type: "RSA", bits: 2048 });
  const signer = new MarkedSigner();
  const log = recording();
  const keys = new KeyInForce(() => Promise.resolve(signer), log);
  await keys.take(key);
  const before = keys.of(key);
  signer.fails = true;
  const expected = await key.sign(BODY);
  assert.deepEqual(await Promise.all([keys.of(key).sign(BODY), before.sign(BODY)]), [expected, expected]);
  assert.equal(keys.of(key), key);
  assert.equal(signer.released, 1);
  assert.deepEqual(log.lines, ["the authority's key signs by itself from now on, slower: another signer failed"]);
});

Deno.test("a signer that does not accept the key is logged, and the key signs", async () => {
  const key = await PrivateKey.generate(P256);
  const log = recording();
  const keys = new KeyInForce(() => Promise.reject(new Error("not this one")), log);
  await keys.take(key);
  assert.equal(keys.of(key), key);
  assert.deepEqual(log.lines, ["the authority's key signs by itself, slower: another signer did not take the key"]);
});
