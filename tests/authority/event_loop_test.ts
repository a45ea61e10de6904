/** Signing leaves the event loop to others. */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { SigningAuthority } from "../../lib/authority/authority.ts";
import { materialOf } from "../../lib/authority/material.ts";
import { CurrentValue } from "../../lib/pki/current.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import { createCertificateRequest, readCertificateRequest } from "../../lib/pki/request.ts";
import { DAY, makeRoot, NOW } from "../pki/support/make.ts";

const RSA_4096 = { type: "RSA", bits: 4096 } as const;
const REQUESTS = 10;
/**
 * Turns of the loop for each request: work on the loop's thread would leave a handful, work on other threads thousands.
 */
const LEAST_TURNS = 50;

Deno.test("the event loop turns all the time while requests of large keys are verified and signed", async () => {
  const { certificate, key } = await makeRoot(RSA_4096);
  const material = materialOf(certificate, key, { path: [certificate], roots: [certificate] });
  const lifetimes = { usual: DAY, most: DAY };
  const authority = new SigningAuthority(new CurrentValue(material), lifetimes, { now: () => NOW });
  const csr = await createCertificateRequest(await PrivateKey.generate(RSA_4096), {});
  let turns = 0;
  let working = true;
  const turn = () => {
    turns++;
    if (working) setImmediate(turn);
  };
  turn();
  await Promise.all(Array.from({ length: REQUESTS }, async () => {
    const { spki } = await readCertificateRequest(csr);
    await authority.issue({ spki, names: { uris: ["spiffe://cluster.local/ns/shop/sa/cart"] } });
  }));
  working = false;
  assert.ok(turns > LEAST_TURNS * REQUESTS, `${turns} turns`);
});
