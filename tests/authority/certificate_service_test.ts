import assert from "node:assert/strict";
import { SigningAuthority } from "../../lib/authority/authority.ts";
import { measureExpiry } from "../../lib/authority/authority_metrics.ts";
import { type CallerResult, CERTIFICATE_SERVICE, certificateService } from "../../lib/authority/certificate_service.ts";
import { KeyInForce } from "../../lib/authority/key_in_force.ts";
import { materialOf, type SigningMaterial } from "../../lib/authority/material.ts";
import { Code } from "../../lib/grpc/codes.ts";
import { GrpcServer } from "../../lib/grpc/server.ts";
import { createMetrics } from "../../lib/kernel/metrics/registry.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { readCertificates } from "../../lib/pki/certificate.ts";
import { CurrentValue } from "../../lib/pki/current.ts";
import { ObjectId } from "../../lib/pki/object_ids.ts";
import type { OpensslFunctions } from "../../lib/pki/openssl/library.ts";
import { opensslSigner } from "../../lib/pki/openssl/signer.ts";
import { opensslVerifier } from "../../lib/pki/openssl/verifier.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import { createCertificateRequest, readCertificateRequest } from "../../lib/pki/request.ts";
import { frameHead } from "../../lib/grpc/frame.ts";
import { FrameType } from "../../lib/grpc/h2/constants.ts";
import { frame } from "../../lib/grpc/h2/frames.ts";
import { callHeaders, MemoryClient } from "../grpc/support/grpc_client.ts";
import { DAY, HOUR, makeIntermediate, makeRoot, NOW, P256 } from "../pki/support/make.ts";
import { openssl, opensslVerifies } from "../pki/support/openssl.ts";
import { counted, openssl as functions } from "../pki/support/signers.ts";
import { PATIENCE } from "../patience.ts";

/** Largest frame for a server by default. */
const FRAME = 16_384;
const CART = { trustDomain: "cluster.local", namespace: "shop", serviceAccount: "cart" };
const CART_URI = "spiffe://cluster.local/ns/shop/sa/cart";
const NODE_URI = "spiffe://cluster.local/ns/kube-system/sa/node";
const root = await makeRoot();
const between = await makeIntermediate(root);
const path = [between.certificate, root.certificate];
const MATERIAL = materialOf(between.certificate, between.key, { path, roots: [root.certificate] });
const key = await PrivateKey.generate(P256);
const REQUEST = await createCertificateRequest(key, {
  uris: ["spiffe://cluster.local/ns/other/sa/admin"],
  dns: ["evil"],
});

interface Setup {
  readonly caller?: CallerResult;
  readonly material?: SigningMaterial | undefined;
  readonly mayImpersonate?: (wanted: string) => CallerResult;
  /** OpenSSL signs and verifies. */
  readonly openssl?: OpensslFunctions;
}

/** A server with the service, and the answers to a client. */
class Service {
  readonly clock = createFakeClock(NOW);
  readonly metrics = createMetrics("pilot-discovery");
  readonly lines: string[] = [];
  readonly server: GrpcServer;

  readonly current: CurrentValue<SigningMaterial | undefined>;
  readonly keyInForce: KeyInForce | undefined;

  constructor(setup: Setup = {}, empty = false) {
    const { caller = { identity: CART }, material = MATERIAL, mayImpersonate, openssl } = setup;
    const current = this.current = new CurrentValue(empty ? undefined : material);
    const log = { warn: (message: unknown) => void this.lines.push(String(message)) };
    const keyInForce = this.keyInForce = openssl && new KeyInForce((key) => opensslSigner(openssl, key), log);
    const lifetimes = { usual: DAY, most: 90 * DAY };
    const authority = new SigningAuthority(current, lifetimes, this.clock, { ...keyInForce && { keyInForce } });
    measureExpiry(this.metrics, current, this.clock);
    this.server = new GrpcServer([
      certificateService({
        ...{ authority, metrics: this.metrics, clock: this.clock },
        log: { warn: (message, fields) => void this.lines.push(`${message} ${JSON.stringify(fields)}`) },
        authenticate: () => Promise.resolve(caller),
        ...(openssl && { verify: opensslVerifier(openssl) }),
        ...(mayImpersonate === undefined ? {} : { mayImpersonate: (_, wanted) => mayImpersonate(wanted) }),
      }),
    ]);
  }

  /** The chain, or `status: text`. */
  async ask(message: object | Uint8Array): Promise<readonly string[] | string> {
    const client = new MemoryClient(this.server);
    const bytes = message instanceof Uint8Array ? message : encode("istio.v1.auth.IstioCertificateRequest", message);
    const framed = new Uint8Array([...frameHead(bytes.length, false), ...bytes]);
    const parts = Array.from(
      { length: Math.ceil(framed.length / FRAME) },
      (_, i) => framed.subarray(i * FRAME, (i + 1) * FRAME),
    );
    const frames = parts.map((part, i) => frame(FrameType.DATA, i === parts.length - 1 ? 1 : 0, 1, part));
    client.send(callHeaders(1, `/${CERTIFICATE_SERVICE}/CreateCertificate`), ...frames);
    const deadline = performance.now() + PATIENCE;
    while (!client.ends.has(1)) {
      assert.ok(performance.now() < deadline, "the call did not end");
      await client.read();
    }
    const status = client.ends.get(1);
    if (status !== "status 0") return `${status}: ${decodeURIComponent(client.texts.get(1) ?? "")}`;
    const content = client.content.get(1)!;
    const whole = Uint8Array.from(content.flatMap((part) => [...part])).subarray(5);
    return decode<{ cert_chain: string[] }>("istio.v1.auth.IstioCertificateResponse", whole).cert_chain;
  }

  async count(metric: string): Promise<string[]> {
    const { body } = await this.metrics.scrape();
    return body.split("\n").filter((line) => line.startsWith(metric) && !line.endsWith(" 0"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop(1);
  }
}

Deno.test("a workload gets its proven identity, whatever names it asks for, with the chain and all roots", async () => {
  await using service = new Service();
  const chain = await service.ask({ csr: REQUEST, validity_duration: 3600 });
  assert.ok(Array.isArray(chain), String(chain));
  assert.equal(chain.length, 3);
  assert.ok(chain.every((text) => text.startsWith("-----BEGIN CERTIFICATE-----\n") && text.endsWith("-----\n")));
  const [leaf] = readCertificates(chain[0]!);
  assert.deepEqual(leaf!.names, { uris: [CART_URI], dns: [], ips: [], emails: [] });
  assert.deepEqual(leaf!.spki, key.spki);
  assert.equal(leaf!.subject, "");
  assert.deepEqual([leaf!.notBefore, leaf!.notAfter], [NOW - 120_000, NOW + HOUR]);
  const ders = chain.flatMap((text: string) => readCertificates(text)).map(({ der }) => der);
  const { success, text } = await opensslVerifies(ders, NOW);
  assert.ok(success, text);
  assert.deepEqual(await service.count("citadel_server_csr_count"), ["citadel_server_csr_count 1"]);
  assert.deepEqual(await service.count("citadel_server_success"), ["citadel_server_success_cert_issuance_count 1"]);
});

Deno.test("a request that asks to be an authority, or to sign, gets the certificate of a workload", async () => {
  const asks = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign", "extendedKeyUsage=OCSPSigning"];
  const text = await openssl([
    ...["req", "-new", "-nodes", "-keyout", "k.pem", "-subj", "/CN=root/O=evil", "-newkey", "ec"],
    ...["-pkeyopt", "ec_paramgen_curve:P-256", ...asks.flatMap((extension) => ["-addext", extension])],
  ]);
  const csr = text.slice(text.indexOf("-----BEGIN CERTIFICATE REQ"));
  assert.equal((await readCertificateRequest(csr)).asks.length, 3, "it does ask");
  await using service = new Service();
  const [leaf] = readCertificates((await service.ask({ csr }))[0]!);
  assert.deepEqual([leaf!.isCa, leaf!.keyUsage?.signCertificates, leaf!.commonName], [false, false, CART_URI]);
  assert.deepEqual(leaf!.purposes, [ObjectId.serverAuth, ObjectId.clientAuth]);
  assert.deepEqual(leaf!.names.uris, [CART_URI]);
});

Deno.test({
  name: "with OpenSSL, certificates of each key are the same to openssl, also after the key was replaced " +
    "(ignored: this machine has no libcrypto of OpenSSL 3)",
  ignore: functions === undefined,
  async fn() {
    const { held, functions: counting } = counted(functions!);
    await using service = new Service({ openssl: counting });
    const next = await makeRoot({ type: "RSA", bits: 2048 }, { name: "next" });
    const nextMaterial = materialOf(next.certificate, next.key, {
      path: [next.certificate],
      roots: [next.certificate],
    });
    for (
      const [material, holds] of [[MATERIAL, { keys: 0, contexts: 1 }], [nextMaterial, {
        keys: 1,
        contexts: 0,
      }]] as const
    ) {
      service.current.set(material);
      await service.keyInForce!.take(material.key);
      assert.notEqual(service.keyInForce!.of(material.key), material.key, "OpenSSL has it");
      assert.deepEqual(held, { ...holds, readers: 0 });
      const chains = await Promise.all(Array.from({ length: 8 }, () => service.ask({ csr: REQUEST })));
      for (const chain of chains) {
        assert.ok(Array.isArray(chain), String(chain));
        const ders = chain.flatMap((text: string) => readCertificates(text)).map(({ der }) => der);
        const { success, text } = await opensslVerifies(ders, NOW);
        assert.ok(success, text);
      }
    }
    const damaged = REQUEST.replace(/[A-Za-z](?=[^\n]*\n-----END)/, (c) => (c === "A" ? "B" : "A"));
    assert.match(String(await service.ask({ csr: damaged })), /csr: /);
    await service.keyInForce!.take(undefined);
    assert.deepEqual(held, { keys: 0, contexts: 0, readers: 0 });
  },
});

Deno.test("below a root that signs by itself the chain has two entries, the last of them all roots", async () => {
  const other = await makeRoot(P256, { name: "other" });
  const roots = [root.certificate, other.certificate];
  await using service = new Service({
    material: materialOf(root.certificate, root.key, { path: [root.certificate], roots }),
  });
  const chain = await service.ask({ csr: REQUEST });
  assert.equal(chain.length, 2);
  assert.equal(readCertificates(chain[1]!).length, 2);
});

Deno.test("a lifetime of 0 or less means the default lifetime, and no certificate outlives the authority", async () => {
  await using service = new Service();
  const lifetimeOf = async (validity_duration: number) => {
    const [leaf] = readCertificates((await service.ask({ csr: REQUEST, validity_duration }))[0]!);
    return leaf!.notAfter - service.clock.now();
  };
  assert.deepEqual([await lifetimeOf(0), await lifetimeOf(-1), await lifetimeOf(60)], [DAY, DAY, 60_000]);
  await service.clock.advance(364 * DAY);
  assert.equal(await lifetimeOf(90 * 86_400), DAY);
});

Deno.test("a common name is written where the request has one, but the proven one", async () => {
  await using service = new Service();
  const csr = await createCertificateRequest(key, {}, { commonName: "admin" });
  const [leaf] = readCertificates((await service.ask({ csr }))[0]!);
  assert.equal(leaf!.commonName, CART_URI);
  const long = { ...CART, namespace: "n".repeat(63) };
  await using other = new Service({ caller: { identity: long } });
  assert.equal(readCertificates((await other.ask({ csr }))[0]!)[0]!.commonName, undefined);
});

Deno.test("each refusal has its status, its words and its metric", async () => {
  const damaged = REQUEST.replace(/[A-Za-z](?=[^\n]*\n-----END)/, (c) => (c === "A" ? "B" : "A"));
  const impersonated = { csr: REQUEST, metadata: { fields: { ImpersonatedIdentity: { stringValue: NODE_URI } } } };
  const cases: readonly (readonly [Service, object | Uint8Array, RegExp, string])[] = [
    [
      new Service({ caller: { refusal: "JWT_RULE: the token has expired" } }),
      { csr: REQUEST },
      new RegExp(`^status ${Code.UNAUTHENTICATED}: the caller proved no identity: JWT_RULE: the token has expired$`),
      "citadel_server_authentication_failure_count 1",
    ],
    [
      new Service({ caller: { identity: { ...CART, namespace: "a/b" } } }),
      { csr: REQUEST },
      new RegExp(`^status ${Code.UNAUTHENTICATED}: the caller's identity: namespace: expected`),
      "citadel_server_id_extraction_err_count 1",
    ],
    [
      new Service(),
      { csr: REQUEST, validity_duration: 90 * 86_400 + 1 },
      new RegExp(`^status ${Code.INVALID_ARGUMENT}: the lifetime: got 7776001 s, expected at most 7776000 s$`),
      'citadel_server_csr_sign_err_count{error="TTL_ERROR"} 1',
    ],
    [
      new Service(),
      { csr: "nonsense" },
      new RegExp(`^status ${Code.INVALID_ARGUMENT}: csr: certificate request: expected one CERTIFICATE REQUEST in PEM`),
      "citadel_server_csr_parsing_err_count 1",
    ],
    [
      new Service(),
      { csr: damaged },
      new RegExp(`^status ${Code.INVALID_ARGUMENT}: csr: `),
      'citadel_server_csr_sign_err_count{error="CSR_ERROR"} 1',
    ],
    [
      new Service(),
      { csr: REQUEST + " ".repeat(16 * 1024) },
      new RegExp(`^status ${Code.INVALID_ARGUMENT}: csr: expected at most 16384 characters, got`),
      "citadel_server_csr_parsing_err_count 1",
    ],
    [
      new Service(),
      new Uint8Array(32 * 1024 + 1),
      new RegExp(`^status ${Code.INVALID_ARGUMENT}: expected a message of at most 32768 bytes, got 32769$`),
      "citadel_server_csr_count 1",
    ],
    [
      new Service(),
      Uint8Array.of(0x0a, 0xff),
      new RegExp(`^status ${Code.INVALID_ARGUMENT}: expected an istio.v1.auth.IstioCertificateRequest: `),
      "citadel_server_csr_count 1",
    ],
    [
      new Service({}, true),
      { csr: REQUEST },
      new RegExp(`^status ${Code.UNAVAILABLE}: the authority has no certificate$`),
      'citadel_server_csr_sign_err_count{error="CA_NOT_READY"} 1',
    ],
    [
      new Service(),
      impersonated,
      new RegExp(
        `^status ${Code.PERMISSION_DENIED}: ImpersonatedIdentity: no account may ask for certificates of others$`,
      ),
      "citadel_server_authentication_failure_count 1",
    ],
    [
      new Service({ mayImpersonate: (wanted) => ({ refusal: `no pod of ${wanted} on the node` }) }),
      impersonated,
      new RegExp(`^status ${Code.PERMISSION_DENIED}: ImpersonatedIdentity: no pod of ${NODE_URI} on the node$`),
      "citadel_server_authentication_failure_count 1",
    ],
  ];
  for (const [service, message, expected, metric] of cases) {
    assert.match(String(await service.ask(message)), expected);
    assert.deepEqual(await service.count(metric.replace(/[{ ].*/, "")), [metric]);
    assert.deepEqual(await service.count("citadel_server_success"), []);
    assert.equal(service.lines.length, 1, "one line in the log");
    await service.server.stop(1);
  }
});

Deno.test("who may act for others gets their identity", async () => {
  await using service = new Service({
    mayImpersonate: () => ({ identity: CART }),
    caller: { identity: { ...CART, serviceAccount: "node" } },
  });
  const metadata = { fields: { ImpersonatedIdentity: { stringValue: CART_URI } } };
  const chain = await service.ask({ csr: REQUEST, metadata });
  assert.deepEqual(readCertificates(chain[0]!)[0]!.names.uris, [CART_URI]);
});

Deno.test("a request for another identity or signer that is no text is refused, an empty one asks for neither", async () => {
  const mayImpersonate = () => ({ identity: CART });
  for (const name of ["ImpersonatedIdentity", "CertSigner"]) {
    for (const value of [{ numberValue: 5 }, { boolValue: true }, { listValue: { values: [] } }, {}]) {
      await using service = new Service({ mayImpersonate });
      await service.ask({ csr: REQUEST, metadata: { fields: { [name]: value } } });
      assert.match(service.lines[0]!, new RegExp(`metadata ${name}: expected a text`), JSON.stringify(value));
    }
    await using service = new Service();
    const chain = await service.ask({ csr: REQUEST, metadata: { fields: { [name]: { stringValue: "" } } } });
    assert.deepEqual(readCertificates(chain[0]!)[0]!.names.uris, [CART_URI]);
  }
});

Deno.test("refusals fill the log with a line a second at most", async () => {
  await using service = new Service({ caller: { refusal: "none" } });
  for (let i = 0; i < 5; i++) await service.ask({ csr: REQUEST });
  assert.equal(service.lines.length, 1);
  await service.clock.advance(1000);
  await service.ask({ csr: REQUEST });
  assert.match(service.lines[1]!, /"earlier":4/);
});

Deno.test("the ends of the root and of the chain are on the page of metrics", async () => {
  await using service = new Service();
  const end = (NOW + 365 * DAY) / 1000;
  for (const name of ["citadel_server_root_cert_expiry_timestamp", "citadel_server_cert_chain_expiry_timestamp"]) {
    assert.deepEqual(await service.count(name), [`${name} ${end}`]);
  }
  await service.clock.advance(366 * DAY);
  assert.deepEqual(await service.count("citadel_server_cert_chain_expiry_seconds"), [
    "citadel_server_cert_chain_expiry_seconds -86400",
  ]);
});

Deno.test("requests that come together are all answered", async () => {
  await using service = new Service();
  const asked = await Promise.all(Array.from({ length: 40 }, () => service.ask({ csr: REQUEST })));
  assert.ok(asked.every((answer) => Array.isArray(answer)));
});
