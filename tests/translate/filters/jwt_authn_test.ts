/** Proxies get only keys that Envoy accepts, because a single bad key makes Envoy refuse the listener. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { exportJWK, generateKeyPair } from "jose";
import { EMPTY_KEY_SET, publicKeySet } from "../../../lib/config/kinds/request_authentication/key_set.ts";
import { usableKey } from "../../../lib/config/kinds/request_authentication/usable_key.ts";
import { tokenFilters } from "../../../lib/translate/filters/http/jwt_authn/filter.ts";
import { UNUSED_KEYS } from "../../../lib/translate/filters/http/jwt_authn/provider.ts";
import { httpConnectionManager } from "../../../lib/translate/listener/http_connection_manager.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { envoyPath } from "../../envoy/path.ts";
import { validate } from "../../envoy/verdict.ts";
import { meshReader } from "../mesh_reader.ts";

type Jwk = Readonly<Record<string, unknown>>;

const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

/** A key of each algorithm, and a shared key. */
async function goodKeys(): Promise<Jwk[]> {
  const keys = algorithms.map(async (alg) => {
    const { privateKey } = await generateKeyPair(alg, { extractable: true });
    return { ...await exportJWK(privateKey), alg, kid: alg };
  });
  return [...await Promise.all(keys), { kty: "oct", k: "AAECAwQFBgcICQoLDA0ODw", alg: "HS256", kid: "shared" }];
}

const PRIVATE = ["d", "p", "q", "dp", "dq", "qi", "oth"];

Deno.test("a key of every algorithm is usable, without its private members", async () => {
  for (const key of await goodKeys()) {
    const usable = usableKey(key);
    assert.ok(usable, String(key["alg"]));
    assert.deepEqual(Object.keys(usable).filter((name) => PRIVATE.includes(name)), []);
    const expected = Object.fromEntries(Object.entries(key).filter(([name]) => !PRIVATE.includes(name)));
    assert.deepEqual({ ...usable }, expected);
  }
});

Deno.test("keys for encryption, of unknown types and off their curve are left out", async () => {
  const [rsa, ec, okp, shared] = ["RS256", "ES256", "EdDSA", "shared"];
  const by = new Map((await goodKeys()).map((key) => [key["kid"], key]));
  const broken: Record<string, Jwk> = {
    encryption: { ...by.get(rsa), use: "enc" },
    "encryption by algorithm": { ...by.get(rsa), alg: "RSA-OAEP" },
    "an even modulus": { ...by.get(rsa), n: "gA".padEnd(342, "A") },
    "a short modulus": { ...by.get(rsa), n: "_w" },
    "a strange exponent": { ...by.get(rsa), e: "Ag" },
    "another curve": { ...by.get(ec), crv: "secp256k1", alg: undefined },
    "another curve's algorithm": { ...by.get(ec), alg: "ES384" },
    "off the curve": { ...by.get(ec), x: by.get(ec)!["y"] },
    "a coordinate that is no text": { ...by.get(ec), x: 5 },
    "no base64": { ...by.get(ec), x: "a+b/" },
    "a length that no bytes have": { ...by.get(ec), x: "AAAAA" },
    "a short Ed25519 key": { ...by.get(okp), x: "AA" },
    "X25519": { ...by.get(okp), crv: "X25519" },
    "an empty secret": { ...by.get(shared), k: "" },
    "a name that is no text": { ...by.get(rsa), kid: 5 },
    "half a character as name": { ...by.get(rsa), kid: "\ud800" },
    "an inherited name as type": { kty: "toString" },
    "an inherited name as curve": { kty: "EC", crv: "constructor", x: "AA", y: "AA" },
  };
  for (const [name, key] of Object.entries(broken)) assert.equal(usableKey(key), undefined, name);
});

Deno.test("keys in another order, or twice, give the same text; a text that is not a key set gives no keys", async () => {
  const keys = await goodKeys();
  const text = publicKeySet(JSON.stringify({ keys }));
  assert.equal(publicKeySet(JSON.stringify({ keys: [...keys, ...keys].reverse() })), text);
  assert.equal(publicKeySet('{"keys":[]}'), EMPTY_KEY_SET);
  const deep = `{"kty":"RSA","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  assert.equal(publicKeySet(deep), EMPTY_KEY_SET);
  for (const wrong of ["", "x", "null", "[]", "5", '{"keys":{}}', '{"keys":[5]}', '{"keys":[[]]}', '{"keys":[{}]}']) {
    assert.equal(publicKeySet(wrong), undefined, wrong);
  }
});

Deno.test("the key that no token fits is a point of P-256 that a hash gave, so that nobody has its secret", async () => {
  const { keys: [key] } = JSON.parse(UNUSED_KEYS) as { keys: Record<string, string>[] };
  const text = new TextEncoder().encode("no token fits this key 0");
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  assert.equal(key!["x"], hash.toBase64({ alphabet: "base64url", omitPadding: true }));
  assert.deepEqual({ ...usableKey(key!) }, key);
});

/** A listener with the keys of an issuer. */
function listener(index: number, keys: string): envoy.config.listener.v3.Listener {
  const rules = [{ issuer: "a", jwksUri: "http://a.example/keys" }];
  const read = meshReader({ tokenPolicy: { rules, causes: [] }, tokenKeys: { "http://a.example/keys": keys } });
  const slots = { authentication: tokenFilters(read)! };
  const filter = httpConnectionManager(read, {
    direction: "inbound",
    port: 80,
    statPrefix: "a",
    routes: { name: "a" },
    slots,
  });
  const address = { socket_address: { address: "127.0.0.1", port_value: 20_000 + index } };
  return { name: `l${index}`, address, filter_chains: [{ filters: [filter] }] };
}

const envoyBinary = envoyPath();

Deno.test({
  name: "Envoy takes the keys that are left of any key set",
  ignore: envoyBinary === undefined,
  async fn() {
    const keys = await goodKeys();
    const anyMember = fc.constantFrom("n", "e", "x", "y", "k", "crv", "alg", "kid", "kty", "use");
    const anyValue = fc.oneof(
      fc.constantFrom("RSA", "EC", "oct", "OKP", "P-256", "P-384", "P-521", "Ed25519", "X25519", ...algorithms),
      fc.constantFrom("", "AQAB", "Aw", "AA", "AAAA", "gA", "_w", "sig", "enc", "\ud800", "\u0000", "=", "a b"),
      fc.string({ maxLength: 20 }),
      fc.jsonValue({ maxDepth: 1 }),
    );
    const changes = fc.dictionary(anyMember, anyValue, { maxKeys: 2 });
    const anyKey = fc.tuple(fc.constantFrom(...keys), changes).map(([key, changed]) => ({ ...key, ...changed }));
    const anySet = fc.array(anyKey, { maxLength: 4 });
    const listeners = fc.sample(anySet, { numRuns: 300, seed: 1 }).map((keys, index) =>
      listener(index, publicKeySet(JSON.stringify({ keys })) ?? EMPTY_KEY_SET)
    );
    const verdict = await validate(envoyBinary!, { listeners });
    assert.ok(verdict.accepted, verdict.output.slice(-500));
  },
});
