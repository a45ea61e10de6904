import assert from "node:assert/strict";
import type { AgentSecret, SecretSource } from "../../../lib/agent/secrets/agent_secret.ts";
import { fileSecrets } from "../../../lib/agent/secrets/file_secrets.ts";
import { orderCertificate } from "../../../lib/agent/secrets/issued_certificate.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { noMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { TestAuthority } from "../support/authority.ts";
import { until } from "../../patience.ts";

const authority = await TestAuthority.make();
const uri = "spiffe://cluster.local/ns/shop/sa/cart";

async function pair(): Promise<{ readonly chain: string; readonly key: string }> {
  const order = { uri, key: { type: "EC", curve: "P-256" }, ttl: 60_000, pkcs8: true, now: () => Date.now() } as const;
  return await orderCertificate(order, (csr, ttl) => authority.sign(csr, ttl));
}

/** Puts files in place like an orchestrator: a new folder, and a link to the folder, replaced in one step. */
async function mount(folder: string, version: number, { chain, key }: { chain: string; key: string }): Promise<void> {
  await Deno.mkdir(`${folder}/..v${version}`);
  await Deno.writeTextFile(`${folder}/..v${version}/tls.crt`, chain);
  await Deno.writeTextFile(`${folder}/..v${version}/tls.key`, key);
  await Deno.symlink(`..v${version}`, `${folder}/..new`);
  await Deno.rename(`${folder}/..new`, `${folder}/..data`);
  if (version > 1) return;
  for (const name of ["tls.crt", "tls.key"]) await Deno.symlink(`..data/${name}`, `${folder}/${name}`);
}

/** Watches a name, and keeps secrets and failures. */
function watched(source: SecretSource, name: string) {
  const secrets: AgentSecret[] = [];
  const failures: string[] = [];
  const stop = source.watch(name, {
    secret: (secret) => void secrets.push(secret),
    failed: (reason) => void failures.push(reason),
  });
  return { secrets, failures, stop: stop! };
}

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const log = silentLog().scope("test");
const real = fileSecrets({ debounce: 10, clock: systemClock, log, metrics: noMetrics() });

Deno.test("mounted certificates that are replaced three times are served three times, each with its own key", async () => {
  await inFolder(async (folder) => {
    const pairs = [await pair(), await pair(), await pair(), await pair()];
    await mount(folder, 1, pairs[0]!);
    const { secrets, failures, stop } = watched(real, `file-cert:${folder}/tls.crt~${folder}/tls.key`);
    for (const [i, { chain, key }] of pairs.entries()) {
      if (i > 0) await mount(folder, i + 1, { chain, key });
      await until(`certificate ${i}`, () => secrets.length === i + 1);
      assert.deepEqual(secrets[i], { kind: "certificate", chain, key });
    }
    assert.deepEqual(failures, []);
    stop();
  });
});

Deno.test("a key that does not belong to its certificate keeps the pair that is served", async () => {
  await inFolder(async (folder) => {
    const [one, two] = [await pair(), await pair()];
    await mount(folder, 1, one);
    const { secrets, stop } = watched(real, `file-cert:${folder}/tls.crt~${folder}/tls.key`);
    await until("the first pair", () => secrets.length === 1);
    await mount(folder, 2, { chain: two.chain, key: one.key });
    await mount(folder, 3, two);
    await until("the second pair", () => secrets.length === 2);
    assert.deepEqual(secrets[1], { kind: "certificate", chain: two.chain, key: two.key });
    stop();
  });
});

Deno.test("files that are not there are waited for ten seconds; then the reason is the file's", async () => {
  await inFolder(async (folder) => {
    const clock = createFakeClock();
    const source = fileSecrets({ debounce: 100, clock, log, metrics: noMetrics() });
    const path = `${folder}/root.pem`;
    const late = watched(source, `file-root:${path}`);
    await until("it is waited for", () => clock.pending() === 1);
    await clock.advance(9_999);
    assert.deepEqual(late.failures, []);
    await clock.advance(1);
    assert.deepEqual(late.failures, [`${path} does not exist`]);
    late.stop();

    const patient = watched(source, `file-root:${path}`);
    await until("it is waited for", () => clock.pending() === 1);
    await Deno.writeTextFile(path, authority.root);
    await until("it is there", () => patient.secrets.length === 1);
    assert.equal(clock.pending(), 0);
    patient.stop();
  });
});

Deno.test("names of other forms are not of files", () => {
  const source = fileSecrets({ debounce: 0, clock: systemClock, log, metrics: noMetrics() });
  for (const name of ["default", "file-cert:a", "file-cert:a~b~c", "file-root:", "kubernetes://a"]) {
    assert.equal(source.watch(name, { secret() {}, failed() {} }), undefined, name);
  }
});
