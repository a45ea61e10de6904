/**
 * Cost of a certificate, from the signing request to the chain: `deno bench tests/bench/authority_bench.ts`. Each
 * iteration has 16 requests in flight, as from agents starting together. The authority is a self-signed root with the
 * same kind of key as the workload. gRPC, TLS and the authentication of the caller are excluded.
 */
import { SigningAuthority } from "../../lib/authority/authority.ts";
import { materialOf } from "../../lib/authority/material.ts";
import { CurrentValue } from "../../lib/pki/current.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import { type KeySpec, keySpecText } from "../../lib/pki/public_key.ts";
import { createCertificateRequest, readCertificateRequest } from "../../lib/pki/request.ts";
import { DAY, makeRoot, NOW, P256 } from "../pki/support/make.ts";

const IN_FLIGHT = 16;
const URI = "spiffe://cluster.local/ns/shop/sa/cart";
const specs: readonly KeySpec[] = [{ type: "RSA", bits: 2048 }, P256];

for (const spec of specs) {
  const root = await makeRoot(spec);
  const material = materialOf(root.certificate, root.key, { path: [root.certificate], roots: [root.certificate] });
  const clock = { now: () => NOW };
  const authority = new SigningAuthority(new CurrentValue(material), { usual: DAY, most: DAY }, clock);
  const csr = await createCertificateRequest(await PrivateKey.generate(spec), { uris: [URI] });
  const one = async () => {
    const { spki } = await readCertificateRequest(csr);
    await authority.issue({ spki, names: { uris: [URI] } });
  };
  Deno.bench(`${keySpecText(spec)}: ${IN_FLIGHT} certificates in flight`, async () => {
    await Promise.all(Array.from({ length: IN_FLIGHT }, one));
  });
}
