import assert from "node:assert/strict";
import { SigningAuthority } from "../../lib/authority/authority.ts";
import { materialOf, type SigningMaterial } from "../../lib/authority/material.ts";
import { OwnIdentity } from "../../lib/authority/own_identity.ts";
import { serverNames } from "../../lib/authority/server_names.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { isKeyOf, readCertificates } from "../../lib/pki/certificate.ts";
import { CurrentValue, type ServerCertificate } from "../../lib/pki/current.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import { DAY, HOUR, makeRoot, NOW } from "../pki/support/make.ts";
import { opensslVerifies } from "../pki/support/openssl.ts";

const root = await makeRoot();
const log = silentLog().scope("default");
const names = ["meshd.mesh-system.svc", "istiod.istio-system.svc"];

async function setup(notAfter = root.certificate.notAfter) {
  const clock = createFakeClock(NOW);
  const material = materialOf({ ...root.certificate, notAfter }, root.key, {
    path: [{ ...root.certificate, notAfter }],
    roots: [root.certificate],
  });
  const current = new CurrentValue<SigningMaterial | undefined>(material);
  const authority = new SigningAuthority(current, { usual: DAY, most: 90 * DAY }, clock);
  const identity = await OwnIdentity.start({ authority, names, clock, log });
  const heard: ServerCertificate[] = [];
  identity.onChange((next) => heard.push(next));
  return { clock, current, material, identity, heard };
}

Deno.test("the server's certificate is for its names, with a separate key, and openssl accepts its chain", async () => {
  const { identity } = await setup();
  const { certificatePem, keyPem } = identity.current();
  const [leaf] = readCertificates(certificatePem);
  assert.deepEqual(leaf!.names, { dns: names, uris: [], ips: [], emails: [] });
  assert.ok(isKeyOf(await PrivateKey.read(keyPem), leaf!));
  const { success, text } = await opensslVerifies([leaf!.der, root.certificate.der], NOW);
  assert.ok(success, text);
  await identity.stop();
});

Deno.test("it is renewed at half of its lifetime, again and again, with other keys", async () => {
  const { clock, identity, heard } = await setup();
  const first = identity.current();
  await clock.advance(12 * HOUR - 61_000);
  await clock.advance(0);
  assert.equal(heard.length, 0);
  for (let i = 0; i < 3; i++) {
    const before: number = heard.length;
    const { promise, resolve } = Promise.withResolvers<ServerCertificate>();
    const stop = identity.onChange(resolve);
    await clock.advance(12 * HOUR);
    await promise;
    stop();
    assert.ok(heard.length > before);
  }
  assert.equal(new Set([first, ...heard].map(({ keyPem }) => keyPem)).size, heard.length + 1);
  const [last] = readCertificates(identity.current().certificatePem);
  assert.ok(last!.notAfter > clock.now());
  await identity.stop();
  assert.equal(clock.pending(), 0);
});

Deno.test("another authority signs it at once; one that cannot sign leaves it as it is, and is asked again", async () => {
  const { clock, current, material, identity, heard } = await setup();
  const other = await makeRoot();
  current.set(materialOf(other.certificate, other.key, { path: [other.certificate], roots: [other.certificate] }));
  await identity.renew();
  const [leaf] = readCertificates(identity.current().certificatePem);
  assert.equal(leaf!.authorityKeyId, other.certificate.subjectKeyId);
  const before = heard.length;
  current.set(undefined);
  await identity.renew();
  assert.equal(heard.length, before);
  const { promise, resolve } = Promise.withResolvers<ServerCertificate>();
  identity.onChange(resolve);
  current.set(material);
  await clock.advance(10_000);
  await promise;
  await identity.stop();
});

Deno.test("a certificate that begins later, because the clock was set back, is made anew within a minute", async () => {
  const base = createFakeClock(NOW);
  const set = { ahead: 200 * DAY };
  const clock = { ...base, now: () => base.now() + set.ahead };
  const { certificate, key } = root;
  const material = materialOf(certificate, key, { path: [certificate], roots: [certificate] });
  const current = new CurrentValue<SigningMaterial | undefined>(material);
  const authority = new SigningAuthority(current, { usual: DAY, most: 90 * DAY }, clock);
  const identity = await OwnIdentity.start({ authority, names, clock, log });
  set.ahead = 0;
  const { promise, resolve } = Promise.withResolvers<ServerCertificate>();
  identity.onChange(resolve);
  await base.advance(60_000);
  const [leaf] = readCertificates((await promise).certificatePem);
  assert.ok(leaf!.notBefore <= clock.now());
  await identity.stop();
});

Deno.test("the names are the names that agents of both projects dial, and the configured names", () => {
  assert.deepEqual(
    serverNames({
      ...{ namespace: "mesh-system", revision: "canary", customHosts: "ca.example.com, xds.example.com," },
      discoveryAddress: "meshd.mesh-system.svc:15012",
    }),
    [
      ...["ca.example.com", "xds.example.com", "meshd.mesh-system.svc", "istiod.mesh-system.svc"],
      ...["meshd-remote.mesh-system.svc", "istiod-remote.mesh-system.svc", "istio-pilot.mesh-system.svc"],
      ...["meshd-canary.mesh-system.svc", "istiod-canary.mesh-system.svc", "istiod.istio-system.svc"],
    ],
  );
  const plain = { namespace: "istio-system", revision: "default", customHosts: "", discoveryAddress: "10.0.0.1:15012" };
  assert.deepEqual(serverNames(plain), [
    ...["meshd.istio-system.svc", "istiod.istio-system.svc", "meshd-remote.istio-system.svc"],
    ...["istiod-remote.istio-system.svc", "istio-pilot.istio-system.svc"],
  ]);
});
