/** Credentials of gateways: findings change with time alone, and no part of a secret gets into a finding. */
import assert from "node:assert/strict";
import type { AnalysisSettings } from "../../lib/analyze/reader/source.ts";
import { judgeCredential } from "../../lib/config/facts/credential.ts";
import { ConcealedBytes } from "../../lib/config/facts/concealed.ts";
import { FactStore } from "../../lib/config/facts/store.ts";
import { FolderIndex } from "../../lib/folder/index.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { AnalyzedFolder } from "./support/analyzed.ts";

const examples = new URL("../testdata/findings/unusable-credential/", import.meta.url);
const text = (name: string) => Deno.readTextFileSync(new URL(name, examples));

/** The end of the certificate in the triggering example. */
const END = Date.UTC(2025, 5, 30);

Deno.test("an expired certificate is found at its expiry, though no object has changed, by a look at its Gateway alone", () => {
  let now = END - 1000;
  const folder = new AnalyzedFolder({}, false, () => now);
  folder.write({ "a.yaml": text("triggers.yaml") });
  assert.deepEqual(folder.findings(), []);
  assert.deepEqual([folder.analysis.nextInstant, folder.analysis.isBehind], [END + 1000, false]);
  now = END + 1000;
  assert.equal(folder.analysis.isBehind, true);
  const built = folder.analysis.looks;
  unpaced(folder.analysis.steps());
  assert.deepEqual(folder.findings().map(({ name }) => name), ["unusable-credential"]);
  assert.deepEqual([folder.analysis.looks - built, folder.analysis.isBehind], [1, false]);
  assert.equal(folder.analysis.nextInstant, undefined);
});

Deno.test("of several expiries the next is awaited, one after the other", () => {
  let now = END - 1000;
  const folder = new AnalyzedFolder({}, false, () => now);
  folder.write({
    "a.yaml": text("triggers.yaml"),
    "b.yaml": text("clean.yaml").replaceAll("namespace: shop", "namespace: other"),
  });
  assert.equal(folder.analysis.nextInstant, END + 1000);
  now = END + 1000;
  unpaced(folder.analysis.steps());
  assert.equal(folder.analysis.nextInstant, Date.UTC(2120, 0, 1) + 1000);
});

const GATEWAY = `apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: shop }
spec:
  selector: { app: door }
  servers:
    - port: { number: 443, name: https, protocol: HTTPS }
      hosts: [a.example.com]
      tls: { mode: SIMPLE, credentialName: cert }
`;

/** The changing objects of another cluster. */
function remoteCluster(folder: AnalyzedFolder, name: string) {
  const index = new FolderIndex({ defaultNamespace: "default", source: "" });
  const facts = new FactStore();
  const source = facts.addSource("", 0);
  folder.remote.set(name, facts);
  facts.subscribe((changes) => folder.analysis.remoteChanged(changes));
  folder.analysis.remoteChanged(undefined);
  return (text: string) => {
    source.apply(index.apply([{ path: "a.yaml", bytes: new TextEncoder().encode(text) }]).facts);
  };
}

const secret = (namespace: string, data: string) =>
  `apiVersion: v1
kind: Secret
metadata: { name: cert, namespace: ${namespace} }
data: ${data}
`;

Deno.test("a remote cluster's secret that lacks a key is found with the cluster's name, until the secret is complete or the cluster is gone, by a look at its Gateway alone", () => {
  const folder = new AnalyzedFolder();
  folder.write({
    "a.yaml": GATEWAY,
    "b.yaml": GATEWAY.replace("name: door", "name: other").replace("cert }", "more }").replace("a.exam", "b.exam"),
  });
  const said = () => {
    const before = folder.analysis.looks;
    unpaced(folder.analysis.steps());
    return [...folder.findings().map(({ message }) => message), folder.analysis.looks - before];
  };
  const west = remoteCluster(folder, "west");
  assert.deepEqual(said(), [2], "a cluster that has come may have the secrets of all");
  west(secret("shop", "{ tls.crt: YQ== }"));
  const [message, looks] = said();
  assert.match(String(message), /"cert", expected a Secret with tls\.key \(shop\/cert of cluster west has tls\.crt\)/);
  assert.equal(looks, 1);
  assert.deepEqual(folder.findings()[0]?.place.objects.map(({ kind }) => kind), ["Gateway"]);
  west(secret("ingress", "{ tls.crt: YQ== }"));
  assert.match(String(said()[0]), /\(ingress\/cert of cluster west has tls\.crt\)/, "its pods may run elsewhere");
  west(secret("shop", "{}") + "---\n" + secret("ingress", "{ tls.crt: YQ== }"));
  assert.match(String(said()[0]), /tls\.crt and tls\.key \(shop\/cert of cluster west has no key\)/);
  folder.remote.delete("west");
  folder.analysis.remoteChanged(undefined);
  assert.deepEqual(said(), [2]);
});

Deno.test("of several credential names only the first must have authorities, because Envoy has one list of authorities", () => {
  const pem = text("clean.yaml");
  const secrets = pem.slice(pem.indexOf("---\n"));
  const certificate = /(?<=tls\.crt: \|\n)(?: {4}.*\n)+/.exec(secrets)![0];
  const both = secrets.replaceAll("shop-tls", "first") + `  ca.crt: |\n${certificate}` +
    secrets.replaceAll("shop-tls", "second");
  const gateway = (names: string) =>
    GATEWAY.replace("SIMPLE, credentialName: cert", `MUTUAL, credentialNames: [${names}]`);
  const found = (names: string) => {
    const folder = new AnalyzedFolder();
    folder.write({ "a.yaml": gateway(names) + both });
    return folder.findings().map(({ message }) => message);
  };
  assert.deepEqual(found("first, second"), []);
  assert.match(found("second, first").join(), /credentialNames\[0\]: "second", expected a Secret with ca\.crt/);
});

Deno.test("a destination rule's credential is checked like a gateway's, and reported as missing where other secrets are known", () => {
  const pem = text("clean.yaml");
  const secrets = pem.slice(pem.indexOf("---\n"));
  const rule = (name: string, mode: string) =>
    `apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: out, namespace: shop }
spec:
  host: pay.example.com
  workloadSelector: { matchLabels: { app: cart } }
  trafficPolicy: { tls: { mode: ${mode}, credentialName: ${name}, sni: pay.example.com } }
`;
  const found = (text: string) => {
    const folder = new AnalyzedFolder();
    folder.write({ "a.yaml": text });
    return folder.findings().filter(({ name }) => name.includes("credential")).map(({ message }) => message).join();
  };
  assert.match(found(rule("shop-tls", "SIMPLE") + secrets), /expected a Secret with ca\.crt \(shop\/shop-tls has/);
  assert.match(found(rule("none", "MUTUAL") + secrets), /"none", expected a Secret that is there \(shop\/none\)/);
  assert.equal(found(rule("none", "MUTUAL")), "", "no secret of the namespace is known");
  assert.equal(found(rule("builtin://", "SIMPLE") + secrets), "");
});

/** Credential findings of a text: name, severity and message. */
function credentialFindings(written: string, more: Partial<AnalysisSettings> = {}): string[] {
  const folder = new AnalyzedFolder({}, false, () => Date.UTC(2026, 0, 1), more);
  folder.write({ "a.yaml": written });
  return folder.findings().filter(({ name }) => name.includes("credential"))
    .map(({ name, severity, message }) => `${severity} ${name}: ${message}`);
}

const destination = (tls: string, selector = "workloadSelector: { matchLabels: { app: cart } }") =>
  `apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: out, namespace: shop }
spec:
  host: pay.example.com
  ${selector}
  trafficPolicy: { tls: { ${tls}, sni: pay.example.com } }
---
`;

Deno.test("a credential that exists nowhere is an error for a server and for complete files, at gateways and rules", () => {
  for (const written of [GATEWAY, destination("mode: MUTUAL, credentialName: cert")]) {
    assert.deepEqual(credentialFindings(written), [], "files seldom have all Secrets");
    for (const more of [{ served: true }, { whole: true }]) {
      const [one, ...others] = credentialFindings(written, more);
      assert.match(one!, /^error missing-credential: .*"cert", expected a Secret that is there \(shop\/cert/);
      assert.deepEqual(others, []);
    }
  }
});

Deno.test("a rule for workloads of its namespace does not find the Secret of another namespace", () => {
  const elsewhere = text("clean.yaml").split("\n---\n")[1]!.replace("namespace: shop", "namespace: other");
  const rule = destination("mode: MUTUAL, credentialName: shop-tls");
  assert.match(
    credentialFindings(rule + elsewhere, { served: true }).join(),
    /a Secret that is there \(shop\/shop-tls\)/,
  );
});

Deno.test("a Secret that exists but is refused is not reported as missing", () => {
  const refused = secret("shop", "{ tls.crt: not base64! }");
  for (const written of [GATEWAY + "---\n", destination("mode: MUTUAL, credentialName: cert")]) {
    const [one, ...others] = credentialFindings(written + refused);
    assert.match(
      one!,
      /^error refused-credential: .*"cert", expected a Secret that can be read \(shop\/cert is refused\)/,
    );
    assert.deepEqual(others, []);
  }
});

Deno.test("authorities in a ConfigMap are judged like authorities in a Secret, with any workload selector or none", () => {
  const [, certificate = ""] = /tls\.crt: \|\n((?: {4}.*\n)+)/.exec(text("clean.yaml")) ?? [];
  const map = (data: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: roots, namespace: shop }\ndata:${data}\n`;
  const good = map(`\n  ca.crt: |\n${certificate}`);
  const rule = (mode: string) => destination(`mode: ${mode}, credentialName: "configmap://roots"`, "subsets: []");
  assert.deepEqual(credentialFindings(rule("SIMPLE") + good), []);
  assert.match(
    credentialFindings(rule("SIMPLE") + map(" { other: x }")).join(),
    /^error incomplete-credential: .*a ConfigMap with ca\.crt \(shop\/roots has other\)$/,
  );
  assert.match(
    credentialFindings(rule("SIMPLE") + map(" { ca.crt: junk }")).join(),
    /^error unusable-credential: .*a ConfigMap whose ca\.crt has certificates.* \(ca\.crt of shop\/roots /,
  );
  assert.match(
    credentialFindings(rule("SIMPLE"), { served: true }).join(),
    /a ConfigMap that is there \(shop\/roots\)/,
  );
  assert.match(
    credentialFindings(rule("MUTUAL") + good).join(),
    /^error unusable-credential: .*a ConfigMap holds auth/,
  );
});

Deno.test("findings about a credential contain no part of the secret", () => {
  const input = new URL("../testdata/analyze/manifests/input/credentials.yaml", import.meta.url);
  const written = Deno.readTextFileSync(input);
  const folder = new AnalyzedFolder();
  folder.write({ "a.yaml": written });
  const said = JSON.stringify(folder.findings());
  const contents = written.split("\n").map((line) => line.trim()).filter((line) => /^[A-Za-z0-9+/= ]{14,}$/.test(line));
  assert.ok(contents.length > 50, "the secrets of the input are looked for");
  assert.deepEqual(contents.filter((line) => said.includes(line)), []);
});

Deno.test("an empty key is reported, a correct key is not, and hostile text costs only a verdict", () => {
  const clean = text("clean.yaml");
  const pem = (word: string) =>
    new RegExp(`-----BEGIN ${word}-----[^-]+-----END ${word}-----`).exec(clean)![0].replace(/^ +/gm, "");
  const bytes = (value: string) => new ConcealedBytes(new TextEncoder().encode(value));
  const certificate = pem("CERTIFICATE");
  const empty = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n";
  assert.equal(judgeCredential(bytes(certificate), bytes(empty))?.problem, "key");
  assert.equal(judgeCredential(bytes(certificate), bytes(pem("PRIVATE KEY")))?.problem, undefined);
  const broken = certificate.replace(/\n.{20}/, "\n");
  const problem = (chain: string, key: string) => judgeCredential(bytes(chain), bytes(key))?.problem;
  assert.equal(problem(broken, pem("PRIVATE KEY")), "certificate");
  assert.equal(problem("-----BEGIN CERTIFICATE-----", ""), "certificate");
  assert.equal(problem("\0".repeat(1 << 20), ""), "certificate");
  assert.equal(judgeCredential(bytes("x".repeat((1 << 20) + 1)), bytes("")), undefined);
});
