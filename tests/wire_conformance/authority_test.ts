/**
 * The authority of a whole server: a workload with a token gets a certificate, and the certificate lets the workload
 * in.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import tls from "node:tls";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { readCertificate, readCertificates, writeCertificates } from "../../lib/pki/certificate.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import { createCertificateRequest } from "../../lib/pki/request.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { openssl } from "../certificates.ts";
import { page, withServer } from "../discovery/running.ts";
import { makeIntermediate, makeRoot, P256 } from "../pki/support/make.ts";
import { opensslVerifies } from "../pki/support/openssl.ts";
import { certificateFor } from "./support/certificate_client.ts";
import { ENTRY } from "./support/entry.ts";
import { outcomeOf } from "./support/secure_client.ts";
import { PATIENCE } from "../patience.ts";

const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, ignore: !openssl, fn });

interface ServerWithAuthority {
  readonly issuer: TestIssuer;
  readonly ports: { readonly monitoring: number; readonly secure: number };
}

async function withAuthority(
  settings: Partial<SettingsOf<"pilot-discovery">>,
  run: (server: ServerWithAuthority) => Promise<void>,
): Promise<void> {
  await using issuer = await TestIssuer.start();
  const JWT_RULE = JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, audiences: ["mesh-ca"] });
  await withServer({ "a.yaml": ENTRY }, async ({ ports }) => {
    await run({ issuer, ports: { monitoring: ports.monitoring, secure: ports.secureGrpc! } });
  }, {
    options: { secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] } },
    settings: { MESHD_CUSTOM_HOST: "localhost", JWT_RULE, ...settings },
  });
}

async function getsIn(
  { issuer, ports: { secure, monitoring } }: ServerWithAuthority,
  root: string,
  length: number,
): Promise<void> {
  const key = await PrivateKey.generate(P256);
  const csr = await createCertificateRequest(key, { uris: ["spiffe://cluster.local/ns/pay/sa/admin"] });
  const chain = await certificateFor({ port: secure, root, csr, token: await issuer.token() });
  assert.ok(Array.isArray(chain), String(chain));
  assert.equal(chain.length, length);
  const certificates = chain.flatMap((text: string) => readCertificates(text));
  assert.deepEqual(certificates[0]!.names.uris, ["spiffe://cluster.local/ns/shop/sa/cart"]);
  const { success, text } = await opensslVerifies(certificates.map(({ der }) => der));
  assert.ok(success, text);

  const own = { certificate: writeCertificates(certificates.slice(0, -1)), key: key.pem() };
  assert.equal(await outcomeOf({ port: secure, root, own }), "served");
  assert.match(await outcomeOf({ port: secure, root, own, namespace: "pay" }), /^PERMISSION_DENIED: /);
  assert.match(
    String(await certificateFor({ port: secure, root, csr })),
    /^UNAUTHENTICATED: the caller proved no identity: /,
  );

  const { body: metrics } = await page(monitoring, "/metrics");
  for (
    const [name, value] of [["csr_count", 2], ["success_cert_issuance_count", 1], ["authentication_failure_count", 1]]
  ) {
    assert.match(metrics, new RegExp(`^citadel_server_${name} ${value}$`, "m"));
  }
  assert.match(metrics, /^citadel_server_root_cert_expiry_seconds [1-9]\d+$/m);
}

test("a server without certificates makes a root, presents its own certificate, and issues the certificates of workloads", async () => {
  const folder = await Deno.makeTempDir();
  await withAuthority({ MESH_SELF_SIGNED_CA_DIR: folder }, async (server) => {
    const kept = readCertificates(await Deno.readTextFile(`${folder}/authority.pem`));
    assert.equal(kept[0]!.subject, "O=cluster.local");
    await getsIn(server, writeCertificates(kept), 2);
  });
  await Deno.remove(folder, { recursive: true });
});

test("a given authority signs the server's certificate and the certificates of workloads", async () => {
  const root = await makeRoot(P256, { notAfter: Date.now() + 1e9 });
  const between = await makeIntermediate(root, P256, { notAfter: Date.now() + 1e9 });
  const folder = await Deno.makeTempDir();
  const files = {
    "ca-cert.pem": writeCertificates([between.certificate]),
    "ca-key.pem": between.key.pem(),
    "root-cert.pem": writeCertificates([root.certificate]),
    "cert-chain.pem": writeCertificates([between.certificate, root.certificate]),
  };
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
  await withAuthority({ ROOT_CA_DIR: folder }, (server) => getsIn(server, files["root-cert.pem"], 3));
  await Deno.remove(folder, { recursive: true });
});

test("the settings decide the lifetimes and the names in the server's certificate", async () => {
  const folder = await Deno.makeTempDir();
  const settings = { DEFAULT_WORKLOAD_CERT_TTL: 600_000, MAX_WORKLOAD_CERT_TTL: 1_800_000, REVISION: "canary" };
  await withAuthority({ ...settings, MESH_SELF_SIGNED_CA_DIR: folder }, async ({ issuer, ports: { secure } }) => {
    const root = writeCertificates(readCertificates(await Deno.readTextFile(`${folder}/authority.pem`)));
    const csr = await createCertificateRequest(await PrivateKey.generate(P256), {});
    const ask = async (seconds: number) =>
      await certificateFor({ port: secure, root, csr, seconds, token: await issuer.token() });
    const [leaf] = readCertificates((await ask(0))[0]!);
    assert.equal(leaf!.notAfter - leaf!.notBefore, 600_000 + 120_000);
    assert.equal(await ask(1801), "INVALID_ARGUMENT: the lifetime: got 1801 s, expected at most 1800 s");

    const socket = tls.connect({ port: secure, host: "localhost", ca: root, ALPNProtocols: ["h2"] });
    await once(socket, "secureConnect");
    const { names } = readCertificate(new Uint8Array(socket.getPeerCertificate().raw));
    socket.destroy();
    for (const name of ["localhost", "istiod-canary.mesh-system.svc", "istiod.istio-system.svc"]) {
      assert.ok(names.dns.includes(name), names.dns.join(" "));
    }
  });
  await Deno.remove(folder, { recursive: true });
});

test("with MESH_MULTIROOT_MESH another root is taken beside the old one, and handed out", async () => {
  const end = { notAfter: Date.now() + 1e9 };
  const [old, next] = [await makeRoot(P256, { ...end, name: "old" }), await makeRoot(P256, { ...end, name: "next" })];
  const folder = await Deno.makeTempDir();
  const write = (name: string, text: string) => Deno.writeTextFile(`${folder}/${name}`, text);
  const root = writeCertificates([old.certificate]);
  await write("ca-cert.pem", root);
  await write("ca-key.pem", old.key.pem());
  await write("root-cert.pem", root);
  await withAuthority({ ROOT_CA_DIR: folder, MESH_MULTIROOT_MESH: true }, async ({ issuer, ports: { secure } }) => {
    const csr = await createCertificateRequest(await PrivateKey.generate(P256), {});
    const roots = async () => {
      const chain = await certificateFor({ port: secure, root, csr, token: await issuer.token() });
      return readCertificates(chain.at(-1)!).map(({ commonName }) => commonName);
    };
    assert.deepEqual(await roots(), ["old"]);
    await write("root-cert.pem", writeCertificates([old.certificate, next.certificate]));
    const deadline = performance.now() + PATIENCE;
    while ((await roots()).length < 2) assert.ok(performance.now() < deadline, "the new root did not come");
    assert.deepEqual(await roots(), ["old", "next"]);
  });
  await Deno.remove(folder, { recursive: true });
});

test("without the authority, or with missing certificates from elsewhere, nothing is served over TLS", async () => {
  for (const settings of [{ ENABLE_CA_SERVER: false }, { PILOT_CERT_PROVIDER: "none" }]) {
    const folder = await Deno.makeTempDir();
    await withAuthority({ ...settings, MESH_SELF_SIGNED_CA_DIR: folder }, ({ ports }) => {
      assert.equal(ports.secure, undefined);
      return Promise.resolve();
    });
    await Deno.remove(folder, { recursive: true });
  }
});
