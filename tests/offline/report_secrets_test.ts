/** What is taken out of a report: keys, tokens and passwords, wherever they stand. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { withoutSecretJson, withoutSecrets } from "../../lib/offline/report/secret_json.ts";
import { HIDDEN } from "../../lib/offline/report/hidden.ts";
import { withoutSecretText } from "../../lib/offline/report/secret_text.ts";
import { runs } from "../properties.ts";

const KNOWN = new Set(["PILOT_DEBOUNCE_MAX"]);
const CANARY = "Zq7canary";
const JWT = `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiI${CANARY}.${CANARY}sig`;
const KEY = `-----BEGIN RSA PRIVATE KEY-----\n${CANARY}\n${CANARY}\n-----END RSA PRIVATE KEY-----`;

Deno.test("credentials in texts are taken out, and the words around them stay", () => {
  const cases: [string, string][] = [
    [`before ${KEY} after`, `before ${HIDDEN} after`],
    [`cut -----BEGIN PRIVATE KEY-----\n${CANARY}`, `cut ${HIDDEN}`],
    [`token is ${JWT}!`, `token is ${HIDDEN}!`],
    [`got Bearer ${CANARY} from 10.0.0.1`, `got Bearer ${HIDDEN} from 10.0.0.1`],
    [`redis://user:${CANARY}@host/0 failed`, `redis://${HIDDEN}@host/0 failed`],
    [`level=info password=${CANARY} port=80`, `level=info password=${HIDDEN} port=80`],
    [`x-api-key: "${CANARY} two" next`, `x-api-key: ${HIDDEN} next`],
    [`{"client_secret": "${CANARY}", "host": "a"}`, `{"client_secret": ${HIDDEN}, "host": "a"}`],
    ["xds: push of 3 proxies took 12 ms", "xds: push of 3 proxies took 12 ms"],
  ];
  for (const [text, expected] of cases) assert.equal(withoutSecretText(text), expected);
  // A second key does not hide behind the first.
  assert.ok(!withoutSecretText(`${KEY}\n${KEY}`).includes(CANARY));
});

Deno.test("credentials in texts are taken out whole, whatever signs are in them", () => {
  const cases: [string, string][] = [
    [`cookie: theme=dark; sid=${CANARY}; b="${CANARY}"\nnext`, `cookie: ${HIDDEN}\nnext`],
    [`set-cookie: "a"; sid=${CANARY}\nnext`, `set-cookie: ${HIDDEN}\nnext`],
    [`{"cookie":"a=b; sid=${CANARY}","path":"/"}`, `{"cookie":${HIDDEN},"path":"/"}`],
    [`x-shop-key: ${CANARY} x-session: ${CANARY}`, `x-shop-key: ${HIDDEN} x-session: ${HIDDEN}`],
    [`user: admin pass: ${CANARY}`, `user: admin pass: ${HIDDEN}`],
    [`pushed with ghp_${CANARY}${CANARY}!`, `pushed with ${HIDDEN}!`],
    [`set-cookie: a=b, sid=${CANARY}\nnext`, `set-cookie: ${HIDDEN}\nnext`],
    [`authorization: ApiKey ${CANARY}\nnext`, `authorization: ${HIDDEN}\nnext`],
    [`Proxy-Authorization: AWS4-HMAC-SHA256 Credential=a, Signature=${CANARY}`, `Proxy-Authorization: ${HIDDEN}`],
    [`password="a\\"${CANARY}" next`, `password=${HIDDEN} next`],
    [`{\\"password\\":\\"a, ${CANARY}\\",\\"b\\":1}`, `{\\"password\\":${HIDDEN},\\"b\\":1}`],
    [`redis://user:a@${CANARY}'s@host/0 failed`, `redis://${HIDDEN}@host/0 failed`],
    [`https://user:${CANARY.repeat(100)}@host/0 failed`, `https://${HIDDEN}@host/0 failed`],
    [`https://a.example/f.wasm?sv=1&sig=${CANARY}`, `https://a.example/f.wasm?sv=1&sig=${HIDDEN}`],
    [`https://a.example/f?X-Amz-Signature=${CANARY}`, `https://a.example/f?X-Amz-Signature=${HIDDEN}`],
    [`https://a.example/f?key=${CANARY} failed`, `https://a.example/f?key=${HIDDEN} failed`],
    [`client-key-data: ${CANARY}`, `client-key-data: ${HIDDEN}`],
    [`client-key-data is ${btoa(KEY)}!`, `client-key-data is ${HIDDEN}!`],
    [`run with --password ${CANARY} --port 80`, `run with --password ${HIDDEN} --port 80`],
    [`${CANARY}\n-----END RSA PRIVATE KEY-----\nnext`, `${HIDDEN}\nnext`],
    ["AuthorizationPolicy: shop/callers selects cart", `AuthorizationPolicy: ${HIDDEN} selects cart`],
    [
      `caBundle is ${btoa("-----BEGIN CERTIFICATE-----\nMII")}`,
      `caBundle is ${btoa("-----BEGIN CERTIFICATE-----\nMII")}`,
    ],
  ];
  for (const [text, expected] of cases) assert.equal(withoutSecretText(text), expected);
  assert.ok(!withoutSecretText(KEY.replaceAll("KEY-", "KEY BLOCK-")).includes(CANARY));
});

Deno.test("credentials in texts are taken out whatever stands before and behind them", () => {
  const planted = fc.constantFrom(
    KEY,
    `token is ${JWT} `,
    `Bearer ${CANARY} `,
    `redis://user:${CANARY}@host`,
    `admin:${CANARY}@db.shop`,
    `curl -u admin:${CANARY} `,
    `password=${CANARY} `,
    `password%3D${CANARY} `,
    `"client_secret": "${CANARY}"`,
    `\\"password\\":\\"${CANARY}\\"`,
    `\npassword: ${CANARY}\n`,
    `\n  password: |\n    ${CANARY}\n    ${CANARY}\nnext`,
    `\ncookie: a=b; sid=${CANARY}\n`,
    `--password ${CANARY} `,
    `https://a.example/f?X-Amz-Signature=${CANARY} `,
  );
  const word = fc.constantFrom(
    "level=info",
    "name: a",
    "{",
    "}",
    "\n",
    "  ",
    ":",
    "=",
    "https://a.example/x",
    "- b",
    "'",
    "x",
  );
  const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(" "));
  fc.assert(
    fc.property(fc.array(fc.tuple(text, planted), { maxLength: 5 }), text, (parts, end) => {
      const all = parts.map(([before, secret]) => `${before} ${secret}`).join("") + end;
      assert.ok(!withoutSecretText(all).includes(CANARY), withoutSecretText(all));
    }),
    { numRuns: runs(1000) },
  );
});

/** Places of credentials in objects and in Envoy's configuration. */
const PLACES: Readonly<Record<string, unknown>> = {
  secret: { kind: "Secret", data: { "tls.key": CANARY }, stringData: { any: CANARY } },
  configMap: { kind: "ConfigMap", data: { file: CANARY }, binaryData: { b: CANARY } },
  applied: { metadata: { annotations: { "kubectl.kubernetes.io/last-applied-configuration": `{"x":"${CANARY}"}` } } },
  variable: { containers: [{ env: [{ name: "HARMLESS", value: CANARY }] }] },
  knownSecretVariable: { env: [{ name: "REDIS_PASSWORD", value: CANARY }] },
  proxyMetadata: { defaultConfig: { proxyMetadata: { ANY: CANARY } } },
  argument: { args: [`--password=${CANARY}`, `--token ${JWT}`] },
  inline: { configPatches: [{ patch: { value: { privateKey: { inlineString: CANARY } } } }] },
  inlineBytes: { private_key: { inline_bytes: CANARY } },
  code: { typed_config: { inline_code: `local k = "${CANARY}"`, inlineCode: CANARY } },
  jwks: { jwtRules: [{ issuer: "a", jwks: `{"keys":[{"k":"${CANARY}"}]}` }] },
  localJwks: { providers: { a: { local_jwks: { inline_string: CANARY } } } },
  headerMap: { headers: { request: { set: { authorization: CANARY, "x-api-key": CANARY, "x-shop-auth": CANARY } } } },
  headerPair: { request_headers_to_add: [{ header: { key: "Authorization", value: CANARY } }] },
  headerMatch: { headers: [{ name: "cookie", string_match: { exact: CANARY } }] },
  providerHeaders: { zipkin: { headers: [{ name: "x-access-token", value: CANARY }] } },
  pluginConfig: { pluginConfig: { anything: [CANARY] } },
  vmConfig: { vmConfig: { env: [{ name: "A", valueFrom: "INLINE", value: CANARY }] } },
  vmVariables: { environment_variables: { key_values: { ISTIO_META_WASM_IMAGE_PULL_SECRET: CANARY } } },
  ticketKeys: { session_ticket_keys: { keys: [{ inline_bytes: CANARY }] } },
  headerKey: { headers: { response: { add: { "x-shop-key": CANARY } } } },
  headerPairs: { headers: [{ header: { key: "x-shop-auth", value: CANARY } }, { name: "x-shop-key", value: CANARY }] },
  connection: { message: `Endpoint=sb://a;SharedAccessKeyName=b;SharedAccessKey=${CANARY}` },
  number: { password: 4711 },
  condition: { when: [{ key: "request.headers[authorization]", values: [CANARY] }] },
  directResponse: { http: [{ directResponse: { status: 200, body: { string: CANARY } } }] },
  exception: { when: [{ key: "request.headers[x-shop-key]", notValues: [CANARY], values: ["4711"] }] },
  olderMatch: { headers: [{ name: "x-api-key", exact_match: CANARY }, { name: "x-api-key", contains_match: CANARY }] },
  pass: { user: "shop", pass: CANARY, headers: [{ name: "x-pass", value: CANARY }] },
  nextArgument: { args: ["--port", "80", "--password", CANARY] },
  access: { users: [{ user: { "client-key-data": CANARY } }] },
  signedAddress: { spec: { url: `https://a.example/f.wasm?sig=${CANARY}` } },
  address: { destination: `https://u:${CANARY}@issuer.example` },
  copyOfTool: { annotations: { "kapp.k14s.io/original": `{"kind":"Secret","data":{"a":"${CANARY}"}}` } },
  copyOfPod: { annotations: { "a.example/pod": `{"env":[{"name":"ANY","value":"${CANARY}"}]}` } },
  proxyConfig: { annotations: { "proxy.mesh.io/config": `proxyMetadata:\n  ANY: ${CANARY}\n` } },
  proxyConfigWithoutTree: { annotations: { "proxy.istio.io/config": `a: [\n  ANY: ${CANARY}` } },
  list: { kind: "SecretList", items: [{ data: { any: CANARY } }] },
  userArgument: { args: ["-u", `admin:${CANARY}`] },
  pair: { headers: [["x-api-key", CANARY]] },
  unreadMessage: { typed_config: { type_url: "type.googleapis.com/a.B", value: CANARY } },
  keyInLines: { lines: ["-----BEGIN PRIVATE KEY-----", CANARY, "-----END PRIVATE KEY-----"] },
  queryMap: { queryParams: { key: { exact: CANARY } } },
  queryList: { queryParams: [{ name: "auth", value: CANARY }] },
  queryMatch: { query_parameters: [{ name: "sig", string_match: { exact: CANARY } }] },
  dsn: { dsn: CANARY, bind_pw: CANARY, psk: CANARY, authkey: CANARY },
  deepText: { message: `failed with Bearer ${CANARY}` },
  text: { status: { message: KEY } },
};

Deno.test("credentials in YAML, in encoded addresses and in commands are taken out", () => {
  const cases: [string, string][] = [
    [`db:\n  password: |\n    ${CANARY}\n    ${CANARY}\n\n  host: a`, `db:\n  password: |\n${HIDDEN}\n  host: a`],
    [`- password: >-\n    ${CANARY}\n- name: b`, `- password: >-\n${HIDDEN}\n- name: b`],
    [`password:\n  ${CANARY}\nhost: a`, `password:\n${HIDDEN}\nhost: a`],
    [`password: !!binary |\n  ${CANARY}`, `password: !!binary |\n${HIDDEN}`],
    [`password:\nhost: a`, `password:\nhost: a`],
    [`password: ${CANARY}\n  ${"next"}`, `password: ${HIDDEN}\n  next`],
    [`got /cb?next=%2Fa%3Fpassword%3D${CANARY} 200`, `got /cb?next=%2Fa%3Fpassword%3D${HIDDEN} 200`],
    [`curl -u admin:${CANARY} https://a.example`, `curl -u ${HIDDEN} https://a.example`],
    [`curl --user 'admin:${CANARY}' https://a.example`, `curl --user '${HIDDEN}' https://a.example`],
    [`dialing admin:${CANARY}@db.shop:5432 failed`, `dialing ${HIDDEN}@db.shop:5432 failed`],
    ["pulled docker.io/a/b:1@sha256:0123456789abcdef", "pulled docker.io/a/b:1@sha256:0123456789abcdef"],
    ["12:30:01 info mail to a@b.example", "12:30:01 info mail to a@b.example"],
  ];
  for (const [text, expected] of cases) assert.equal(withoutSecretText(text), expected);
});

Deno.test("credentials in files and messages of other programs are taken out", () => {
  const der = btoa(`\x30\x82\x04\xbd\x02\x01\x00${CANARY.repeat(9)}`);
  const cases: [string, string][] = [
    [`password => ${CANARY}`, `password => ${HIDDEN}`],
    [`password := "${CANARY}"`, `password := ${HIDDEN}`],
    [`password      =      ${CANARY}`, `password      =      ${HIDDEN}`],
    [`password:\t\t\t\t\t${CANARY}`, `password:\t\t\t\t\t${HIDDEN}`],
    [`tokens: [a, "${CANARY}"] next`, `tokens: ${HIDDEN} next`],
    [`map[X-Api-Key:[a ${CANARY}] Host:[a]]`, `map[X-Api-Key:${HIDDEN} Host:[a]]`],
    [`tokens:\n- a\n- ${CANARY}\nhost: a`, `tokens:\n${HIDDEN}\nhost: a`],
    [`- name: DB_PASSWORD\n  value: ${CANARY}\n`, `- name: DB_PASSWORD\n  value: ${HIDDEN}\n`],
    [`got {"name":"DB_PASSWORD","value":"${CANARY}"} a`, `got {"name":"DB_PASSWORD","value":${HIDDEN}} a`],
    [`<add key="password" value="${CANARY}"/>`, `<add key="password" value=${HIDDEN}/>`],
    [`<db-password>${CANARY}</db-password>`, `<db-password>${HIDDEN}</db-password>`],
    [`DB_PASS=${CANARY} STRIPE_KEY=${CANARY} run`, `DB_PASS=${HIDDEN} STRIPE_KEY=${HIDDEN} run`],
    [`signing-key: ${CANARY}`, `signing-key: ${HIDDEN}`],
    [`redis_auth: ${CANARY}`, `redis_auth: ${HIDDEN}`],
    [`DB_DSN=${CANARY}`, `DB_DSN=${HIDDEN}`],
    [`JSESSIONID=${CANARY}; a`, `JSESSIONID=${HIDDEN}; a`],
    [`run -token ${CANARY} -port 80`, `run -token ${HIDDEN} -port 80`],
    [`machine a login b password ${CANARY}`, `machine a login b password ${HIDDEN}`],
    [`ALTER USER a PASSWORD '${CANARY} b' x`, `ALTER USER a PASSWORD ${HIDDEN} x`],
    [`postgres://root:a/${CANARY}@db/x`, `postgres://${HIDDEN}@db/x`],
    [`to=https%3A%2F%2Fu%3A${CANARY}%40a.example`, `to=https%3A%2F%2F${HIDDEN}%40a.example`],
    [`jdbc:oracle:thin:scott/${CANARY}@//db:1521/x`, `jdbc:oracle:thin:${HIDDEN}@//db:1521/x`],
    [`https://a.example/cb?code=${CANARY}`, `https://a.example/cb?code=${HIDDEN}`],
    [`got {"kty":"RSA","n":"a","d":"${CANARY}"} a`, `got {"kty":"RSA","n":"a","d":"${HIDDEN}"} a`],
    [
      `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n${CANARY}\n---- END SSH2 ENCRYPTED PRIVATE KEY ---- a`,
      `${HIDDEN} a`,
    ],
    [`Private-Lines: 2\n${CANARY}\n${CANARY}\nPrivate-MAC: a`, `Private-Lines: 2\n${HIDDEN}-MAC: a`],
    [`der ${der} end`, `der ${HIDDEN} end`],
    [`file ${btoa(`a: b\n${KEY}`)} end`, `file ${HIDDEN} end`],
    ['secret "shop/cert" is not there', 'secret "shop/cert" is not there'],
    ["the tokens of pods expire", "the tokens of pods expire"],
    [
      `certificate ${btoa(`\x30\x82\x04\xbd\x30\x82\x03${"a".repeat(60)}`)}`,
      `certificate ${btoa(`\x30\x82\x04\xbd\x30\x82\x03${"a".repeat(60)}`)}`,
    ],
  ];
  for (const [text, expected] of cases) assert.equal(withoutSecretText(text), expected);
});

Deno.test("credentials in objects and dumps are taken out in every place", () => {
  for (const [place, value] of Object.entries(PLACES)) {
    const text = withoutSecrets(JSON.stringify(value), KNOWN);
    assert.ok(!text.includes(CANARY) && !text.includes("4711"), `${place}: ${text}`);
    assert.ok(text.includes(HIDDEN), `${place}: ${text}`);
  }
});

Deno.test("credentials stay hidden however deep their object is, and beside any other fields", () => {
  const place = fc.constantFrom(...Object.values(PLACES));
  fc.assert(
    fc.property(
      place,
      fc.jsonValue(),
      fc.array(fc.string({ maxLength: 5 }), { maxLength: 12 }),
      (value, beside, way) => {
        const nested = way.reduce<unknown>(
          (inner, name, at) => at % 2 === 0 ? { [name]: inner, beside } : [inner],
          value,
        );
        assert.ok(!JSON.stringify(withoutSecretJson(nested, KNOWN)).includes(CANARY));
      },
    ),
  );
});

Deno.test("what a reader needs stays: names, addresses, references to secrets, settings", () => {
  const harmless = {
    metadata: { name: "cart", namespace: "shop", resourceVersion: "7", annotations: { "a.example/b": "c" } },
    tls: { mode: "SIMPLE", credentialName: "shop-cert" },
    env: [{ name: "PILOT_DEBOUNCE_MAX", value: "10s" }, {
      name: "A",
      valueFrom: { secretKeyRef: { name: "keys", key: "a" } },
    }],
    http: [{
      match: [{ uri: { prefix: "/token" } }],
      route: [{ destination: { host: "reviews", port: { number: 80 } } }],
    }],
    imagePullSecrets: [{ name: "registry" }],
    jwtRules: [{ issuer: "https://issuer.example", jwksUri: "https://issuer.example/keys" }],
    authorization_policies: { namespace_to_policies: { shop: [{ name: "callers" }] } },
    tokenBucket: { maxTokens: 10, tokensPerFill: 1 },
  };
  assert.deepEqual(withoutSecretJson(harmless, KNOWN), harmless);
});
