import assert from "node:assert/strict";
import fc from "fast-check";
import { readPem, writePem } from "../../lib/pki/pem.ts";
import { PkiError } from "../../lib/pki/pki_error.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import { type KeySpec, keySpecText } from "../../lib/pki/public_key.ts";
import { createRequest, readRequest } from "../../lib/pki/request.ts";
import { P256 } from "./support/make.ts";
import { openssl } from "./support/openssl.ts";

const URI = "spiffe://cluster.local/ns/shop/sa/cart";
const SPECS: readonly KeySpec[] = [{ type: "RSA", bits: 2048 }, P256, { type: "EC", curve: "P-384" }];

for (const spec of SPECS) {
  Deno.test(`${keySpecText(spec)}: a request is sound to openssl, and read as it was made`, async () => {
    const key = await PrivateKey.generate(spec);
    const pem = await createRequest(key, { uris: [URI] }, { commonName: "cart" });
    const text = await openssl(["req", "-verify", "-noout", "-text", "-in", "r.pem"], { "r.pem": pem });
    assert.match(text, /Subject: CN *= *cart\n/);
    assert.match(text, new RegExp(`Alternative Name: critical\\n\\s+URI:${URI}\\n`));
    const request = readRequest(pem);
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
    const request = readRequest(pem.slice(pem.indexOf("-----BEGIN CERTIFICATE REQ")));
    assert.deepEqual([request.commonName, request.names.dns], [undefined, ["x"]]);
  });
}

Deno.test("a request without attributes has no names", async () => {
  const pem = await openssl(["req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", "k.pem", "-subj", "/CN=x"]);
  assert.deepEqual(readRequest(pem).names.uris, []);
});

Deno.test("a request with any damaged byte is refused", async () => {
  const pem = await createRequest(await PrivateKey.generate(P256), { uris: [URI] });
  const [block] = readPem(pem);
  const { der, label } = block!;
  fc.assert(
    fc.property(fc.nat(der.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const damaged = der.slice();
      damaged[at]! ^= change;
      assert.throws(() => readRequest(writePem(label, damaged)), PkiError);
    }),
    { numRuns: 500 },
  );
});

Deno.test("a text that is not one request is refused", async () => {
  const pem = await createRequest(await PrivateKey.generate(P256), {});
  assert.throws(() => readRequest(""), /expected one CERTIFICATE REQUEST in PEM, got none/);
  assert.throws(() => readRequest(pem + pem), /got CERTIFICATE REQUEST, CERTIFICATE REQUEST/);
  assert.throws(() => readRequest(pem.replaceAll("CERTIFICATE REQUEST", "PRIVATE KEY")), /got PRIVATE KEY/);
});

Deno.test("a request for another's key is refused: its signature is not that key's", async () => {
  const [own, other] = [await PrivateKey.generate(P256), await PrivateKey.generate(P256)];
  const forged = new Proxy(own, {
    get: (target, name) => {
      const value = Reflect.get(name === "spki" ? other : target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const pem = await createRequest(forged, {});
  assert.throws(() => readRequest(pem), /expected a signature by its own key/);
});
