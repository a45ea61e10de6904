import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { discoveryServer, workloadCertificate } from "../../../lib/agent/start/control_plane.ts";
import { createLog, defaultLogOptions } from "../../../lib/kernel/log/log.ts";
import { noMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { readCertificateRequest } from "../../../lib/pki/request.ts";
import { agentInput, type AgentInputChanges } from "../support/agent_input.ts";
import { TestAuthority } from "../support/authority.ts";
import { until } from "../../patience.ts";

/** A folder with the given files for the length of a test. */
async function container(
  files: Readonly<Record<string, string>>,
  use: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [path, text] of Object.entries(files)) await write(`${folder}/${path}`, text);
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function write(path: string, text: string): Promise<void> {
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(path, text);
}

const files = {
  "var/run/secrets/mesh/root-cert.pem": "mounted roots",
  "var/run/secrets/tokens/istio-token": "their token\n",
  "own.pem": "own roots",
  "prov/root-cert.pem": "prov roots",
  "prov/cert-chain.pem": "prov chain",
  "prov/key.pem": "prov key",
};

/** The called server, flat. In settings, FOLDER stands for the container's folder. */
async function called(folder: string, { settings = {}, ...rest }: AgentInputChanges) {
  const named = Object.entries(settings).map(([name, value]) => [
    name,
    typeof value === "string" ? value.replace("FOLDER", folder) : value,
  ]);
  const call = await discoveryServer(agentInput(folder, { ...rest, settings: Object.fromEntries(named) }), undefined)();
  const { tls, ...target } = call.target as typeof call.target & { readonly tls?: Record<string, unknown> };
  return { ...target, ...tls, authority: call.authority, metadata: call.metadata };
}

const table: readonly (readonly [string, AgentInputChanges, Readonly<Record<string, unknown>>])[] = [
  ["by default", {}, {
    ...{ host: "meshd.mesh-system.svc", port: 15012, serverName: "meshd.mesh-system.svc", roots: "mounted roots" },
    ...{ authority: "meshd.mesh-system.svc:15012", metadata: { authorization: "Bearer their token" } },
  }],
  ["with XDS_ROOT_CA", { settings: { XDS_ROOT_CA: "FOLDER/own.pem" } }, { roots: "own roots" }],
  ["with XDS_ROOT_CA=SYSTEM", { settings: { XDS_ROOT_CA: "SYSTEM" } }, { roots: undefined }],
  ["with CA_ROOT_CA, which is for the authority", { settings: { CA_ROOT_CA: "SYSTEM" } }, { roots: "mounted roots" }],
  ["with MESHD_SAN", { settings: { MESHD_SAN: "meshd.test" }, proxy: { discoveryAddress: "10.0.0.9:15012" } }, {
    ...{ host: "10.0.0.9", serverName: "meshd.test", authority: "meshd.test" },
  }],
  ["with headers", {
    settings: { MESH_META_CLUSTER_ID: "east" },
    variables: { XDS_HEADER_X_TEAM: "shop", CA_HEADER_X_TEAM: "ca", XDS_HEADER_: "none", "XDS_HEADER_A B": "none" },
  }, { metadata: { clusterid: "east", x_team: "shop", authorization: "Bearer their token" } }],
  ["in plain text", { proxy: { controlPlaneAuthPolicy: "NONE" } }, { serverName: undefined, roots: undefined }],
  ["on the plain-text port", { proxy: { discoveryAddress: "meshd:15010" } }, { serverName: undefined }],
  ["with PROV_CERT", { settings: { PROV_CERT: "FOLDER/prov" } }, {
    ...{ roots: "prov roots", identity: { chain: "prov chain", key: "prov key" }, metadata: {} },
  }],
  ["with PROV_CERT and nothing in OUTPUT_CERTS yet", {
    settings: { PROV_CERT: "FOLDER/prov", OUTPUT_CERTS: "FOLDER/none" },
  }, { identity: { chain: "prov chain", key: "prov key" } }],
];

for (const [name, changes, expected] of table) {
  Deno.test(`the server is called ${name}`, () =>
    container(files, async (folder) => {
      const found: Record<string, unknown> = await called(folder, changes);
      assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, found[key]])), expected);
    }));
}

Deno.test("tokens, roots and certificates are read for each call, so that the newest are used", () =>
  container({}, async (folder) => {
    const settings = { PROV_CERT: "", OUTPUT_CERTS: "" };
    const call = discoveryServer(agentInput(folder, { settings }), undefined);
    await assert.rejects(call(), /no roots to verify the server with, expected .*\/etc\/certs\/root-cert\.pem or /);
    await write(`${folder}/etc/certs/root-cert.pem`, "roots");
    assert.deepEqual((await call()).metadata, {});
    await write(`${folder}/var/run/secrets/tokens/istio-token`, "one");
    assert.equal((await call()).metadata.authorization, "Bearer one");
    await write(`${folder}/var/run/secrets/tokens/mesh-token`, "two");
    assert.equal((await call()).metadata.authorization, "Bearer two");
    const machine = { PROV_CERT: `${folder}/prov`, OUTPUT_CERTS: `${folder}/out` };
    await write(`${folder}/prov/root-cert.pem`, "roots");
    for (const at of ["prov", "out"]) {
      for (const part of ["cert-chain", "key"]) await write(`${folder}/${at}/${part}.pem`, `${at} ${part}`);
      const { identity } = await called(folder, { settings: machine }) as { identity?: unknown };
      assert.deepEqual(identity, { chain: `${at} cert-chain`, key: `${at} key` });
    }
  }));

/** Orders a certificate by the given settings. @returns the certificate, and the request to the authority */
async function certificateBy(changes: AgentInputChanges) {
  const authority = await TestAuthority.make();
  await using server = await authority.listen("ca.test");
  const folder = await Deno.makeTempDir();
  const settings = {
    ...{ CA_ADDR: `127.0.0.1:${server.port}`, MESHD_SAN: "ca.test", CA_ROOT_CA: `${folder}/root.pem` },
    ...{ POD_NAMESPACE: "shop", SERVICE_ACCOUNT: "cart", OUTPUT_CERTS: `${folder}/out` },
    ...changes.settings,
  };
  await Deno.writeTextFile(`${folder}/root.pem`, authority.root);
  const lines: string[] = [];
  const open = () => ({ write: (bytes: Uint8Array) => void lines.push(new TextDecoder().decode(bytes)), close() {} });
  const log = createLog([], { ...defaultLogOptions, targets: ["test"] }, { open });
  const parts = { clock: systemClock, log, metrics: noMetrics() };
  const certificate = workloadCertificate(agentInput(folder, { ...changes, settings }), parts, undefined);
  try {
    certificate.start();
    await until("there is a certificate", () => certificate.current !== undefined);
    const written = await Deno.readTextFile(`${folder}/out/key.pem`);
    return { issued: certificate.current!, written, request: authority.requests[0]!, logged: lines.join("") };
  } finally {
    certificate.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

const keys: readonly (readonly [AgentInputChanges["settings"] & object, Readonly<Record<string, unknown>>, RegExp])[] =
  [
    [{}, { type: "rsa", bits: 2048 }, /BEGIN RSA PRIVATE KEY/],
    [{ WORKLOAD_RSA_KEY_SIZE: 3072, PKCS8_KEY: true }, { type: "rsa", bits: 3072 }, /BEGIN PRIVATE KEY/],
    [{ ECC_CURVE: "P384" }, { type: "rsa", bits: 2048 }, /BEGIN RSA PRIVATE KEY/],
    [{ ECC_SIGNATURE_ALGORITHM: "ECDSA" }, { type: "ec", curve: "prime256v1" }, /BEGIN EC PRIVATE KEY/],
    [
      { ECC_SIGNATURE_ALGORITHM: "ECDSA", ECC_CURVE: "P384" },
      { type: "ec", curve: "secp384r1" },
      /BEGIN EC PRIVATE KEY/,
    ],
  ];

for (const [settings, expected, form] of keys) {
  Deno.test(`the key of ${JSON.stringify(settings)} is ${JSON.stringify(expected)}`, async () => {
    const { issued, written } = await certificateBy({ settings });
    const { publicKey } = new X509Certificate(issued.chain);
    const { modulusLength, namedCurve } = publicKey.asymmetricKeyDetails ?? {};
    const type = publicKey.asymmetricKeyType;
    assert.deepEqual(type === "rsa" ? { type, bits: modulusLength } : { type, curve: namedCurve }, expected);
    assert.match(written, form);
    assert.equal(written, issued.key);
  });
}

Deno.test("SECRET_GRACE_PERIOD_RATIO and SECRET_GRACE_PERIOD_RATIO_JITTER say how long before its end a certificate is renewed", async () => {
  for (const [jitter, least, most] of [[0, 0.24, 0.26], [0.2, 0.04, 0.46]] as const) {
    const settings = { SECRET_GRACE_PERIOD_RATIO: 0.25, SECRET_GRACE_PERIOD_RATIO_JITTER: jitter };
    const begin = Date.now();
    const { logged } = await certificateBy({ settings });
    const [, end = "", renewed = ""] = /valid until (\S+), renewed at (\S+Z)/.exec(logged) ?? [];
    const grace = (Date.parse(end) - Date.parse(renewed)) / (Date.parse(end) - begin);
    assert.ok(grace > least && grace < most, `${grace}: ${logged}`);
  }
});

Deno.test("the authority is asked with its own headers, for the workload's name, lifetime and signer", async () => {
  const { request } = await certificateBy({
    settings: {
      TRUST_DOMAIN: "mesh.example",
      SECRET_TTL: 7_200_000,
      MESH_META_CERT_SIGNER: "corp",
      MESH_META_CLUSTER_ID: "east",
    },
    variables: { CA_HEADER_X_TEAM: "shop", XDS_HEADER_X_OTHER: "none" },
  });
  const { names } = await readCertificateRequest(request.csr);
  assert.deepEqual(names.uris, ["spiffe://mesh.example/ns/shop/sa/cart"]);
  assert.equal(request.ttlSeconds, 7200);
  assert.deepEqual([request.headers.x_team, request.headers.clusterid, request.headers.x_other], [
    "shop",
    "east",
    undefined,
  ]);
  assert.match(new TextDecoder().decode(request.metadata), /CertSigner.*corp/s);
});
