/** Roots beside the authority's own: clients with these roots at the secure port, and the roots sent to agents. */
import assert from "node:assert/strict";
import * as grpc from "@grpc/grpc-js";
import { startProviderRoot } from "../../lib/discovery/identity/provider_root.ts";
import { StartError } from "../../lib/discovery/settings/start_error.ts";
import { startKernel } from "../../lib/kernel/kernel.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { readCertificates, writeCertificates } from "../../lib/pki/certificate.ts";
import { WireCursor } from "../../lib/resource/protowire.ts";
import { PROXY_CONFIG } from "../../lib/xds/protocol/types.ts";
import { withServer } from "../discovery/running.ts";
import { type MadeAuthority, makeLeaf, makeRoot, P256 } from "../pki/support/make.ts";
import { ENTRY } from "./support/entry.ts";
import { outcomeOf } from "./support/secure_client.ts";
import { PATIENCE } from "../patience.ts";

const end = { notAfter: Date.now() + 1e9 };
const [partner, sister] = [
  await makeRoot(P256, { ...end, name: "partner" }),
  await makeRoot(P256, { ...end, name: "sister" }),
];

async function ownCertificate(issuer: MadeAuthority, uri: string) {
  const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
  const { certificate, key } = await makeLeaf(issuer, P256, { ...times, uris: [uri] });
  return { certificate: writeCertificates([certificate]), key: key.pem() };
}

interface World {
  readonly port: number;
  readonly plain: number;
  readonly root: string;
  readonly setMesh: (mesh: object) => Promise<void>;
}

async function withRoots(
  mesh: object,
  settings: Partial<SettingsOf<"pilot-discovery">>,
  run: (world: World) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const meshConfig = `${folder}/mesh.yaml`;
  const setMesh = (value: object) => Deno.writeTextFile(meshConfig, `${JSON.stringify(value)}\n`);
  await setMesh(mesh);
  await withServer({ "a.yaml": ENTRY }, async ({ ports }) => {
    const kept = await Deno.readTextFile(`${folder}/authority.pem`);
    const root = writeCertificates(readCertificates(kept));
    await run({ port: ports.secureGrpc!, plain: ports.grpc!, root, setMesh });
  }, {
    options: { secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] }, meshConfig },
    settings: { MESHD_CUSTOM_HOST: "localhost", MESH_SELF_SIGNED_CA_DIR: folder, ...settings },
  });
  await Deno.remove(folder, { recursive: true });
}

/** The roots sent to an agent: the names of the roots in each response. */
function agentRoots(port: number): AsyncDisposable & { next(): Promise<readonly (string | undefined)[] | string> } {
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
  const same = (bytes: Uint8Array) => Buffer.from(bytes);
  const call = client.makeBidiStreamRequest(path, same, same, new grpc.Metadata(), { deadline: Date.now() + PATIENCE });
  const received = new ReadableStream<Uint8Array>({
    start: (controller) => {
      call.on("data", (bytes: Uint8Array) => controller.enqueue(bytes));
      call.on("error", () => {});
      call.on("status", () => controller.close());
    },
  }).getReader();
  const node = { id: "sidecar~10.0.0.9~cart-1.shop~shop.svc.cluster.local" };
  const ask = (request: object) => call.write(encode("envoy.service.discovery.v3.DiscoveryRequest", request));
  ask({ node, type_url: PROXY_CONFIG });
  return {
    async next() {
      const { value } = await received.read();
      if (value === undefined) return "the stream is over";
      const response = decode<{ version_info: string; nonce: string; resources: { value: Uint8Array }[] }>(
        "envoy.service.discovery.v3.DiscoveryResponse",
        value,
      );
      ask({ type_url: PROXY_CONFIG, version_info: response.version_info, response_nonce: response.nonce });
      return response.resources.flatMap(({ value: body }) => rootNames(body));
    },
    [Symbol.asyncDispose]() {
      call.cancel();
      client.close();
      return Promise.resolve();
    },
  };
}

function rootNames(body: Uint8Array): (string | undefined)[] {
  const names: (string | undefined)[] = [];
  const cursor = new WireCursor(new Uint8Array(body));
  while (cursor.next()) {
    if (cursor.field === 34) names.push(readCertificates(cursor.string())[0]?.commonName);
    else cursor.skip();
  }
  return names.sort();
}

const pem = (authority: MadeAuthority) => writeCertificates([authority.certificate]);
const PARTNER = { pem: pem(partner), trustDomains: ["partner.example"] };
const SISTER = { pem: pem(sister) };
const several = { MESH_MULTIROOT_MESH: true };

Deno.test("a root proves identities of the mesh at the secure port if it is for the mesh's trust domain, and only then", async () => {
  const cart = "spiffe://cluster.local/ns/shop/sa/cart";
  await withRoots({ caCertificates: [PARTNER, SISTER] }, several, async ({ port, root }) => {
    assert.equal(await outcomeOf({ port, root, own: await ownCertificate(sister, cart) }), "served");
    const forged = await outcomeOf({ port, root, own: await ownCertificate(partner, cart) });
    assert.match(forged, /^UNAUTHENTICATED: /, "another trust domain's root names nobody of ours");
    const partners = await ownCertificate(sister, "spiffe://partner.example/ns/shop/sa/cart");
    assert.match(await outcomeOf({ port, root, own: partners }), /^UNAUTHENTICATED: .*trust domain/);
  });
  await withRoots({ caCertificates: [SISTER] }, {}, async ({ port, root }) => {
    const own = await ownCertificate(sister, cart);
    assert.match(await outcomeOf({ port, root, own }), /^UNAUTHENTICATED: /, "without MESH_MULTIROOT_MESH");
  });
});

Deno.test("an agent is sent all roots once, and again when others are there", async () => {
  await withRoots({ caCertificates: [PARTNER] }, several, async ({ plain, setMesh }) => {
    await using agent = agentRoots(plain);
    assert.deepEqual(await agent.next(), ["partner", undefined], "with the root of the authority, which has no name");
    await setMesh({ caCertificates: [SISTER, PARTNER, SISTER] });
    assert.deepEqual(await agent.next(), ["partner", "sister", undefined]);
    await setMesh({});
    assert.deepEqual(await agent.next(), [undefined]);
  });
});

Deno.test("the roots of a bundle endpoint are sent when it has answered; one that is away harms no other", async () => {
  const keys = [{ kty: "EC", use: "x509-svid", x5c: [partner.certificate.der.toBase64()] }];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) =>
      new URL(request.url).pathname === "/bundle" ? Response.json({ keys }) : new Response("", { status: 503 }),
  );
  const url = (path: string) => ({ spiffeBundleUrl: `http://127.0.0.1:${server.addr.port}/${path}` });
  await withRoots({}, several, async ({ plain, setMesh }) => {
    await using agent = agentRoots(plain);
    assert.deepEqual(await agent.next(), [undefined]);
    await setMesh({ caCertificates: [url("away"), url("bundle")] });
    assert.deepEqual(await agent.next(), ["partner", undefined]);
  });
});

Deno.test("the root of a provider elsewhere is read from its file, followed, and kept while the file is broken", async () => {
  const folder = await Deno.makeTempDir();
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const file = `${folder}/root-cert.pem`;
  const expected = /^got "custom", expected its root certificate in .*root-cert\.pem: .*it is not there$/;
  await assert.rejects(startProviderRoot("custom", kernel, file), (error) => {
    assert.ok(error instanceof StartError);
    assert.deepEqual(error.faults.map(({ option }) => option), ["PILOT_CERT_PROVIDER"]);
    assert.match(error.faults[0]!.text, expected);
    return true;
  });
  await Deno.writeTextFile(file, pem(partner));
  const roots = await startProviderRoot("custom", kernel, file);
  assert.equal(roots.current(), pem(partner));
  const next = new Promise((resolve) => roots.onChange(resolve));
  await Deno.writeTextFile(file, "no certificate\n");
  await Deno.writeTextFile(file, pem(sister));
  assert.equal(await next, pem(sister));
  await kernel.stopper.stop();
  await Deno.remove(folder, { recursive: true });
});
