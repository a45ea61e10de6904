import assert from "node:assert/strict";
import fc from "fast-check";
import { readPem, writePem } from "../../lib/pki/pem.ts";
import { PkiError } from "../../lib/pki/pki_error.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import { type KeySpec, keySpecText } from "../../lib/pki/public_key.ts";
import { createCertificateRequest, readCertificateRequest } from "../../lib/pki/request.ts";
import { P256 } from "./support/make.ts";
import { openssl } from "./support/openssl.ts";
import { runs } from "../properties.ts";

const URI = "spiffe://cluster.local/ns/shop/sa/cart";
const SPECS: readonly KeySpec[] = [{ type: "RSA", bits: 2048 }, P256, { type: "EC", curve: "P-384" }];

for (const spec of SPECS) {
  Deno.test(`${keySpecText(spec)}: a request is sound to openssl, and read as it was made`, async () => {
    const key = await PrivateKey.generate(spec);
    const pem = await createCertificateRequest(key, { uris: [URI] }, { commonName: "cart" });
    const text = await openssl(["req", "-verify", "-noout", "-text", "-in", "r.pem"], { "r.pem": pem });
    assert.match(text, /Subject: CN *= *cart\n/);
    assert.match(text, new RegExp(`Alternative Name: critical\\n\\s+URI:${URI}\\n`));
    const request = await readCertificateRequest(pem);
    assert.deepEqual(request.spki, key.spki);
    assert.equal(request.commonName, "cart");
    assert.deepEqual(request.names.uris, [URI]);
  });

  Deno.test(`${keySpecText(spec)}: a request of openssl is read`, async () => {
    const algorithm = spec.type === "RSA" ? ["rsa:2048"] : ["ec", "-pkeyopt", `ec_paramgen_curve:${spec.curve}`];
    const pem = await openssl([
      ...["req", "-new", "-nodes", "-keyout", "k.pem", "-subj", "/", "-newkey", ...algorithm],
      ...["-addext", "subjectAltName=DNS:x"],
    ]);
    const request = await readCertificateRequest(pem.slice(pem.indexOf("-----BEGIN CERTIFICATE REQ")));
    assert.deepEqual([request.commonName, request.names.dns], [undefined, ["x"]]);
  });
}

Deno.test("a request without attributes has no names", async () => {
  const pem = await openssl(["req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", "k.pem", "-subj", "/CN=x"]);
  assert.deepEqual((await readCertificateRequest(pem)).names.uris, []);
});

Deno.test("a request with any damaged byte is refused", async () => {
  const pem = await createCertificateRequest(await PrivateKey.generate(P256), { uris: [URI] });
  const [block] = readPem(pem);
  const { der, label } = block!;
  await fc.assert(
    fc.asyncProperty(fc.nat(der.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
      const damaged = der.slice();
      damaged[at]! ^= change;
      await assert.rejects(readCertificateRequest(writePem(label, damaged)), PkiError);
    }),
    { numRuns: runs(500) },
  );
});

Deno.test("a text that is not one request is refused", async () => {
  const pem = await createCertificateRequest(await PrivateKey.generate(P256), {});
  await assert.rejects(readCertificateRequest(""), /expected one CERTIFICATE REQUEST in PEM, got none/);
  await assert.rejects(readCertificateRequest(pem + pem), /got CERTIFICATE REQUEST, CERTIFICATE REQUEST/);
  await assert.rejects(readCertificateRequest(pem.replaceAll("CERTIFICATE REQUEST", "PRIVATE KEY")), /got PRIVATE KEY/);
});

Deno.test("a request for another's key is refused: its signature is not that key's", async () => {
  const [own, other] = [await PrivateKey.generate(P256), await PrivateKey.generate(P256)];
  const forged = new Proxy(own, {
    get: (target, name) => {
      const value = Reflect.get(name === "spki" ? other : target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const pem = await createCertificateRequest(forged, {});
  await assert.rejects(readCertificateRequest(pem), /expected a signature by its own key/);
});
