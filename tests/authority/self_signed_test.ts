import assert from "node:assert/strict";
import fc from "fast-check";
import { SigningAuthority } from "../../lib/authority/authority.ts";
import { IssueError } from "../../lib/authority/issuing.ts";
import { FolderRootStore } from "../../lib/authority/folder_store.ts";
import { MemoryRootStore, type RootStore } from "../../lib/authority/root_store.ts";
import { SelfSigned, type SelfSignedOptions } from "../../lib/authority/self_signed.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { createFakeClock, type FakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { type Certificate, isKeyOf, readCertificates, writeCertificates } from "../../lib/pki/certificate.ts";
import { verifyChain } from "../../lib/pki/chain.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import { DAY, HOUR, makeRoot, NOW, P256 } from "../pki/support/make.ts";
import { opensslVerifies } from "../pki/support/openssl.ts";
import { runs } from "../properties.ts";

const LIFETIME = 100 * DAY;
const log = silentLog().scope("pkica");
const leafKey = await PrivateKey.generate(P256);
/** A root of NOW in the form of a store: making an RSA root takes long. */
const stored = await (async () => {
  const { key, certificate } = await makeRoot(P256, { notAfter: NOW + LIFETIME });
  return key.pem() + writeCertificates([certificate]);
})();

function optionsFor(store: RootStore, clock: FakeClock, more: Partial<SelfSignedOptions> = {}): SelfSignedOptions {
  return {
    ...{ store, clock, organization: "cluster.local", lifetime: LIFETIME, keyBits: 2048, graceRatio: 0.2 },
    ...{ checkInterval: 0, jitter: false, random: () => 0.5, log, ...more },
  };
}

function authorityOf(selfSigned: SelfSigned, clock: FakeClock): SigningAuthority {
  return new SigningAuthority(selfSigned.material, { usual: DAY, most: 90 * DAY }, clock);
}

async function leafOf(authority: SigningAuthority, lifetime?: number): Promise<Certificate> {
  const names = { uris: ["spiffe://cluster.local/ns/shop/sa/cart"] };
  const { chain } = await authority.issue({
    spki: leafKey.spki,
    names,
    ...(lifetime === undefined ? {} : { lifetime }),
  });
  return readCertificates(chain[0]!)[0]!;
}

Deno.test("the first root is made by the settings, kept in a file that only its owner can read, and used at the next start", async () => {
  const clock = createFakeClock(NOW);
  const folder = `${await Deno.makeTempDir()}/ca`;
  const store = new FolderRootStore(folder);
  const first = await SelfSigned.start(optionsFor(store, clock));
  const { certificate, key, roots } = first.material.current()!;
  assert.deepEqual(key.spec, { type: "RSA", bits: 2048 });
  assert.equal(certificate.subject, "O=cluster.local");
  assert.equal(certificate.notAfter, NOW + LIFETIME);
  assert.equal((await Deno.stat(store.place)).mode! & 0o777, 0o600);
  const leaf = await leafOf(authorityOf(first, clock));
  const { success, text } = await opensslVerifies([leaf.der, ...roots.map(({ der }) => der)], NOW);
  assert.ok(success, text);

  const second = await SelfSigned.start(optionsFor(new FolderRootStore(folder), clock));
  assert.equal(second.material.current()!.certificate.fingerprint, certificate.fingerprint);
  assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["authority.pem"]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("what killed servers left half written is removed at the start, and files of others are not", async () => {
  const clock = createFakeClock(NOW);
  const folder = await Deno.makeTempDir();
  const left = [`.${crypto.randomUUID()}`, ".authority.pem.12345678.mesh-unfinished"];
  for (const name of [...left, "notes.txt"]) await Deno.writeTextFile(`${folder}/${name}`, "");
  const started = await SelfSigned.start(optionsFor(new FolderRootStore(folder), clock));
  assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), ["authority.pem", "notes.txt"]);
  await started.stop();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("of instances that start together one makes the root, and all use it", async () => {
  const clock = createFakeClock(NOW);
  const folder = await Deno.makeTempDir();
  const starts = [1, 2, 3].map(() => SelfSigned.start(optionsFor(new FolderRootStore(folder), clock)));
  const roots = (await Promise.all(starts)).map(({ material }) => material.current()!.certificate.fingerprint);
  assert.equal(new Set(roots).size, 1);
  assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["authority.pem"]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("in its grace period a root is replaced by one of the same key; both are handed out until the old one ends", async () => {
  const clock = createFakeClock(NOW);
  const store = new MemoryRootStore(stored);
  const selfSigned = await SelfSigned.start(optionsFor(store, clock));
  const authority = authorityOf(selfSigned, clock);
  const heard: number[] = [];
  authority.roots.onChange((pem) => heard.push(readCertificates(pem).length));
  const [old] = selfSigned.material.current()!.roots;

  await clock.advance(79 * DAY);
  await selfSigned.check();
  assert.deepEqual(heard, []);
  const before = await leafOf(authority, 30 * DAY);
  assert.equal(before.notAfter, NOW + LIFETIME, "a leaf ends with its issuer");

  await clock.advance(2 * DAY);
  await selfSigned.check();
  const { roots, certificate, key } = selfSigned.material.current()!;
  assert.deepEqual(heard, [2]);
  assert.ok(isKeyOf(key, old!) && isKeyOf(key, certificate));
  assert.deepEqual(roots.map((root) => root.notAfter), [NOW + 181 * DAY, NOW + LIFETIME]);
  const after = await leafOf(authority);
  for (const leaf of [before, after]) {
    for (const root of roots) assert.ok("chain" in verifyChain(leaf, { roots: [root], now: clock.now() }));
  }

  await clock.advance(20 * DAY);
  await selfSigned.check();
  assert.deepEqual(heard, [2, 1]);
});

Deno.test("checks are made at their interval, the first at a random moment in it; with an interval of 0 there is no check", async () => {
  const clock = createFakeClock(NOW);
  const selfSigned = await SelfSigned.start(
    optionsFor(new MemoryRootStore(stored), clock, { checkInterval: HOUR, jitter: true, random: () => 0.25 }),
  );
  let reads = 0;
  const { store } = countingStore(() => reads++);
  const counted = await SelfSigned.start(
    optionsFor(store, clock, { checkInterval: HOUR, jitter: true, random: () => 0.25 }),
  );
  reads = 0;
  await clock.advance(HOUR / 4 - 1);
  assert.equal(reads, 0);
  await clock.advance(1);
  assert.equal(reads, 1);
  await clock.advance(3 * HOUR);
  assert.equal(reads, 4);
  await counted.stop();
  await selfSigned.stop();
  assert.equal(clock.pending(), 0);
  await SelfSigned.start(optionsFor(new MemoryRootStore(stored), clock));
  assert.equal(clock.pending(), 0);
});

function countingStore(read: () => void): { store: RootStore } {
  const inner = new MemoryRootStore(stored);
  return {
    store: {
      place: "memory",
      read: () => (read(), inner.read()),
      create: (text) => inner.create(text),
      replace: (text, old) => inner.replace(text, old),
    },
  };
}

const YEAR = 365 * DAY;

/** A settable clock, whose timers run on. */
function settable() {
  const base = createFakeClock(NOW);
  const set = { ahead: 0 };
  return { set, clock: { ...base, now: () => base.now() + set.ahead } satisfies FakeClock };
}

Deno.test("a clock that was years ahead, ever so often, leaves the root of before in force when it is right again", async () => {
  const { set, clock } = settable();
  const store = new MemoryRootStore(stored);
  const options = optionsFor(store, clock);
  const selfSigned = await SelfSigned.start(options);
  const authority = authorityOf(selfSigned, clock);
  const { rootsPem } = selfSigned.material.current()!;
  const before = await leafOf(authority);
  for (let jump = 1; jump <= 12; jump++) {
    set.ahead = 2 * jump * YEAR;
    await selfSigned.check();
    const [own] = selfSigned.material.current()!.roots;
    assert.ok(own!.notBefore <= clock.now() && clock.now() < own!.notAfter, "by its clock it has a valid root");
    set.ahead = 0;
    await assert.rejects(
      leafOf(authority),
      /no certificate that is valid now, 2026-01-01T.*: the certificate in force begins at 20/,
    );
    assert.match(authority.fault() ?? "", /is valid now/);
    await selfSigned.check();
    assert.equal(authority.fault(), undefined);
    assert.equal(selfSigned.material.current()!.rootsPem, rootsPem, "roots that begin later are not handed out");
    const restarted = await SelfSigned.start(options);
    for (const one of [selfSigned, restarted]) {
      const leaf = await leafOf(authorityOf(one, clock));
      assert.ok(leaf.notBefore <= clock.now());
      agree(one.material.current()!, [before, leaf], clock.now());
    }
  }
});

Deno.test("a store with only a not yet valid root gets a valid root, which takes over", async () => {
  const { set, clock } = settable();
  set.ahead = 11 * YEAR;
  const later = new MemoryRootStore();
  const wrong = await SelfSigned.start(optionsFor(later, clock, { keyBits: 2048 }));
  const [future] = wrong.material.current()!.roots;
  set.ahead = 0;
  const right = await SelfSigned.start(optionsFor(later, clock));
  const { certificate, roots, key } = right.material.current()!;
  assert.ok(certificate.notBefore <= clock.now() && roots.length === 1);
  assert.ok(isKeyOf(key, future!), "its key is the same");
  assert.match((await later.read())!, /-----END CERTIFICATE-----\n-----BEGIN/, "the other one is kept");
});

Deno.test("what an instance whose clock is wrong leaves alone in the store takes the place of no valid root", async () => {
  const { set, clock } = settable();
  const store = new MemoryRootStore(stored);
  const selfSigned = await SelfSigned.start(optionsFor(store, clock));
  const { rootsPem, key } = selfSigned.material.current()!;
  set.ahead = 11 * YEAR;
  const wrong = await SelfSigned.start(optionsFor(new MemoryRootStore(stored), clock));
  set.ahead = 0;
  const { certificate: future } = wrong.material.current()!;
  await store.replace(key.pem() + writeCertificates([future]), stored);
  await selfSigned.check();
  assert.equal(selfSigned.material.current()!.rootsPem, rootsPem);
  assert.ok((await store.read())!.includes(rootsPem), "it is written again beside the other one");
  const stranger = await makeRoot(P256, { notBefore: NOW + YEAR, notAfter: NOW + 2 * YEAR });
  const text = stranger.key.pem() + writeCertificates([stranger.certificate]);
  await store.replace(text, (await store.read())!);
  await selfSigned.check();
  assert.equal(selfSigned.material.current()!.rootsPem, rootsPem, "nor one of another key");
});

Deno.test("the clock is looked at each minute, however far apart the checks are", async () => {
  const { set, clock } = settable();
  const store = new MemoryRootStore(stored);
  const selfSigned = await SelfSigned.start(optionsFor(store, clock, { checkInterval: HOUR }));
  const { rootsPem } = selfSigned.material.current()!;
  set.ahead = 11 * YEAR;
  await selfSigned.check();
  set.ahead = 0;
  assert.notEqual(selfSigned.material.current()!.rootsPem, rootsPem);
  const { promise, resolve } = Promise.withResolvers<void>();
  selfSigned.material.onChange(() => resolve());
  await clock.advance(60_000);
  await promise;
  assert.equal(selfSigned.material.current()!.rootsPem, rootsPem);
  await selfSigned.stop();
  assert.equal(clock.pending(), 0);
});

Deno.test("a root that was removed from its place is written again", async () => {
  const clock = createFakeClock(NOW);
  const folder = await Deno.makeTempDir();
  const store = new FolderRootStore(folder);
  await store.create(stored);
  const selfSigned = await SelfSigned.start(optionsFor(store, clock));
  await Deno.remove(store.place);
  await selfSigned.check();
  assert.equal(await store.read(), stored);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a place that holds something else is not an authority", async () => {
  const other = await PrivateKey.generate(P256);
  const clock = createFakeClock(NOW);
  for (const text of ["", "nonsense", other.pem(), other.pem() + stored.slice(stored.indexOf("-----BEGIN CERT"))]) {
    await assert.rejects(SelfSigned.start(optionsFor(new MemoryRootStore(text), clock)), /^PkiError: memory: /);
  }
});

Deno.test("an authority whose root has expired issues nothing", async () => {
  const clock = createFakeClock(NOW);
  const authority = authorityOf(await SelfSigned.start(optionsFor(new MemoryRootStore(stored), clock)), clock);
  await clock.advance(LIFETIME);
  await assert.rejects(leafOf(authority), (error) => error instanceof IssueError && error.reason === "not ready");
});

/** A store whose reads and writes fail on demand. */
class FailingStore implements RootStore {
  readonly place = "memory";
  failing = false;
  readonly #inner = new MemoryRootStore(stored);

  async read() {
    this.#fail();
    return await this.#inner.read();
  }

  async create(text: string) {
    this.#fail();
    return await this.#inner.create(text);
  }

  async replace(text: string, old: string) {
    this.#fail();
    return await this.#inner.replace(text, old);
  }

  #fail() {
    if (this.failing) throw new Error("the store does not answer");
  }
}

type Event =
  | { readonly kind: "wait"; readonly days: number }
  | { readonly kind: "check" | "restart" | "issue"; readonly of: number }
  | { readonly kind: "store"; readonly failing: boolean };

const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("wait" as const), days: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ kind: fc.constantFrom("check" as const, "restart" as const, "issue" as const), of: fc.nat(2) }),
    fc.record({ kind: fc.constant("store" as const), failing: fc.boolean() }),
  ),
  { maxLength: 30 },
);

Deno.test("whatever happens in whatever order, each leaf that is valid leads to the roots of each instance", async () => {
  await fc.assert(
    fc.asyncProperty(events, async (order) => {
      const clock = createFakeClock(NOW);
      const store = new FailingStore();
      const start = () => SelfSigned.start(optionsFor(store, clock));
      const instances = await Promise.all([start(), start(), start()]);
      const leaves: Certificate[] = [];
      for (const event of order) {
        if (event.kind === "wait") await clock.advance(event.days * DAY);
        else if (event.kind === "store") store.failing = event.failing;
        else if (event.kind === "restart" && !store.failing) instances[event.of] = await start();
        else if (event.kind === "check") await instances[event.of]!.check();
        else if (event.kind === "issue") {
          const { notAfter } = instances[event.of]!.material.current()!;
          const made = leafOf(authorityOf(instances[event.of]!, clock), 20 * DAY);
          if (notAfter <= clock.now()) await assert.rejects(made, IssueError);
          else leaves.push(await made);
          assert.ok((leaves.at(-1)?.notAfter ?? 0) <= notAfter || notAfter <= clock.now());
        }
        for (const { material } of instances) agree(material.current()!, leaves, clock.now());
      }
      store.failing = false;
      for (const instance of [...instances, ...instances]) await instance.check();
      const current = instances.map(({ material }) => material.current()!);
      assert.equal(new Set(current.map(({ rootsPem }) => rootsPem)).size, 1, "all come to the same roots");
      assert.ok(current[0]!.certificate.notAfter - clock.now() > 0.2 * LIFETIME - DAY, "the root is a fresh one");
    }),
    { numRuns: runs(40) },
  );
});

/** Each valid leaf leads to the roots, unless the instance could not read its store until its last leaf expired. */
function agree(
  { roots, notAfter }: { readonly roots: readonly Certificate[]; readonly notAfter: number },
  leaves: readonly Certificate[],
  now: number,
): void {
  if (notAfter <= now) return;
  for (const leaf of leaves.filter((one) => one.notAfter > now).slice(-3)) {
    const found = verifyChain(leaf, { roots, now });
    assert.ok("chain" in found, JSON.stringify(found));
  }
}
