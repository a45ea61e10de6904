/**
 * The self-signed authority: makes its root, keeps it in a store that other instances of the server share, and replaces it
 * before it expires.
 *
 * A new root has the key and the name of the old one, so that each certificate that was signed by either leads to both: nobody is
 * without trust while the new root travels. Both are handed out until the old one has expired.
 *
 * @module
 */
import { type Certificate, isKeyOf, readCertificate, readCertificates, writeCertificates } from "../pki/certificate.ts";
import { CurrentValue } from "../pki/current.ts";
import { issueRoot } from "../pki/issue.ts";
import { joinPem } from "../pki/pem.ts";
import { PkiError } from "../pki/pki_error.ts";
import { PrivateKey } from "../pki/private_key.ts";
import { renewalTime } from "../pki/renewal.ts";
import type { Logger } from "../kernel/log/log.ts";
import type { Cancel, Clock } from "../kernel/time/clock.ts";
import { CLOCK_SKEW } from "./authority.ts";
import { distinct, materialOf, type SigningMaterial } from "./material.ts";
import type { RootStore } from "./root_store.ts";

/** How a self-signed authority is made and renewed. Durations are milliseconds. */
export interface SelfSignedOptions {
  readonly store: RootStore;
  /** Organization in the root's name: the trust domain. */
  readonly organization: string;
  /** Lifetime of a root (`CITADEL_SELF_SIGNED_CA_CERT_TTL`). */
  readonly lifetime: number;
  /** Size of its RSA key (`CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE`). */
  readonly keyBits: number;
  /** Last part of its lifetime in which it is replaced, 0 to 1 (`CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE`). */
  readonly graceRatio: number;
  /** Time between two checks; 0 or less: none (`CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL`). */
  readonly checkInterval: number;
  /** Whether the first check comes at a random moment of the first interval (`CITADEL_ENABLE_JITTER_FOR_ROOT_CERT_ROTATOR`). */
  readonly jitter: boolean;
  readonly clock: Pick<Clock, "now" | "after">;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  readonly log: Logger;
}

/** A self-signed authority that looks after itself. */
export class SelfSigned {
  readonly material: CurrentValue<SigningMaterial | undefined>;
  readonly #options: SelfSignedOptions;
  /** The store's text that is in force. */
  #text: string;
  #cancel: Cancel | undefined;
  #checking: Promise<void> = Promise.resolve();

  private constructor(options: SelfSignedOptions, { text, material }: StoredRoots) {
    this.#options = options;
    this.#text = text;
    this.material = new CurrentValue<SigningMaterial | undefined>(material);
  }

  /**
   * Takes the root in the store, or makes the first one.
   *
   * @throws {PkiError} when the store holds something else, and what the store throws
   */
  static async start(options: SelfSignedOptions): Promise<SelfSigned> {
    const started = new SelfSigned(options, await firstRoots(options));
    await started.check();
    const { checkInterval, jitter, random } = options;
    if (checkInterval > 0) started.#checkAfter(jitter ? random() * checkInterval : checkInterval);
    return started;
  }

  /** Replaces the root when it is time, and takes over what another instance has put into the store. Never throws. */
  check(): Promise<void> {
    return this.#checking = this.#checking.then(() => this.#check()).catch((error) => {
      this.#options.log.error("the root certificate could not be checked; the one in force stays", { error });
    });
  }

  /** Ends the checks. */
  async stop(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#checking;
  }

  #checkAfter(ms: number): void {
    this.#cancel = this.#options.clock.after(ms, () => {
      this.#checkAfter(this.#options.checkInterval);
      void this.check();
    });
  }

  async #check(): Promise<void> {
    const { store, log, clock, graceRatio } = this.#options;
    const text = await store.read();
    if (text === undefined) {
      // It was removed: what all proxies trust is put back.
      if (!await store.create(this.#text)) return await this.#check();
      log.warn("the root certificate was gone from its place, and was written again", { place: store.place });
    } else if (text !== this.#text) {
      this.#take({ text, material: await readRoots(text, clock.now(), store.place) });
      log.info("took the root certificate that another instance wrote", { place: store.place });
    }
    const now = clock.now();
    const material = this.material.current()!;
    if (now >= renewalTime(material.certificate, { graceRatio })) await this.#renew(material, now);
    else if (material.roots.some((root) => root.notAfter <= now)) {
      this.#take({ text: this.#text, material: fresh(material, now) });
    }
  }

  async #renew({ key, roots }: SigningMaterial, now: number): Promise<void> {
    const { store, log } = this.#options;
    const next = await makeRoots(key, roots, now, this.#options);
    if (!await store.replace(next.text, this.#text)) return await this.#check();
    this.#take(next);
    log.info("replaced the root certificate", {
      place: store.place,
      until: new Date(next.material.notAfter).toISOString(),
    });
  }

  #take({ text, material }: StoredRoots): void {
    this.#text = text;
    this.material.set(material);
  }
}

/** The content of a store: a key, then its roots, the one in force first. */
interface StoredRoots {
  readonly text: string;
  readonly material: SigningMaterial;
}

async function firstRoots(options: SelfSignedOptions): Promise<StoredRoots> {
  const { store, clock, keyBits } = options;
  for (;;) {
    const text = await store.read();
    if (text !== undefined) return { text, material: await readRoots(text, clock.now(), store.place) };
    const key = await PrivateKey.generate({ type: "RSA", bits: keyBits });
    const made = await makeRoots(key, [], clock.now(), options);
    if (await store.create(made.text)) return made;
  }
}

/** A new root for a key, before the old ones. */
async function makeRoots(
  key: PrivateKey,
  old: readonly Certificate[],
  now: number,
  { organization, lifetime }: SelfSignedOptions,
): Promise<StoredRoots> {
  const validity = { notBefore: now - CLOCK_SKEW, notAfter: now + lifetime };
  const der = await issueRoot(key, { ...validity, subject: old[0]?.subjectDer ?? { organization } });
  const material = fresh(selfSignedMaterial(key, [readCertificate(der), ...old]), now);
  return { text: joinPem([key.pem(), material.rootsPem]), material };
}

async function readRoots(text: string, now: number, place: string): Promise<StoredRoots["material"]> {
  const roots = distinct(readCertificates(text, place));
  const key = await PrivateKey.read(text, place);
  if (!roots.every((root) => root.isCa && isKeyOf(key, root))) {
    throw new PkiError(`${place}: expected a private key and root certificates of that key`);
  }
  return fresh(selfSignedMaterial(key, roots), now);
}

function selfSignedMaterial(key: PrivateKey, roots: readonly Certificate[]): SigningMaterial {
  const [current] = roots;
  if (current === undefined) throw new PkiError("expected a root certificate, got none");
  return materialOf(current, key, { path: [current], roots });
}

/** Roots that are handed out at most: each of them has the same key, so that the oldest are not needed. */
const MOST_ROOTS = 3;

/** Without the old roots that have expired. */
function fresh(material: SigningMaterial, now: number): SigningMaterial {
  const roots = material.roots.filter((root, i) => i === 0 || root.notAfter > now).slice(0, MOST_ROOTS);
  return { ...material, roots, rootsPem: writeCertificates(roots) };
}
