import assert from "node:assert/strict";
import { hasPluggedIn, PluggedIn } from "../../lib/authority/plugged_in.ts";
import { SigningAuthority } from "../../lib/authority/authority.ts";
import type { SigningMaterial } from "../../lib/authority/material.ts";
import type { Logger } from "../../lib/kernel/log/log.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { watchFiles } from "../../lib/kernel/files/watch_files.ts";
import { systemClock } from "../../lib/kernel/time/clock.ts";
import { readCertificates, writeCertificates } from "../../lib/pki/certificate.ts";
import { PrivateKey } from "../../lib/pki/private_key.ts";
import type { KeySpec } from "../../lib/pki/public_key.ts";
import { DAY, HOUR, type MadeAuthority, makeIntermediate, makeRoot, NOW, P256 } from "../pki/support/make.ts";
import { openssl } from "../certificates.ts";
import { ChainMaker } from "../pki/support/chain_maker.ts";
import { opensslVerifies } from "../pki/support/openssl.ts";
import { PATIENCE } from "../patience.ts";

const clock = { ...systemClock, now: () => NOW };
const RSA: KeySpec = { type: "RSA", bits: 2048 };

/** The files of an authority below a root. */
function filesOf(authority: MadeAuthority, roots: readonly MadeAuthority[], between: readonly MadeAuthority[] = []) {
  const pem = (...made: readonly MadeAuthority[]) => writeCertificates(made.map(({ certificate }) => certificate));
  return {
    "ca-cert.pem": pem(authority),
    "ca-key.pem": authority.key.pem(),
    "root-cert.pem": pem(...roots),
    "cert-chain.pem": pem(authority, ...between, ...roots.slice(0, 1)),
  };
}

/**
 * A folder like the orchestrator's mounted secrets: files are links into a folder, and a swap replaces the whole
 * folder.
 */
class Mounted {
  readonly folder: string;
  #version = 0;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(files: Readonly<Record<string, string>>): Promise<Mounted> {
    const mounted = new Mounted(await Deno.makeTempDir());
    await mounted.swap(files);
    for (const name of Object.keys(files)) await Deno.symlink(`..data/${name}`, `${mounted.folder}/${name}`);
    return mounted;
  }

  async swap(files: Readonly<Record<string, string>>): Promise<void> {
    const version = `..v${this.#version++}`;
    await Deno.mkdir(`${this.folder}/${version}`);
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${this.folder}/${version}/${name}`, text);
    }
    await Deno.symlink(version, `${this.folder}/..data_tmp`);
    await Deno.rename(`${this.folder}/..data_tmp`, `${this.folder}/..data`);
    if (this.#version > 1) await Deno.remove(`${this.folder}/..v${this.#version - 2}`, { recursive: true });
  }

  async remove(): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** A log for awaiting lines. */
function listening() {
  const lines: string[] = [];
  let wake = () => {};
  const take = (level: string) => (message: string, fields?: object) => {
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
    wake();
  };
  const log = {
    info: take("info"),
    warn: take("warn"),
    error: take("error"),
    debug: take("debug"),
  } as unknown as Logger;
  const until = async (pattern: RegExp) => {
    const deadline = performance.now() + PATIENCE;
    while (!lines.some((line) => pattern.test(line))) {
      const left = deadline - performance.now();
      assert.ok(left > 0, `no line ${pattern} among ${lines.join("\n")}`);
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
        timer = setTimeout(resolve, left);
      });
      clearTimeout(timer);
    }
    return lines.splice(0).find((line) => pattern.test(line))!;
  };
  return { log, lines, until };
}

function changed(plugged: PluggedIn): Promise<SigningMaterial | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<SigningMaterial | undefined>();
  const timer = setTimeout(() => reject(new Error("no change came")), PATIENCE);
  const stop = plugged.material.onChange((next) => {
    clearTimeout(timer);
    stop();
    resolve(next);
  });
  return promise;
}

async function issue(plugged: PluggedIn) {
  const authority = new SigningAuthority(plugged.material, { usual: DAY, most: 90 * DAY }, clock);
  const key = await PrivateKey.generate(P256);
  const { chain, rootsPem } = await authority.issue({ spki: key.spki, names: { uris: ["spiffe://td/ns/n/sa/s"] } });
  return [...chain, rootsPem].flatMap((text) => readCertificates(text)).map(({ der }) => der);
}

for (const [name, spec] of [["RSA", RSA], ["ECDSA", P256]] as const) {
  Deno.test(`${name}: leaves below two intermediate authorities lead to the root, for openssl too`, async () => {
    const root = await makeRoot(spec);
    const upper = await makeIntermediate(root, spec, { name: "upper" });
    const lower = await makeIntermediate(upper, spec, { name: "lower" });
    const mounted = await Mounted.make(filesOf(lower, [root], [upper]));
    const plugged = await PluggedIn.start({ folder: mounted.folder, multiRoot: false, clock, log: listening().log });
    const chain = await issue(plugged);
    assert.equal(chain.length, 4);
    const { success, text } = await opensslVerifies(chain, NOW);
    assert.ok(success, text);
    await plugged.stop();
    await mounted.remove();
  });
}

Deno.test("intermediates are replaced any number of times by swapped links; the last intermediate signs", async () => {
  const root = await makeRoot();
  const first = await makeIntermediate(root, P256, { name: "v0" });
  const mounted = await Mounted.make(filesOf(first, [root]));
  const plugged = await PluggedIn.start({ folder: mounted.folder, multiRoot: false, clock, log: listening().log });
  for (let i = 1; i <= 4; i++) {
    const next = await makeIntermediate(root, i % 2 === 0 ? P256 : { type: "EC", curve: "P-384" }, { name: `v${i}` });
    const taken = changed(plugged);
    await mounted.swap(filesOf(next, [root]));
    assert.equal((await taken)?.certificate.subject, `CN=v${i}`);
    const chain = await issue(plugged);
    assert.ok((await opensslVerifies(chain, NOW)).success);
  }
  await plugged.stop();
  await mounted.remove();
});

Deno.test("other roots are refused with the reason; with several roots allowed they are taken", async () => {
  const [root, other] = [await makeRoot(P256, { name: "old" }), await makeRoot(P256, { name: "new" })];
  const mounted = await Mounted.make(filesOf(await makeIntermediate(root), [root]));
  const { folder } = mounted;
  const { log, until } = listening();
  const strict = await PluggedIn.start({ folder, multiRoot: false, clock, log });
  const several = await PluggedIn.start({ folder, multiRoot: true, clock, log: listening().log });
  const taken = changed(several);
  await mounted.swap(filesOf(await makeIntermediate(other, P256, { name: "next" }), [other, root]));
  const line = await until(/refused/);
  assert.match(
    line,
    /^error .*root-cert.pem: expected the roots in force \(O=cluster.local, CN=old\), got others .*MESH_MULTIROOT_MESH/,
  );
  assert.equal(strict.material.current()?.certificate.subject, "CN=intermediate");
  const next = await taken;
  assert.equal(next?.certificate.subject, "CN=next");
  assert.deepEqual(next?.roots.map(({ commonName }) => commonName), ["new", "old"]);
  await strict.stop();
  await several.stop();
  await mounted.remove();
});

Deno.test("files that do not fit together are refused, and the last files stay in force until they do", async () => {
  const root = await makeRoot();
  const mounted = await Mounted.make(filesOf(await makeIntermediate(root), [root]));
  const { log, until } = listening();
  const plugged = await PluggedIn.start({ folder: mounted.folder, multiRoot: false, clock, log });
  const next = await makeIntermediate(root, P256, { name: "next" });
  const stranger = await PrivateKey.generate(P256);
  await mounted.swap({ ...filesOf(next, [root]), "ca-key.pem": stranger.pem() });
  assert.match(await until(/refused/), /ca-key.pem: expected the key of ca-cert.pem/);
  // Files of a third authority: the certificate before the swap and the key after the swap may be read together.
  const third = await makeIntermediate(root, P256, { name: "third" });
  await mounted.swap({ ...filesOf(third, [root]), "ca-cert.pem": "half a fi" });
  assert.match(await until(/refused/), /ca-cert.pem: expected certificates in PEM, got none/);
  assert.equal(plugged.material.current()?.certificate.subject, "CN=intermediate");
  const taken = changed(plugged);
  await mounted.swap(filesOf(next, [root]));
  assert.equal((await taken)?.certificate.subject, "CN=next");
  await plugged.stop();
  await mounted.remove();
});

Deno.test("an authority that cannot be used at the start is an error that names the file", async () => {
  const root = await makeRoot();
  const between = await makeIntermediate(root);
  const expired = await makeIntermediate(root, P256, { notAfter: NOW - HOUR });
  const unrelated = await makeRoot(P256, { name: "other" });
  const whole = filesOf(between, [root]);
  const { "root-cert.pem": _root, ...withoutRoot } = whole;
  const cases: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
    [
      withoutRoot,
      /^PkiError: root-cert.pem: expected a file in .* beside the others of an authority: it is not there$/,
    ],
    [{ ...whole, "ca-key.pem": root.key.pem() }, /^PkiError: ca-key.pem: expected the key of ca-cert.pem$/],
    [filesOf(expired, [root]), /^PkiError: ca-cert.pem: expected a chain .* expired at /],
    [
      { ...whole, "root-cert.pem": writeCertificates([unrelated.certificate]) },
      /expected a chain to a root of root-cert.pem/,
    ],
    [{ ...whole, "ca-crl.pem": "none" }, /^PkiError: ca-crl.pem: expected only X509 CRL blocks in PEM$/],
    [{ "tls.crt": whole["ca-cert.pem"], "tls.key": whole["ca-key.pem"] }, /^PkiError: ca.crt: expected a file/],
  ];
  for (const [files, message] of cases) {
    const mounted = await Mounted.make(files);
    assert.ok(await hasPluggedIn(mounted.folder));
    const { log } = listening();
    await assert.rejects(PluggedIn.start({ folder: mounted.folder, multiRoot: false, clock, log }), message);
    await mounted.remove();
  }
});

Deno.test("a certificate that is not valid yet is not used until its time, and then is used without a change of files", async () => {
  const time = createFakeClock(NOW);
  const root = await makeRoot();
  const first = await makeIntermediate(root);
  const mounted = await Mounted.make(filesOf(first, [root]));
  const { log, until } = listening();
  const plugged = await PluggedIn.start({
    folder: mounted.folder,
    multiRoot: false,
    clock: time,
    // Changes of files are waited for in the system's time.
    watch: (options) => watchFiles({ ...options, clock: systemClock }),
    log,
  });
  const next = await makeIntermediate(root, P256, { notBefore: NOW + 90_000 });
  await mounted.swap(filesOf(next, [root]));
  await until(/refused; the authority in force stays .*is not valid before/);
  assert.equal(plugged.material.current()!.certificate.fingerprint, first.certificate.fingerprint);
  const taken = Promise.withResolvers<void>();
  plugged.material.onChange(() => taken.resolve());
  await time.advance(120_000);
  await taken.promise;
  assert.equal(plugged.material.current()!.certificate.fingerprint, next.certificate.fingerprint);
  await plugged.stop();
  assert.equal(time.pending(), 0);
  await mounted.remove();
});

Deno.test("the key names of a TLS secret are accepted, and a root may sign by itself", async () => {
  const root = await makeRoot();
  const pem = writeCertificates([root.certificate]);
  const mounted = await Mounted.make({ "tls.crt": pem, "tls.key": root.key.pem(), "ca.crt": pem });
  const plugged = await PluggedIn.start({ folder: mounted.folder, multiRoot: false, clock, log: listening().log });
  assert.equal((await issue(plugged)).length, 2);
  await plugged.stop();
  await mounted.remove();
});

Deno.test("a root may sign by itself beside a chain and lists without a content, as secrets have them", async () => {
  const root = await makeRoot();
  const files = { ...filesOf(root, [root]), "cert-chain.pem": "", "ca-crl.pem": "\n" };
  const mounted = await Mounted.make(files);
  const plugged = await PluggedIn.start({ folder: mounted.folder, multiRoot: false, clock, log: listening().log });
  assert.equal((await issue(plugged)).length, 2);
  await plugged.stop();
  await mounted.remove();
});

const SIGNS = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n";

Deno.test({
  name: "an authority with critical name constraints signs the names that they permit, and no other",
  ignore: !openssl,
  async fn() {
    await using maker = await ChainMaker.open();
    const constraints = "nameConstraints=critical,permitted;URI:cluster.local,permitted;DNS:.example.com\n";
    const { root, between } = await maker.make({ root: SIGNS, between: SIGNS + constraints, leaf: "" });
    const files = { "ca-cert.pem": between, "ca-key.pem": await maker.key("between"), "root-cert.pem": root };
    const mounted = await Mounted.make({ ...files, "cert-chain.pem": "" });
    const plugged = await PluggedIn.start({
      ...{ folder: mounted.folder, multiRoot: false, clock: systemClock, log: listening().log },
    });
    const authority = new SigningAuthority(plugged.material, { usual: HOUR, most: DAY }, systemClock);
    const key = await PrivateKey.generate(P256);
    const order = (names: { uris?: string[]; dns?: string[] }) => authority.issue({ spki: key.spki, names });
    const { chain } = await order({ uris: ["spiffe://cluster.local/ns/a/sa/b"], dns: ["a.example.com"] });
    const verified = await opensslVerifies([...chain, root].map((pem) => readCertificates(pem)[0]!.der));
    assert.ok(verified.success, verified.text);
    await assert.rejects(
      order({ uris: ["spiffe://other.local/ns/a/sa/b"] }),
      /"CN=between" has name constraints: they permit "cluster\.local", and not URI "spiffe:\/\/other\.local\/ns/,
    );
    await assert.rejects(order({ dns: ["meshd.mesh-system.svc"] }), /and not DNS name "meshd\.mesh-system\.svc"/);
    await plugged.stop();
    await mounted.remove();
  },
});

Deno.test({
  name: "an encrypted key of an authority is refused as one, however it is encrypted",
  ignore: !openssl,
  async fn() {
    await using maker = await ChainMaker.open();
    const { root } = await maker.make({ root: SIGNS, between: SIGNS, leaf: "" });
    for (const how of ["older", "newer"] as const) {
      const key = await maker.key("root", how);
      const mounted = await Mounted.make({ "ca-cert.pem": root, "ca-key.pem": key, "root-cert.pem": root });
      await assert.rejects(
        PluggedIn.start({ folder: mounted.folder, multiRoot: false, clock: systemClock, log: listening().log }),
        /^PkiError: ca-key\.pem: .*expected (?:one|a private key) that is not encrypted$/,
      );
      await mounted.remove();
    }
  },
});

Deno.test("a folder without such files brings no authority along", async () => {
  const folder = await Deno.makeTempDir();
  assert.equal(await hasPluggedIn(folder), false);
  assert.equal(await hasPluggedIn(`${folder}/none`), false);
  await Deno.remove(folder);
});
