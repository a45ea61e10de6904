import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import fc from "fast-check";
import type { AgentSecret, SecretListener } from "../../../lib/agent/secrets/agent_secret.ts";
import {
  type CertificateOrder,
  type IssuedCertificate,
  orderCertificate,
} from "../../../lib/agent/secrets/issued_certificate.ts";
import { writeCertificateFiles } from "../../../lib/agent/secrets/output_files.ts";
import { WorkloadCertificate } from "../../../lib/agent/secrets/workload_certificate.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { noMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { createFakeClock, type FakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { TestAuthority } from "../support/authority.ts";
import { runs } from "../../properties.ts";

const uri = "spiffe://cluster.local/ns/shop/sa/cart";
const order: CertificateOrder = {
  uri,
  key: { type: "EC", curve: "P-256" },
  ttl: 3_600_000,
  pkcs8: false,
  now: () => Date.now(),
};

Deno.test("keys of every kind are certified, in the form that is asked for", async () => {
  const authority = await TestAuthority.make();
  const cases = [
    [{ type: "RSA", bits: 2048 }, false, "RSA PRIVATE KEY"],
    [{ type: "RSA", bits: 3072 }, true, "PRIVATE KEY"],
    [{ type: "EC", curve: "P-256" }, false, "EC PRIVATE KEY"],
    [{ type: "EC", curve: "P-384" }, true, "PRIVATE KEY"],
  ] as const;
  for (const [key, pkcs8, label] of cases) {
    const issued = await orderCertificate({ ...order, key, pkcs8 }, (csr, ttl) => authority.sign(csr, ttl));
    assert(issued.key.startsWith(`-----BEGIN ${label}-----`));
    const certificate = new X509Certificate(issued.chain);
    assert(certificate.checkPrivateKey(createPrivateKey(issued.key)));
    assert.equal(certificate.subjectAltName, `URI:${uri}`);
    assert.equal(issued.roots, authority.root);
  }
});

Deno.test("an answer that cannot be used is refused with the reason", async () => {
  const authority = await TestAuthority.make();
  const other = await orderCertificate(order, (csr, ttl) => authority.sign(csr, ttl));
  const answers: readonly [string[] | undefined, RegExp, number][] = [
    [[other.chain, other.roots], /a certificate of the key that was sent/, 0],
    [[authority.root], /expected a chain and its roots, got 1/, 0],
    [[], /expected a chain and its roots, got 0/, 0],
    [["nothing", "at all"], /certificate authority/, 0],
    [undefined, /valid now .* by this machine's clock/, 2 * 3_600_000],
  ];
  for (const [answer, expected, skew] of answers) {
    const sign = (csr: string, ttl: number) =>
      answer === undefined ? authority.sign(csr, ttl) : Promise.resolve(answer);
    await assert.rejects(orderCertificate({ ...order, now: () => Date.now() + skew }, sign), expected);
  }
});

/** A certificate of plain texts, with a name and roots. */
function issuedAt(clock: FakeClock, name: string, roots = "root one\n", ttl = 3_600_000): IssuedCertificate {
  return { chain: `${name}\n`, key: "key\n", roots, notBefore: clock.now(), notAfter: clock.now() + ttl };
}

/** A certificate whose orders the test answers. */
function kept(
  answer: (attempt: number, clock: FakeClock) => IssuedCertificate | Error,
  store?: (certificate: IssuedCertificate) => Promise<void>,
) {
  const clock = createFakeClock();
  const times: number[] = [];
  const certificate = new WorkloadCertificate({
    order() {
      times.push(clock.monotonic());
      const next = answer(times.length, clock);
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    renewal: { graceRatio: 0.5, jitter: 0.01 },
    moreRoots: ["more\n"],
    ...(store === undefined ? {} : { store }),
    ...{ clock, log: silentLog().scope("test"), metrics: noMetrics(), random: () => 1 },
  });
  const seen: Record<string, AgentSecret[]> = { default: [], ROOTCA: [] };
  const listener = (name: string): SecretListener => ({
    secret: (secret) => void seen[name]!.push(secret),
    failed: (reason) => assert.fail(reason),
  });
  for (const name of Object.keys(seen)) certificate.watch(name, listener(name));
  return { clock, times, certificate, seen };
}

Deno.test("a certificate is renewed at its time, jitter included, and each one is served with the roots of its time", async () => {
  const { clock, times, certificate, seen } = kept((attempt, at) =>
    issuedAt(at, `leaf ${attempt}`, attempt < 3 ? "root one\n" : "root two\n")
  );
  certificate.start();
  await clock.advance(0);
  assert.deepEqual(seen.default, [{ kind: "certificate", chain: "leaf 1\n", key: "key\n" }]);
  // 0.51 of the lifetime before the end.
  await clock.advance(2 * 0.49 * 3_600_000);
  assert.deepEqual(times, [0, 0.49 * 3_600_000, 2 * 0.49 * 3_600_000]);
  assert.deepEqual(seen.ROOTCA!.at(-1), { kind: "roots", roots: "root two\nmore\n" });
  certificate.trust(["else\n"]);
  assert.deepEqual(seen.ROOTCA!.at(-1), { kind: "roots", roots: "root two\nelse\n" });
  certificate.stop();
  assert.equal(clock.pending(), 0);
});

Deno.test("roots of the authority that come again are served once; revocation lists go with the roots, and are served when they change", async () => {
  const { clock, certificate, seen } = kept((_, at) => issuedAt(at, "leaf"));
  certificate.revoke("list one\n");
  certificate.start();
  await clock.advance(0);
  assert.deepEqual(seen.ROOTCA!.at(-1), { kind: "roots", roots: "root one\nmore\n", revocations: "list one\n" });
  certificate.trust(["root one\n", "more\n", "more\n"]);
  assert.deepEqual(seen.ROOTCA!.at(-1), { kind: "roots", roots: "root one\nmore\n", revocations: "list one\n" });
  const before = seen.ROOTCA!.length;
  certificate.revoke("list one\n");
  assert.equal(seen.ROOTCA!.length, before);
  certificate.revoke(undefined);
  assert.deepEqual(seen.ROOTCA!.at(-1), { kind: "roots", roots: "root one\nmore\n" });
  certificate.stop();
});

Deno.test("a certificate that begins before its signing is renewed by its remaining time, however short", async () => {
  const { clock, times, certificate } = kept((_, at) => ({
    ...issuedAt(at, "leaf", "root\n", 20_000),
    notBefore: at.now() - 120_000,
  }));
  certificate.start();
  await clock.advance(20_000);
  assert.deepEqual(times, [0, 9800, 19_600]);
  certificate.stop();
});

Deno.test("a certificate that begins later, because the clock was set back, is asked for again within a minute", async () => {
  const base = createFakeClock();
  const set = { ahead: 4000 * 86_400_000 };
  const clock = { ...base, now: () => base.now() + set.ahead };
  const times: number[] = [];
  const certificate = new WorkloadCertificate({
    order() {
      times.push(clock.now());
      return Promise.resolve(issuedAt(clock, `leaf ${times.length}`));
    },
    ...{ renewal: { graceRatio: 0.5 }, moreRoots: [], random: () => 1 },
    ...{ clock, log: silentLog().scope("test"), metrics: noMetrics() },
  });
  certificate.start();
  await base.advance(0);
  set.ahead = 0;
  await base.advance(60_000);
  assert.equal(times.length, 2);
  assert.equal(certificate.current!.notBefore, clock.now());
  certificate.stop();
  assert.equal(base.pending(), 0);
});

Deno.test("an authority that is gone is asked ever later, without end, and the certificate that is there is served on", async () => {
  const { clock, times, certificate, seen } = kept((attempt, at) =>
    attempt === 1 ? issuedAt(at, "leaf") : attempt < 12 ? new Error("gone") : issuedAt(at, "again")
  );
  certificate.start();
  await clock.advance(0.49 * 3_600_000);
  const pauses = [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000];
  await clock.advance(pauses.reduce((sum, pause) => sum + pause, 0));
  assert.deepEqual(times.slice(2).map((time, i) => time - times[i + 1]!), pauses);
  assert.deepEqual(seen.default!.map((secret) => "chain" in secret && secret.chain), ["leaf\n", "again\n"]);
  certificate.stop();
});

Deno.test("certificates of no lifetime are not asked for without a pause", async () => {
  const { clock, times, certificate } = kept((_, at) => issuedAt(at, "leaf", "root\n", 0));
  certificate.start();
  await clock.advance(5000);
  assert.equal(times.length, 11);
  certificate.stop();
});

Deno.test("a certificate that cannot be written is served, and written ever later until it can be or a newer one is", async () => {
  const tried: string[] = [];
  let isFull = true;
  const { clock, certificate, seen } = kept(
    (attempt, at) => issuedAt(at, `leaf ${attempt}`, "root\n", 40_000),
    ({ chain }) => {
      tried.push(chain.trim());
      return isFull ? Promise.reject(new Error("no space left on device")) : Promise.resolve();
    },
  );
  certificate.start();
  await clock.advance(0);
  assert.equal(seen.default!.length, 1);
  await clock.advance(3500);
  assert.deepEqual(tried, ["leaf 1", "leaf 1", "leaf 1", "leaf 1"]);
  await clock.advance(16_100);
  assert.deepEqual(tried.slice(-2), ["leaf 1", "leaf 2"]);
  isFull = false;
  await clock.advance(500);
  assert.deepEqual(tried.slice(-2), ["leaf 2", "leaf 2"]);
  const count = tried.length;
  await clock.advance(10_000);
  assert.equal(tried.length, count, "it is written once");
  certificate.stop();
  assert.equal(clock.pending(), 0);
});

Deno.test("whichever writes fail or are slow, an older certificate never overwrites a newer certificate", async () => {
  const write = fc.record({ fails: fc.boolean(), time: fc.integer({ min: 0, max: 3000 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 12 }), async (writes) => {
      const written: number[] = [];
      const rest = [...writes];
      const { clock, certificate } = kept(
        (attempt, at) => issuedAt(at, String(attempt), "root\n", 2000),
        async ({ chain }) => {
          const { fails, time } = rest.shift() ?? { fails: false, time: 0 };
          if (time > 0) await clock.sleep(time);
          if (fails) throw new Error("no space left on device");
          written.push(Number(chain));
        },
      );
      certificate.start();
      await clock.advance(60_000);
      assert.deepEqual(written, written.toSorted((a, b) => a - b));
      assert(written.length > 0, "it is written in the end");
      certificate.stop();
    }),
    { numRuns: runs(40) },
  );
});

Deno.test("if one file cannot be written, no file is replaced, and no temporary file is left", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const clock = createFakeClock();
    await writeCertificateFiles(folder, issuedAt(clock, "leaf"));
    const other = { ...issuedAt(clock, "other"), key: "other key\n", roots: "\0".repeat(5) };
    await Deno.remove(`${folder}/root-cert.pem`);
    await Deno.mkdir(`${folder}/root-cert.pem/inside`, { recursive: true });
    await assert.rejects(writeCertificateFiles(folder, other), /root-cert\.pem cannot be written/);
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
    assert.deepEqual(names, ["cert-chain.pem", "key.pem", "root-cert.pem"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("at each moment of a write the key and the certificate fit, or one is missing", async () => {
  const folder = await Deno.makeTempDir();
  const clock = createFakeClock();
  const issue = (n: number) => ({ ...issuedAt(clock, `${n}`, `roots ${n}\n`), key: `${n}\n` });
  const textOf = (name: string) => {
    try {
      return Deno.readTextFileSync(`${folder}/${name}`);
    } catch {
      return undefined;
    }
  };
  await writeCertificateFiles(folder, issue(0));
  for (const left of ["key.pem.0123abcd", ".key.pem.0123abcd.mesh-unfinished"]) {
    await Deno.writeTextFile(`${folder}/${left}`, "");
  }
  let looks = 0;
  for (let n = 1; n <= 20; n++) {
    const written = { yet: false };
    const writing = writeCertificateFiles(folder, issue(n)).finally(() => written.yet = true);
    while (!written.yet) {
      const [key, chain] = [textOf("key.pem"), textOf("cert-chain.pem")];
      if (key !== undefined && chain !== undefined) assert.equal(chain, key);
      looks++;
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    await writing;
    assert.deepEqual([textOf("key.pem"), textOf("cert-chain.pem")], [`${n}\n`, `${n}\n`]);
  }
  assert.ok(looks > 20);
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  assert.deepEqual(names, ["cert-chain.pem", "key.pem", "root-cert.pem"], "what was left of earlier writes is gone");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("written files are whole, replaced when they change, and the key is its owner's alone", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const clock = createFakeClock();
    const at = `${folder}/certs`;
    await writeCertificateFiles(at, issuedAt(clock, "leaf"));
    const look = async () => {
      const names = [...Deno.readDirSync(at)].map(({ name }) => name).sort();
      return await Promise.all(names.map(async (name) => {
        const { mode, ino } = await Deno.stat(`${at}/${name}`);
        return { name, mode: (mode! & 0o777).toString(8), ino };
      }));
    };
    const before = await look();
    assert.deepEqual(before.map(({ name, mode }) => `${name} ${mode}`), [
      "cert-chain.pem 644",
      "key.pem 600",
      "root-cert.pem 644",
    ]);
    await writeCertificateFiles(at, issuedAt(clock, "other"));
    const after = await look();
    assert.deepEqual(after.map(({ ino }, i) => ino === before[i]!.ino), [false, true, true]);
    assert.equal(await Deno.readTextFile(`${at}/cert-chain.pem`), "other\n");
    await assert.rejects(writeCertificateFiles("/proc/nowhere", issuedAt(clock, "leaf")));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
