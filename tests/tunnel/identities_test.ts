/** Certificates of a node tunnel, by an authority of the test. */
import assert from "node:assert/strict";
import type { IssuedCertificate } from "../../lib/agent/secrets/issued_certificate.ts";
import { readCertificate, readCertificates } from "../../lib/pki/certificate.ts";
import { issueLeaf, issueRoot } from "../../lib/pki/issue.ts";
import { certificatePem } from "../../lib/pki/pem.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import { readCertificateRequest } from "../../lib/pki/request.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { TestAuthority } from "../agent/support/authority.ts";
import { until } from "../patience.ts";
import { type AuthorityPlace, Identities, orderFor } from "./certificates/identities.ts";

const CART = "spiffe://cluster.local/ns/shop/sa/cart";

async function withAuthority(run: (place: AuthorityPlace, authority: TestAuthority) => Promise<void>): Promise<void> {
  const authority = await TestAuthority.make();
  await using served = await authority.listen("localhost");
  const token = () => Promise.resolve("proof");
  await run({ host: "localhost", port: served.port, root: authority.root, token }, authority);
}

Deno.test("a tunnel orders a certificate of the workload by its own token", () =>
  withAuthority(async (place, authority) => {
    const { chain } = await orderFor(CART, place);
    assert.deepEqual(readCertificates(chain, "chain")[0]?.names.uris, [CART]);
    const [request] = authority.requests;
    assert.equal(request?.token, "Bearer proof");
    const { fields } = decode<{ fields: Record<string, { stringValue: string }> }>(
      "google.protobuf.Struct",
      request!.metadata!,
    );
    assert.equal(fields.ImpersonatedIdentity?.stringValue, CART);
  }));

Deno.test("a certificate of another identity is not used", () =>
  withAuthority(async (place, authority) => {
    const key = await PrivateKey.generate({ type: "EC", curve: "P-256" });
    const other = { uris: ["spiffe://cluster.local/ns/shop/sa/other"] };
    authority.sign = async (csr, seconds) => {
      const { spki } = await readCertificateRequest(csr);
      const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + seconds * 1000 };
      const root = await issueRoot(key, { ...validity, subject: { organization: "cluster.local" } });
      const leaf = await issueLeaf({ key, certificate: readCertificate(root) }, { spki, names: other, ...validity });
      return [certificatePem(leaf), certificatePem(root)];
    };
    await assert.rejects(orderFor(CART, place), /got a certificate of .*sa\/other, expected one of .*sa\/cart/);
  }));

Deno.test("an order that fails is tried again, concurrent users share an order, and half of a lifetime later comes the next", async () => {
  let orders = 0;
  const failures: string[] = [];
  const issued = (lifetime: number): IssuedCertificate => ({
    ...{ chain: `${orders}`, key: "", roots: "" },
    ...{ notBefore: Date.now(), notAfter: Date.now() + lifetime },
  });
  using identities = new Identities(() => {
    orders++;
    if (orders === 1) return Promise.reject(new Error("UNAVAILABLE: no pod yet"));
    return Promise.resolve(issued(orders === 2 ? 1000 : 86_400_000));
  }, (identity, { message }) => failures.push(`${identity} ${message}`));
  const [one, two] = await Promise.all([identities.of(CART), identities.of(CART)]);
  assert.deepEqual([one.chain, two.chain, orders], ["2", "2", 2]);
  assert.deepEqual(failures, [`${CART} UNAVAILABLE: no pod yet`]);
  await until("the next certificate", async () => (await identities.of(CART)).chain === "3");
});
