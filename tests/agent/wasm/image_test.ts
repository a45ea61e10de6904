import assert from "node:assert/strict";
import { wholeBytes } from "../../../lib/agent/wasm/fetch/bounded_bytes.ts";
import type { FetchFault } from "../../../lib/agent/wasm/fetch/fetch_fault.ts";
import { fetchModule } from "../../../lib/agent/wasm/fetch/fetch_module.ts";
import { DOCKER_HUB, parseImageName } from "../../../lib/agent/wasm/fetch/image_name.ts";
import { credentialsFor } from "../../../lib/agent/wasm/fetch/pull_secret.ts";
import { TestAuthority } from "../support/authority.ts";
import { PATIENCE } from "../../patience.ts";
import { TestRegistry } from "../support/registry.ts";
import { gzip, sha256, tar, wasmModule } from "../support/wasm_files.ts";
import { TestWebServer } from "../support/web_server.ts";

const roots = () => Promise.resolve("");
const never = new AbortController().signal;
const MODULE = "application/vnd.module.wasm.content.layer.v1+wasm";
const OCI_LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";
const DOCKER = "application/vnd.docker.distribution.manifest.v2+json";
const DOCKER_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip";
const INDEX = "application/vnd.oci.image.index.v1+json";

/** Registries of these tests speak plain text, which the rules must allow. */
async function pull(registry: TestRegistry, name: string, pullSecret?: string) {
  const rules = { timeout: PATIENCE, roots, insecure: new Set([registry.host]) };
  const module = await fetchModule(rules, { url: `oci://${registry.host}/${name}`, pullSecret }, never);
  return { digests: module.digests, bytes: await wholeBytes(module.content()) };
}

const failure = (expected: string, message: RegExp) => (error: FetchFault) => {
  assert.match(error.message, message);
  assert.equal(error.failure, expected);
  return true;
};

Deno.test("names of images", () => {
  const digest = "a".repeat(64);
  const table: readonly (readonly [string, string, string, string, string | undefined])[] = [
    ["oci://reg.test/a/b:v1", "reg.test", "a/b", "v1", undefined],
    ["oci://reg.test:5000/b", "reg.test:5000", "b", "latest", undefined],
    [`oci://localhost/b@sha256:${digest}`, "localhost", "b", "latest", digest],
    [`oci://reg.test/b:v1@sha256:${digest}`, "reg.test", "b", "v1", digest],
    ["oci://docker.io/b", DOCKER_HUB, "library/b", "latest", undefined],
    ["oci://team/b:1", DOCKER_HUB, "team/b", "1", undefined],
    ["oci://b:1", DOCKER_HUB, "library/b", "1", undefined],
    ["oci://[::1]:5000/b", "[::1]:5000", "b", "latest", undefined],
  ];
  for (const [url, registry, repository, tag, digest] of table) {
    assert.deepEqual(parseImageName(url), { registry, repository, tag, digest }, url);
  }
  for (
    const url of [
      "oci://",
      "oci://reg.test/",
      "oci://reg.test/A",
      "oci://reg.test/a?b",
      "oci://reg.test/../a",
      "oci://reg.test/a@sha256:12",
      "oci://reg.test/a:",
    ]
  ) {
    assert.throws(() => parseImageName(url), /expected oci:\/\/registry\/repository:tag/, url);
  }
});

Deno.test("a module comes out of an image of each form", async () => {
  await using registry = new TestRegistry();
  const module = wasmModule("it");
  const packed = gzip(tar({ "opt/plugin.wasm": module }));
  const forms = {
    artifact: await registry.push("f/artifact:1", [{
      mediaType: "application/vnd.module.wasm.config.v1+json",
      bytes: gzip(module),
    }, { mediaType: MODULE, bytes: module }]),
    compat: await registry.push("f/compat:1", [{ mediaType: OCI_LAYER, bytes: gzip(tar({ other: module })) }, {
      mediaType: OCI_LAYER,
      bytes: packed,
    }]),
    docker: await registry.push("f/docker:1", [{ mediaType: DOCKER_LAYER, bytes: packed }], DOCKER),
  };
  for (const [name, digest] of Object.entries(forms)) {
    assert.deepEqual(await pull(registry, `f/${name}:1`), { digests: [digest], bytes: module }, name);
    assert.deepEqual((await pull(registry, `f/${name}@sha256:${digest}`)).bytes, module, `${name} by digest`);
  }
});

Deno.test("an index means the image for any platform, else the image for the most common platform", async () => {
  await using registry = new TestRegistry();
  const push = async (text: string) =>
    `sha256:${await registry.push(`r:${text}`, [{ mediaType: MODULE, bytes: wasmModule(text) }])}`;
  const amd64 = { digest: await push("amd64"), mediaType: DOCKER, platform: { os: "linux", architecture: "amd64" } };
  const arm64 = { digest: await push("arm64"), mediaType: DOCKER, platform: { os: "linux", architecture: "arm64" } };
  const wasm = { digest: await push("wasm"), mediaType: DOCKER, platform: { os: "wasi", architecture: "wasm" } };
  for (
    const [tag, manifests, expected] of [["two", [arm64, amd64], "amd64"], [
      "three",
      [arm64, amd64, wasm],
      "wasm",
    ]] as const
  ) {
    const digest = await registry.pushManifest(`r:${tag}`, { schemaVersion: 2, manifests }, INDEX);
    const pulled = await pull(registry, `r:${tag}`);
    assert.deepEqual(pulled.bytes, wasmModule(expected));
    assert.equal(pulled.digests[1], digest, "the index's own digest is known, too");
  }
});

Deno.test("a manifest or a layer whose bytes do not match the digest is refused", async () => {
  await using registry = new TestRegistry();
  const module = wasmModule("good");
  const digest = await registry.push("r:1", [{ mediaType: MODULE, bytes: module }]);
  const other = await registry.push("r:2", [{ mediaType: MODULE, bytes: wasmModule("other") }]);
  registry.blobs.set(`sha256:${await sha256(module)}`, wasmModule("evil"));
  await assert.rejects(pull(registry, "r:1"), failure("checksum_mismatched", /blobs\/.* has the digest sha256:/));
  registry.before = (request) => request.url.includes(digest) ? new Response("{}") : undefined;
  await assert.rejects(
    pull(registry, `r@sha256:${digest}`),
    failure("checksum_mismatched", /manifests\/.* has the digest sha256:/),
  );
  assert.deepEqual((await pull(registry, `r@sha256:${other}`)).bytes, wasmModule("other"));
});

Deno.test("manifests that say nothing of use are refused with field, value and expectation", async () => {
  await using registry = new TestRegistry();
  const table: readonly (readonly [unknown, RegExp])[] = [
    [{}, /the image has no layer/],
    [{ layers: "x" }, /layers: got "x", expected a list of layers/],
    [{ layers: [{ mediaType: MODULE, digest: "md5:1" }] }, /layers\[0\]\.digest: got "md5:1", expected sha256: and 64/],
    [{ mediaType: INDEX, manifests: [] }, /the index has no manifests/],
  ];
  for (const [manifest, reason] of table) {
    await registry.pushManifest("r:bad", manifest, DOCKER);
    await assert.rejects(pull(registry, "r:bad"), failure("manifest_failure", reason));
  }
  await assert.rejects(
    pull(registry, "r:none"),
    failure("manifest_failure", /manifests\/none: status 404, expected 200/),
  );
});

Deno.test("a challenge for a token is met: anonymously, with a password, with an identity token; Basic, and a token of the secret's own", async () => {
  await using registry = new TestRegistry();
  await registry.push("team/r:1", [{ mediaType: MODULE, bytes: wasmModule("it") }]);
  registry.challenge = `Bearer realm="http://${registry.host}/token",service="reg",scope="repository:team/r:pull"`;
  registry.wanted = "Bearer the-token";
  const seen: string[] = [];
  registry.token = async (request) => {
    const { search } = new URL(request.url);
    seen.push(
      `${request.method} ${request.headers.get("authorization")} ${
        request.method === "GET" ? search : await request.text()
      }`,
    );
    return Response.json(seen.length === 2 ? { access_token: "the-token" } : { token: "the-token" });
  };
  const secret = (entry: object) => JSON.stringify({ auths: { [registry.host]: entry } });
  const pulls = [
    undefined,
    secret({ username: "me", password: "pä:ss" }),
    secret({ auth: btoa("me:pass") }),
    secret({ identitytoken: "id" }),
  ];
  for (const one of pulls) assert.deepEqual((await pull(registry, "team/r:1", one)).bytes, wasmModule("it"));
  const query = "?scope=repository%3Ateam%2Fr%3Apull&service=reg";
  assert.deepEqual(seen.slice(0, 3), [
    `GET null ${query}`,
    `GET Basic ${new TextEncoder().encode("me:pä:ss").toBase64()} ${query}`,
    `GET Basic ${btoa("me:pass")} ${query}`,
  ]);
  assert.match(
    seen[3]!,
    /^POST null grant_type=refresh_token&refresh_token=id&service=reg&scope=repository%3Ateam%2Fr%3Apull/,
  );
  assert.deepEqual((await pull(registry, "team/r:1", secret({ registrytoken: "the-token" }))).bytes, wasmModule("it"));
  assert.equal(seen.length, 4, "it is shown at once");
  registry.challenge = 'Basic realm="reg"';
  registry.wanted = `Basic ${btoa("me:pass")}`;
  assert.deepEqual((await pull(registry, "team/r:1", secret({ auth: btoa("me:pass") }))).bytes, wasmModule("it"));
  await assert.rejects(
    pull(registry, "team/r:1"),
    failure("manifest_failure", /refuses us: status 401, and there are no credentials/),
  );
});

Deno.test("a realm that a registry names on another port of this machine is not asked", async () => {
  await using inner = new TestWebServer(() => Response.json({ token: "t" }));
  await using registry = new TestRegistry();
  registry.wanted = "Bearer t";
  registry.challenge = `Bearer realm="http://${inner.host}/token"`;
  await assert.rejects(
    pull(registry, "r:1"),
    failure("manifest_failure", /127\.0\.0\.1, a loopback address that a server named, is not asked/),
  );
  assert.deepEqual(inner.asked, []);
});

Deno.test("a registry without a valid certificate or without TLS is asked only if it is listed", async () => {
  const authority = await TestAuthority.make();
  const strict = { timeout: PATIENCE, insecure: new Set<string>(), roots: () => Promise.resolve(other.root) };
  const other = await TestAuthority.make();
  await using plain = new TestRegistry();
  await plain.push("r:1", [{ mediaType: MODULE, bytes: wasmModule("it") }]);
  const request = { url: `oci://${plain.host}/r:1`, pullSecret: undefined };
  await assert.rejects(fetchModule(strict, request, never), failure("manifest_failure", /https:\/\/127/));
  assert.deepEqual((await pull(plain, "r:1")).bytes, wasmModule("it"));
  const { certificate: cert, privateKey: key } = await authority.certificateOf({ dns: ["reg.test"] });
  await using secure = new TestRegistry({ cert, key });
  await secure.push("r:1", [{ mediaType: MODULE, bytes: wasmModule("it") }]);
  const secureRequest = { ...request, url: `oci://reg.test:${secure.server.port}/r:1` };
  const resolve = () => Promise.resolve(["127.0.0.1"]);
  await assert.rejects(
    fetchModule({ ...strict, resolve }, secureRequest, never),
    failure("manifest_failure", /certificate|issuer/i),
  );
  assert.deepEqual((await pull(secure, "r:1")).bytes, wasmModule("it"));
  const trusted = { ...strict, resolve, roots: () => Promise.resolve(other.root + authority.root) };
  assert.equal((await fetchModule(trusted, secureRequest, never)).digests.length, 1);
  const byOtherName = { ...secureRequest, url: `oci://other.test:${secure.server.port}/r:1` };
  await assert.rejects(fetchModule(trusted, byOtherName, never), failure("manifest_failure", /other\.test/));
});

Deno.test("secrets: Docker Hub has several keys; mistakes are reported without the secret", () => {
  const hub = JSON.stringify({ auths: { "https://index.docker.io/v1/": { username: "me", password: "pass" } } });
  assert.deepEqual(credentialsFor(DOCKER_HUB, hub), { type: "password", username: "me", password: "pass" });
  assert.deepEqual(credentialsFor("reg.test", hub), { type: "none" });
  assert.deepEqual(credentialsFor("reg.test", "{}"), { type: "none" });
  const table: readonly (readonly [string, RegExp])[] = [
    ["", /^the image pull secret is empty: the server has none, or none for this proxy$/],
    ["{", /^the image pull secret is not JSON$/],
    ["[]", /^the image pull secret: the document: expected a Docker configuration$/],
    ['{"auths":{"reg.test":{"password":5}}}', /auths\["reg\.test"\]\.password: expected a text$/],
    ['{"auths":{"reg.test":{"auth":"hunter2"}}}', /auths\["reg\.test"\]\.auth: expected user:password in base64$/],
  ];
  for (const [json, reason] of table) {
    assert.throws(
      () => credentialsFor("reg.test", json),
      (error: Error) => reason.test(error.message) && !error.message.includes("hunter2"),
      json,
    );
  }
});
