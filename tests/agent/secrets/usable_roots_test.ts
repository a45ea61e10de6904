import assert from "node:assert/strict";
import { checkLists, usableRoots } from "../../../lib/agent/secrets/usable_roots.ts";
import { writeCertificates } from "../../../lib/pki/certificate.ts";
import { makeRoot } from "../../pki/support/make.ts";

Deno.test("roots that the proxy would not read are left out and reported, because they would cost it all the others", async () => {
  const good = writeCertificates([(await makeRoot()).certificate]);
  const glued = good.trimEnd() + good;
  const lines: string[] = [];
  const texts = [good, `\ufeff${good}`, glued, "", good + good, good.replace("\n", "\n!")];
  const usable = usableRoots(texts, "caCertificatesPem", { error: (line) => void lines.push(String(line)) });
  assert.deepEqual(usable, [good, good + good]);
  assert.deepEqual(lines.map((line) => /\[\d\]/.exec(line)?.[0]), ["[1]", "[2]", "[3]", "[5]"]);
  assert.match(lines[0]!, /caCertificatesPem\[1\]: .*it has a byte order mark before a BEGIN line/);
});

Deno.test("lists that the proxy would pass over are refused", () => {
  const list = "-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n";
  checkLists(list + list, 2, "lists");
  assert.throws(() => checkLists(`\ufeff${list}`, 1, "lists"), /^PkiError: lists: expected each BEGIN/);
  assert.throws(() => checkLists(list.trimEnd() + list, 2, "lists"), /^PkiError: lists has text behind an END line/);
});
