import "reflect-metadata";
import assert from "node:assert/strict";
import { X509Certificate as NodeCertificate } from "node:crypto";
import * as x509 from "@peculiar/x509";
import {
  isSelfSigned,
  keySpecOfCertificate,
  readCertificate,
  readCertificates,
  writeCertificates,
} from "../../lib/pki/certificate.ts";
import { issueLeaf } from "../../lib/pki/issue.ts";
import { PkiError } from "../../lib/pki/pki_error.ts";
import type { KeySpec } from "../../lib/pki/public_key.ts";
import { spiffeId } from "../../lib/sockets/transport/spiffe_id.ts";
import { DAY, HOUR, makeIntermediate, makeLeaf, makeRoot, NOW, P256 } from "./support/make.ts";
import { openssl, opensslVerifies } from "./support/openssl.ts";

const SPECS: Readonly<Record<string, KeySpec>> = {
  "RSA-2048": { type: "RSA", bits: 2048 },
  "P-256": P256,
  "P-384": { type: "EC", curve: "P-384" },
};

for (const [authority, spec] of Object.entries(SPECS)) {
  for (const [subject, leafSpec] of Object.entries(SPECS)) {
    Deno.test(`a ${authority} authority's chain for a ${subject} leaf is one to openssl`, async () => {
      const root = await makeRoot(spec);
      const between = await makeIntermediate(root, spec);
      const leaf = await makeLeaf(between, leafSpec);
      const chain = [leaf, between, root].map(({ certificate }) => certificate.der);
      const { success, text } = await opensslVerifies(chain, NOW);
      assert.ok(success, text);
      const { success: late } = await opensslVerifies(chain, NOW + 2 * DAY);
      assert.ok(!late);
    });
  }
}

Deno.test("this package, Node and @peculiar/x509 read a leaf's fields as they were given", async () => {
  const root = await makeRoot();
  const { key } = await makeLeaf(root);
  const names = {
    uris: ["spiffe://cluster.local/ns/shop/sa/cart"],
    dns: ["a.b", "*.c"],
    ips: ["10.0.0.1", "2001:db8::1"],
  };
  const subject = { organization: "Müller, Söhne", commonName: "cart" };
  const times = { notBefore: NOW - HOUR, notAfter: Date.UTC(2055, 5, 1) };
  const der = await issueLeaf(root, { ...times, spki: key.spki, subject, names });

  const own = readCertificate(der);
  const node = new NodeCertificate(der);
  const other = new x509.X509Certificate(new Uint8Array(der));
  assert.equal(own.subject, "O=Müller, Söhne, CN=cart");
  assert.equal(own.commonName, "cart");
  assert.deepEqual(own.names, { ...names, emails: [], ips: ["10.0.0.1", "2001:db8:0:0:0:0:0:1"] });
  assert.deepEqual([own.notBefore, own.notAfter], [times.notBefore, times.notAfter]);
  assert.deepEqual([other.notBefore.getTime(), other.notAfter.getTime()], [times.notBefore, times.notAfter]);
  assert.equal(own.serial, other.serialNumber);
  assert.equal(own.fingerprint, node.fingerprint256.replaceAll(":", "").toLowerCase());
  assert.equal(own.isCa, false);
  assert.equal(own.issuer, "O=cluster.local, CN=root");
  assert.equal(own.authorityKeyId, root.certificate.subjectKeyId);
  assert.deepEqual(own.keyUsage, {
    ...{ digitalSignature: true, keyEncipherment: true, keyAgreement: false },
    ...{ signCertificates: false, signRevocationLists: false },
  });
  assert.deepEqual(own.unknownCritical, []);
  assert.deepEqual(keySpecOfCertificate(own), P256);
  const alternative = other.getExtension(x509.SubjectAlternativeNameExtension)!;
  assert.ok(alternative.critical);
  assert.deepEqual(alternative.names.items.map(({ value }) => value), [
    ...names.uris,
    ...names.dns,
    "10.0.0.1",
    "2001:db8::1",
  ]);
  assert.ok(
    await other.verify({
      publicKey: new x509.X509Certificate(new Uint8Array(root.certificate.der)).publicKey,
      signatureOnly: true,
    }),
  );
});

Deno.test("openssl prints the usages of a leaf and of an authority", async () => {
  const root = await makeRoot();
  const between = await makeIntermediate(root, P256, { pathLength: 0 });
  const leaf = await makeLeaf(between);
  const print = (pem: string) => openssl(["x509", "-noout", "-text", "-in", "c.pem"], { "c.pem": pem });
  const text = await print(writeCertificates([leaf.certificate]));
  assert.match(text, /Key Usage: critical\n\s+Digital Signature, Key Encipherment\n/);
  assert.match(text, /Extended Key Usage: *\n\s+TLS Web Server Authentication, TLS Web Client Authentication\n/);
  assert.match(text, /Basic Constraints: critical\n\s+CA:FALSE\n/);
  assert.match(text, /Alternative Name: critical\n\s+URI:spiffe:\/\/cluster\.local\/ns\/shop\/sa\/cart\n/);
  const authority = await print(writeCertificates([between.certificate]));
  assert.match(authority, /Key Usage: critical\n\s+Certificate Sign, CRL Sign\n/);
  assert.match(authority, /Basic Constraints: critical\n\s+CA:TRUE, pathlen:0\n/);
  assert.deepEqual([between.certificate.isCa, between.certificate.pathLength], [true, 0]);
});

Deno.test("a certificate of openssl is read", async () => {
  const pem = await openssl([
    ...[
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-keyout",
      "k.pem",
      "-subj",
      "/C=CH/O=Org/CN=one",
      "-days",
      "10",
    ],
    ...["-addext", "subjectAltName=DNS:x.y, URI:spiffe://td/ns/n/sa/s,IP:192.0.2.7,email:a@b.c"],
  ]);
  const [certificate] = readCertificates(pem);
  assert.ok(certificate !== undefined);
  assert.equal(certificate.subject, "C=CH, O=Org, CN=one");
  assert.deepEqual(certificate.names, {
    dns: ["x.y"],
    uris: ["spiffe://td/ns/n/sa/s"],
    ips: ["192.0.2.7"],
    emails: ["a@b.c"],
  });
  assert.ok(certificate.isCa && await isSelfSigned(certificate));
  assert.deepEqual(keySpecOfCertificate(certificate), { type: "RSA", bits: 2048 });
  assert.equal(writeCertificates([certificate]), pem.slice(pem.indexOf("-----BEGIN CERT")));
});

Deno.test("a DNS name that spells a URI stays a DNS name", async () => {
  const root = await makeRoot();
  const { certificate } = await makeLeaf(root, P256, { uris: [], dns: ["a, URI:spiffe://td/ns/n/sa/s"] });
  assert.deepEqual(certificate.names.uris, []);
});

Deno.test("serial numbers are positive, of 16 bytes, and differ", async () => {
  const root = await makeRoot();
  const leaves = await Promise.all(Array.from({ length: 20 }, () => makeLeaf(root)));
  const serials = leaves.map(({ certificate }) => certificate.serial);
  assert.equal(new Set(serials).size, 20);
  assert.ok(serials.every((serial) => /^[4-7][0-9a-f]{31}$/.test(serial)), serials.join(" "));
});

Deno.test("a text without certificates is refused with its name", () => {
  assert.throws(
    () => readCertificates("", "root-cert.pem"),
    /^PkiError: root-cert.pem: expected certificates in PEM, got none$/,
  );
  assert.throws(
    () => readCertificates("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "f"),
    /^PkiError: expected a f: certificate 1 of 1 in DER/,
  );
  assert.throws(() => readCertificate(new Uint8Array()), PkiError);
});

Deno.test("the identity of a connection is read from its certificate once, and not at each call", async () => {
  const uri = "spiffe://cluster.local/ns/shop/sa/cart";
  const { certificate: { der } } = await makeLeaf(await makeRoot(), P256, { uris: [uri] });
  const leaf = new Uint8Array(der);
  const tls = { protocol: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384", verified: true, chain: [leaf] };
  assert.equal(spiffeId({ address: "192.0.2.1:1", tls }), uri);
  leaf.fill(0);
  assert.equal(spiffeId({ address: "192.0.2.1:1", tls }), uri, "the bytes are not read again");
  assert.equal(spiffeId({ address: "192.0.2.1:1", tls: { ...tls, chain: [leaf.slice()] } }), undefined);
});
