import assert from "node:assert/strict";
import { readCertificates } from "../../lib/pki/certificate.ts";
import { readPem, writePem } from "../../lib/pki/pem.ts";
import { listsOf, readRevocationLists, revokedIn } from "../../lib/pki/revocation.ts";
import { Authority, openssl } from "../certificates.ts";

const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, ignore: !openssl, fn });

test("a list made by openssl names the revoked certificates, and its signature proves the authority", async () => {
  const [mesh, other] = [await Authority.make("mesh"), await Authority.make("other")];
  const [good, bad] = [await mesh.sign("good"), await mesh.sign("bad")];
  const [empty, one] = [await mesh.revoke(), await mesh.revoke(bad.certificate)];
  const read = (pem: string) => readCertificates(pem);
  const [root, stranger] = [read(mesh.certificate), read(other.certificate)];
  const lists = await listsOf(readRevocationLists(one, "list"), root, "list");
  assert.equal(revokedIn([...read(good.certificate), ...root], lists), undefined);
  assert.equal(revokedIn([...read(bad.certificate), ...root], lists)?.commonName, "bad");
  assert.equal(revokedIn(read(bad.certificate), readRevocationLists(empty, "list")), undefined);
  assert.deepEqual(await listsOf(readRevocationLists(one, "list"), stranger, "list"), [], "it is another authority's");

  const impostor = await Authority.make("mesh");
  const forged = readRevocationLists(await impostor.revoke(good.certificate), "ca-crl.pem");
  await assert.rejects(
    listsOf(forged, root, "ca-crl.pem"),
    /^PkiError: ca-crl.pem: the list of "CN=mesh" is not signed/,
  );
  await Promise.all([mesh, other, impostor].map((authority) => authority.remove()));
});

test("a text that is not a list, is cut off, or is longer than its stated length is refused, and the error names the text", async () => {
  const authority = await Authority.make("mesh");
  const list = await authority.revoke((await authority.sign("bad")).certificate);
  const { der } = readPem(list)[0]!;
  const pem = (bytes: Uint8Array) => writePem("X509 CRL", bytes);
  for (const text of ["", authority.certificate, list + authority.certificate]) {
    assert.throws(() => readRevocationLists(text, "list"), /^PkiError: list: expected only X509 CRL blocks in PEM/);
  }
  for (let length = 0; length < der.length; length += 7) {
    assert.throws(() => readRevocationLists(pem(der.subarray(0, length)), "list"), /^PkiError: /, `${length}`);
  }
  assert.throws(() => readRevocationLists(pem(new Uint8Array([...der, 0])), "list"), /bytes after its end/);
  await authority.remove();
});
