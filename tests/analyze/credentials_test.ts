/** Credentials of gateways: what is found changes with time alone, and nothing of a secret gets into a finding. */
import assert from "node:assert/strict";
import { judgeCredential } from "../../lib/config/facts/credential.ts";
import { ConcealedBytes } from "../../lib/config/facts/concealed.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { AnalyzedFolder } from "./support/analyzed.ts";

const examples = new URL("../testdata/findings/unusable-credential/", import.meta.url);
const text = (name: string) => Deno.readTextFileSync(new URL(name, examples));

/** Instant at which the certificate of the example that triggers ends. */
const END = Date.UTC(2025, 5, 30);

Deno.test("a certificate that ends is found when it ends, though nothing has changed, by looking at its Gateway alone", () => {
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

Deno.test("of several ends the next is awaited, each in its turn", () => {
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

Deno.test("findings about a credential hold nothing of the secret", () => {
  const input = new URL("../testdata/analyze/manifests/input/credentials.yaml", import.meta.url);
  const written = Deno.readTextFileSync(input);
  const folder = new AnalyzedFolder();
  folder.write({ "a.yaml": written });
  const said = JSON.stringify(folder.findings());
  const contents = written.split("\n").map((line) => line.trim()).filter((line) => /^[A-Za-z0-9+/= ]{14,}$/.test(line));
  assert.ok(contents.length > 50, "the secrets of the input are looked for");
  assert.deepEqual(contents.filter((line) => said.includes(line)), []);
});

Deno.test("a key that this runtime cannot read is not called wrong, and hostile text costs a verdict", () => {
  const clean = text("clean.yaml");
  const pem = (word: string) =>
    new RegExp(`-----BEGIN ${word}-----[^-]+-----END ${word}-----`).exec(clean)![0].replace(/^ +/gm, "");
  const bytes = (value: string) => new ConcealedBytes(new TextEncoder().encode(value));
  const certificate = pem("CERTIFICATE");
  const unreadable = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n";
  assert.equal(judgeCredential(bytes(certificate), bytes(unreadable))?.problem, undefined);
  assert.equal(judgeCredential(bytes(certificate), bytes(pem("PRIVATE KEY")))?.problem, undefined);
  const broken = certificate.replace(/\n.{20}/, "\n");
  assert.deepEqual(judgeCredential(bytes(broken), bytes(pem("PRIVATE KEY"))), { problem: "certificate" });
  assert.deepEqual(judgeCredential(bytes("-----BEGIN CERTIFICATE-----"), bytes("")), { problem: "certificate" });
  assert.deepEqual(judgeCredential(bytes("\0".repeat(1 << 20)), bytes("")), { problem: "certificate" });
  assert.equal(judgeCredential(bytes("x".repeat((1 << 20) + 1)), bytes("")), undefined);
});
