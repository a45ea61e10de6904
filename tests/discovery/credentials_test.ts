/** Credentials by name: recipients, content, and repeated sending. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { ConfigStore } from "../../lib/config/store.ts";
import { FactStore } from "../../lib/config/facts/store.ts";
import { readFact } from "../../lib/config/facts/read.ts";
import { type AnyFact, isFactKind } from "../../lib/config/facts/types.ts";
import { Credentials } from "../../lib/discovery/credentials/credentials.ts";
import { credentialReferences } from "../../lib/discovery/credentials/reference.ts";
import { MAX_CREDENTIALS } from "../../lib/discovery/credentials/proxy_credentials.ts";
import { startCredentials } from "../../lib/discovery/credentials/start.ts";
import { ProxyStateView } from "../../lib/discovery/proxies/proxy_state_view.ts";
import { startKernel } from "../../lib/kernel/kernel.ts";
import { readable } from "../../lib/pb/reflect.ts";
import { readCertificates } from "../../lib/pki/certificate.ts";
import { objectId, octets, sequence, tagged, unsignedInteger } from "../../lib/pki/der_write.ts";
import { ResourceTable } from "../../lib/resource/set.ts";
import type { ProxyView } from "../../lib/xds/protocol/source.ts";
import { SECRET } from "../../lib/xds/protocol/types.ts";
import { inFile } from "../config/origins.ts";
import { type ClientSource, StreamClient } from "../xds/support/stream_client.ts";
import { keptBytes } from "../xds/support/memory.ts";
import { Fixture } from "./fixture.ts";
import { openLog } from "./open_log.ts";

const pem = new URL("../testdata/pem/", import.meta.url);
const [certificate, key, root, revoked] = ["cert", "key", "root", "crl"].map((name) =>
  Deno.readTextFileSync(new URL(`${name}.pem`, pem))
) as [string, string, string, string];

/** A responder's statement about the certificate, with the fields that Envoy reads. */
function staple(variant: number): Uint8Array {
  const serial = Uint8Array.fromHex(readCertificates(certificate)[0]!.serial);
  const id = sequence(sequence(), octets(Uint8Array.of(variant)), octets(Uint8Array.of(1)), unsignedInteger(serial));
  const time = Uint8Array.of(0x18, 0);
  const body = sequence(sequence(), time, sequence(sequence(id)));
  const response = sequence(objectId("1.3.6.1.5.5.7.48.1.1"), octets(sequence(body)));
  return sequence(Uint8Array.of(0x0a, 1, 0), tagged(0, response));
}

function fact(kind: string, namespace: string, name: string, data: Record<string, string | Uint8Array>): AnyFact {
  assert.ok(isFactKind(kind));
  const bytesOf = (value: string | Uint8Array) => typeof value === "string" ? new TextEncoder().encode(value) : value;
  const secret = () => Object.fromEntries(Object.entries(data).map(([key, value]) => [key, bytesOf(value).toBase64()]));
  const content = { data: kind === "Secret" ? secret() : data };
  const tree = { apiVersion: "v1", kind, metadata: { namespace, name }, ...content };
  const { fact, findings } = readFact(kind, tree, inFile("test"), { digestKey: new Uint8Array(32) });
  assert.ok(fact, JSON.stringify(findings));
  return fact;
}

function world(...facts: readonly AnyFact[]) {
  const store = new FactStore();
  const source = store.addSource("test", 0);
  source.apply({ upserted: [...facts], removed: [] });
  const refused: string[] = [];
  const credentials = new Credentials({
    facts: store,
    table: new ResourceTable(),
    refused: ({ name }, resource, why) => void refused.push(`${name} ${resource}: ${why}`),
  });
  const open = (namespace?: string) => {
    const changes = { count: 0 };
    const reader = { name: "proxy", ...(namespace === undefined ? {} : { namespace }) };
    return { own: credentials.open(reader, () => void changes.count++), changes };
  };
  return { source, refused, open, credentials };
}

const foreign = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();
const pair = { "tls.crt": certificate, "tls.key": key };
const web = fact("Secret", "edge", "web", { ...pair, "ca.crt": root, "ca.crl": revoked, "tls.ocsp-staple": staple(1) });

function shown(set: Iterable<{ readonly name: string; readonly value: Uint8Array }>): Record<string, unknown> {
  const type = "envoy.extensions.transport_sockets.tls.v3.Secret";
  return Object.fromEntries([...set].map(({ name, value }) => [name, readable(type, value)]));
}

Deno.test("a Secret whose text is refused is not called absent", () => {
  const credentials = new Credentials({
    ...{ facts: new FactStore(), table: new ResourceTable(), refused: () => {} },
    isRefused: (key) => key === "Secret/edge/web",
  });
  const own = credentials.open({ name: "proxy", namespace: "edge" }, () => {});
  assert.equal(own.whyNot("kubernetes://web"), "the text of Secret edge/web is refused");
  assert.equal(own.whyNot("kubernetes://web-cacert"), "the text of Secret edge/web is refused");
  assert.equal(own.whyNot("kubernetes://other"), "there is no Secret edge/other");
});

Deno.test("a proxy gets certificate, key, OCSP staple, authorities and revocation lists from the Secrets of its identity's namespace", () => {
  const { open, refused } = world(web);
  const { own } = open("edge");
  own.want(["kubernetes://web", "kubernetes://web-cacert", "kubernetes://edge/web", "file-cert:/a~/b"]);
  const bytes = (text: string) => ({ inline_bytes: new TextEncoder().encode(text).toBase64() });
  const ocsp_staple = { inline_bytes: staple(1).toBase64() };
  const found = { certificate_chain: bytes(certificate), private_key: bytes(key), ocsp_staple };
  const authorities = { trusted_ca: bytes(root), crl: bytes(revoked) };
  assert.deepEqual(shown(own.set), {
    "kubernetes://edge/web": { name: "kubernetes://edge/web", tls_certificate: found },
    "kubernetes://web": { name: "kubernetes://web", tls_certificate: found },
    "kubernetes://web-cacert": { name: "kubernetes://web-cacert", validation_context: authorities },
  });
  assert.deepEqual(refused, []);
});

const ask: readonly (readonly [string | undefined, string, RegExp | undefined])[] = [
  [undefined, "kubernetes://web", /has not proven an identity/],
  [undefined, "configmap://edge/roots", /has not proven an identity/],
  ["shop", "kubernetes://web", /there is no Secret shop\/web/],
  ["shop", "kubernetes://edge/web", /of namespace edge, the proxy's identity of shop/],
  ["shop", "kubernetes://edge/web-cacert", /of namespace edge/],
  ["shop", "kubernetes-gateway://edge/web", /of namespace edge/],
  ["edge", "kubernetes-gateway://edge/web", undefined],
  ["shop", "configmap://edge/roots", undefined],
  ["shop", "configmap://edge/roots-cacert", undefined],
  ["edge", "kubernetes://apart-cacert", undefined],
  ["edge", "kubernetes://apart", /has neither tls.crt with tls.key nor cert with key/],
  ["edge", "kubernetes://pair", /its key is of another certificate/],
  ["edge", "kubernetes://template", /holds placeholders for contents/],
  ["edge", "kubernetes://../web", /of namespace \.\., the proxy/],
  ["edge", "kubernetes://a/b/c", /the name is not the name of a credential/],
  ["edge", "invalid://", /the name is not the name of a credential/],
];

for (const [namespace, resource, why] of ask) {
  Deno.test(`${namespace ?? "nobody"} asks for ${resource}: ${why === undefined ? "gets it" : "refused, with the reason"}`, () => {
    const { open, refused } = world(
      web,
      fact("ConfigMap", "edge", "roots", { "ca.crt": root }),
      fact("Secret", "edge", "apart-cacert", { cacert: root }),
      fact("Secret", "edge", "apart", { cacert: root }),
      fact("Secret", "edge", "pair", { "tls.crt": certificate, "tls.key": foreign }),
      fact("Secret", "edge", "template", { "tls.crt": "{{ .cert }}", "tls.key": "{{ .key }}" }),
    );
    const { own } = open(namespace);
    own.want([resource]);
    assert.deepEqual([...own.set].map(({ name }) => name), why === undefined ? [resource] : []);
    assert.equal(refused.length, why === undefined ? 0 : 1);
    if (why !== undefined) assert.match(refused[0]!, why);
    const asked = own.whyNot(resource);
    assert.equal(asked === undefined, why === undefined);
    if (why !== undefined) assert.match(asked!, why);
    assert.equal(refused.length, why === undefined ? 0 : 1, "who asks for the reason alone is not counted");
  });
}

Deno.test("a Secret that comes, changes or goes is sent only to the proxies that ask for it", () => {
  const { source, open, refused } = world(web);
  const [asks, other] = [open("edge"), open("edge")];
  asks.own.want(["kubernetes://late"]);
  other.own.want(["kubernetes://web"]);
  assert.equal(refused.length, 1);
  const put = (data: Record<string, string | Uint8Array>) =>
    source.apply({ upserted: [fact("Secret", "edge", "late", data)], removed: [] });
  const version = () => [...asks.own.set].map(({ version }) => version);
  put(pair);
  const first = version();
  assert.equal(first.length, 1);
  put({ ...pair, "tls.ocsp-staple": staple(2) });
  assert.notDeepEqual(version(), first);
  put({ ...pair, "tls.ocsp-staple": staple(2), unrelated: "x" });
  assert.equal(asks.changes.count, 2, "the same bytes are the same set");
  source.apply({ upserted: [], removed: ["Secret/edge/late"] });
  assert.deepEqual(version(), []);
  assert.equal(other.changes.count, 0);
});

Deno.test("an unsubscribed secret is not sent, and an ended stream gets nothing", () => {
  const { source, open } = world();
  const [asks, over] = [open("edge"), open("edge")];
  asks.own.want(["kubernetes://web"]);
  over.own.want(["kubernetes://web"]);
  asks.own.unwant(["kubernetes://web"]);
  over.own.close();
  source.apply({ upserted: [web], removed: [] });
  assert.deepEqual([asks.changes.count, over.changes.count], [0, 0]);
  assert.deepEqual([[...asks.own.set], [...over.own.set]], [[], []]);
});

Deno.test("two proxies that ask for the same share its bytes", () => {
  const { open } = world(web);
  const [one, two] = [open("edge").own, open("edge").own];
  for (const own of [one, two]) own.want(["kubernetes://web"]);
  assert.equal([...one.set][0], [...two.set][0]);
});

Deno.test("the name of a secret's authorities is looked for first, then the secret without that ending", () => {
  assert.deepEqual(credentialReferences("kubernetes://web-cacert", "edge"), [
    { kind: "Secret", namespace: "edge", names: ["web-cacert", "web"], authorities: true },
  ]);
  assert.equal(credentialReferences("configmap://roots", "edge"), undefined);
});

Deno.test("several names are the authorities of all of them together, of those that can be used", () => {
  const second = certificate;
  const { source, open, refused } = world(
    fact("ConfigMap", "edge", "one", { "ca.crt": root }),
    fact("ConfigMap", "shop", "two", { "ca.crt": second }),
  );
  const name = "configmap://edge/one,configmap://shop/two,configmap://shop/missing-cacert";
  const { own, changes } = open("edge");
  own.want([name]);
  const texts = () =>
    [...own.set].map(({ value }) => {
      const secret = readable("envoy.extensions.transport_sockets.tls.v3.Secret", value) as {
        readonly validation_context: { readonly trusted_ca: { readonly inline_bytes: string } };
      };
      return new TextDecoder().decode(Uint8Array.fromBase64(secret.validation_context.trusted_ca.inline_bytes));
    });
  assert.deepEqual(texts(), [`${root}\n${second}`]);
  source.apply({ upserted: [fact("ConfigMap", "shop", "two", { "ca.crt": "nothing" })], removed: [] });
  assert.deepEqual(texts(), [root]);
  source.apply({ upserted: [fact("ConfigMap", "shop", "missing", { "ca.crt": second })], removed: [] });
  assert.deepEqual(texts(), [`${root}\n${second}`]);
  assert.equal(changes.count, 2);
  source.apply({
    upserted: [],
    removed: ["one", "two", "missing"].map((one) => `ConfigMap/${one === "one" ? "edge" : "shop"}/${one}`),
  });
  assert.deepEqual(texts(), []);
  assert.deepEqual(refused, [`proxy ${name}: there is no ConfigMap edge/one`]);
});

Deno.test("certificates cannot be joined, and no name is longer than the Gateway API allows", () => {
  assert.equal(credentialReferences("kubernetes://a,kubernetes://b", "edge"), undefined);
  const many = Array(9).fill("configmap://edge/one");
  assert.equal(credentialReferences(`${many.join(",")}-cacert`, "edge"), undefined);
  assert.equal(credentialReferences(`${many.slice(1).join(",")}-cacert`, "edge")?.length, 8);
  assert.equal(credentialReferences("configmap://edge/one,other://x/y-cacert", "edge"), undefined);
});

for (const delta of [true, false]) {
  const variant = delta ? "incremental" : "state of the world";

  Deno.test(`${variant}: a stream is sent the credentials that it asks for, and again when they change`, () => {
    const { source, credentials } = world(web);
    const fixture = new Fixture();
    fixture.pipeline.flush();
    const state = fixture.join({ namespace: "edge", address: "10.0.0.1", name: "gw", type: "router" });
    const reader = { namespace: "edge", name: "gw" };
    const wire: ClientSource<ProxyView> = {
      table: fixture.pipeline.table,
      connect: (_request, control) => {
        const own = credentials.open(reader, () => control.answered(SECRET));
        return new ProxyStateView(state, fixture.pipeline, control, new Map(), "spiffe://a/ns/edge/sa/gw", {
          credentials: own,
        });
      },
    };
    const node = { id: "router~10.0.0.1~gw.edge~edge.svc.cluster.local" };
    const client = new StreamClient(wire, delta, { request: { node } });
    client.ask(SECRET, { names: ["kubernetes://web"] });
    assert.equal(client.accept(SECRET, ["kubernetes://web"]).resources.size, 1);
    source.apply({ upserted: [fact("Secret", "edge", "other", pair)], removed: [] });
    client.stream.reconcile();
    assert.equal(client.inbox.length, 0, "another Secret is none of its business");
    source.apply({
      upserted: [fact("Secret", "edge", "web", { ...pair, "tls.ocsp-staple": staple(2) })],
      removed: [],
    });
    client.stream.reconcile();
    assert.equal(client.accept(SECRET, ["kubernetes://web"]).resources.size, 1);
    client.close();
    fixture.pipeline.stop();
  });
}

type Asking = ReturnType<Credentials["open"]>;

Deno.test("names that a client makes up are kept with some hundred bytes each, and above a bound not at all", async () => {
  const { open, refused, credentials } = world(web);
  const { own } = open("edge");
  const wanted = async (from: number, to: number) => {
    const before = await keptBytes();
    for (let i = from; i < to; i++) own.want([`kubernetes://made-up-${i}`]);
    refused.length = 0;
    return (await keptBytes() - before) / (to - from);
  };
  const each = await wanted(0, MAX_CREDENTIALS);
  assert.ok(each < 900, `${each} bytes a name`);
  const beyond = await wanted(MAX_CREDENTIALS, 3 * MAX_CREDENTIALS);
  assert.ok(beyond < 20, `${beyond} bytes a name beyond`);
  own.want(["kubernetes://web"]);
  assert.deepEqual([shown(own.set), refused], [{}, []]);
  own.unwant(["kubernetes://made-up-1", "kubernetes://made-up-7"]);
  own.want(["kubernetes://web", "kubernetes://made-up-0"]);
  assert.deepEqual([...own.set].map(({ name }) => name), ["kubernetes://web"]);
  own.close();
  credentials.stop();
});

Deno.test("of one stream a hundred refusals are logged, and all are counted; another stream has its own", async () => {
  const { log, lines } = openLog();
  const kernel = startKernel("pilot-discovery", undefined, { log });
  const credentials = startCredentials(
    new ResourceTable(),
    { facts: new FactStore(), store: new ConfigStore(), findings: () => [] },
    kernel,
  );
  const [loud, quiet] = ["loud", "quiet"].map((name) => credentials.open({ name }, () => {})) as [Asking, Asking];
  for (let i = 0; i < 1000; i++) loud.want([`kubernetes://made-up-${i}`]);
  quiet.want(["kubernetes://web"]);
  const messages = lines.map(({ msg }) => String(msg));
  assert.deepEqual(
    ["loud does", "loud: further", "quiet does"].map((begin) =>
      messages.filter((message) => message.startsWith(begin)).length
    ),
    [100, 1, 1],
    messages.slice(-3).join("\n"),
  );
  assert.match((await kernel.metrics.scrape()).body, /^pilot_sds_certificate_errors_total 1001$/m);
  await kernel.stopper.stop();
});
