/**
 * The self-signed authority. It makes its root, keeps the root in a store that all instances of the server share, and
 * replaces the root before the root expires.
 *
 * A new root has the key and the name of the old root, so each certificate of either root leads to both roots. Nobody
 * is without trust while the new root is distributed. Both roots are handed out until the old root has expired.
 *
 * A clock may be years ahead for a while. So the store keeps roots that have expired by that clock, and the newest root
 * that is valid now signs. When the clock is right again, the earlier root signs again.
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
  /** Size of the root's RSA key (`CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE`). */
  readonly keyBits: number;
  /**
   * Last part of the root's lifetime, 0 to 1, in which the root is replaced
   * (`CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE`).
   */
  readonly graceRatio: number;
  /** Time between two checks; 0 or less: no checks (`CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL`). */
  readonly checkInterval: number;
  /** Whether the first check comes at a random moment of the first interval (`CITADEL_ENABLE_JITTER_FOR_ROOT_CERT_ROTATOR`). */
  readonly jitter: boolean;
  readonly clock: Pick<Clock, "now" | "after">;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  readonly log: Logger;
}

/** A self-signed authority with regular checks. */
export class SelfSigned {
  readonly material: CurrentValue<SigningMaterial | undefined>;
  readonly #options: SelfSignedOptions;
  /** The store's content in force. */
  #stored: StoredRoots;
  #cancel: Cancel | undefined;
  #checking: Promise<void> = Promise.resolve();

  private constructor(options: SelfSignedOptions, stored: StoredRoots) {
    this.#options = options;
    this.#stored = stored;
    this.material = new CurrentValue<SigningMaterial | undefined>(materialAt(stored, options.clock.now()));
  }

  /**
   * Takes the root in the store, or makes the first root.
   *
   * @throws {PkiError} when the store holds something else, and errors of the store
   */
  static async start(options: SelfSignedOptions): Promise<SelfSigned> {
    const started = new SelfSigned(options, await firstRoots(options));
    await started.check();
    const { checkInterval, jitter, random } = options;
    if (checkInterval > 0) started.#checkAfter(jitter ? random() * checkInterval : checkInterval);
    return started;
  }

  /** Replaces the root when its time has come, and takes roots over that another instance has stored. Never throws. */
  check(): Promise<void> {
    return this.#checking = this.#checking.then(() => this.#check()).catch((error) => {
      this.#options.log.error("the root certificate could not be checked; the root in force stays", { error });
    });
  }

  /** Ends the checks. */
  async stop(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#checking;
  }

  /** Plans the next check. Until then, a look each minute notes whether the clock makes another root valid. */
  #checkAfter(ms: number): void {
    const { clock, checkInterval } = this.#options;
    this.#cancel = clock.after(Math.min(ms, LOOK_INTERVAL), () => {
      const left = ms - LOOK_INTERVAL;
      this.#checkAfter(left > 0 ? left : checkInterval);
      if (left > 0 && isValid(this.material.current()!.certificate, clock.now())) this.#look();
      else void this.check();
    });
  }

  async #check(): Promise<void> {
    const { store, log, clock, graceRatio } = this.#options;
    const text = await store.read();
    if (text === undefined) {
      // The text was removed. Proxies trust the root, so the root is written back.
      if (!await store.create(this.#stored.text)) return await this.#check();
      log.warn("the root certificate was gone from its place, and was written again", { place: store.place });
    } else if (text !== this.#stored.text) {
      await this.#takeOver(await readRoots(text, store.place));
    }
    const { certificate } = this.#look();
    const now = clock.now();
    if (now >= renewalTime(certificate, { graceRatio }) || !isValid(certificate, now)) await this.#renew(now);
  }

  /**
   * Takes roots over that another instance wrote. If none of the roots is valid now, the other instance's clock was
   * wrong: this instance's root stays in force, and is written beside the other roots.
   *
   * @throws {PkiError} when the other roots have another key and are not valid now
   */
  async #takeOver(theirs: StoredRoots): Promise<void> {
    const { store, log, clock } = this.#options;
    const now = clock.now();
    const isOurs = isValid(this.material.current()!.certificate, now);
    if (!isOurs || theirs.roots.some((root) => isValid(root, now))) {
      this.#stored = theirs;
      log.info("took the root certificate that another instance wrote", { place: store.place });
      return;
    }
    if (!theirs.roots.every((root) => isKeyOf(this.#stored.key, root))) {
      throw new PkiError(
        `${store.place}: expected a root certificate that is valid now, got root certificates of another key`,
      );
    }
    const both = storedRoots(theirs.key, [...theirs.roots, ...this.#stored.roots]);
    if (!await store.replace(both.text, theirs.text)) return await this.#check();
    this.#stored = both;
    log.warn("another instance wrote a root certificate that is not valid now: check the clock of that instance", {
      place: store.place,
    });
  }

  async #renew(now: number): Promise<void> {
    const { store, log } = this.#options;
    const next = await makeRoots(this.#stored.key, this.#stored.roots, now, this.#options);
    if (!await store.replace(next.text, this.#stored.text)) return await this.#check();
    this.#stored = next;
    log.info("replaced the root certificate", {
      place: store.place,
      until: new Date(this.#look().notAfter).toISOString(),
    });
  }

  /** Updates the signing root and the roots to hand out, by the present time. */
  #look(): SigningMaterial {
    const next = materialAt(this.#stored, this.#options.clock.now());
    const before = this.material.current()!;
    const isSame = before.rootsPem === next.rootsPem && before.key === next.key &&
      before.certificate.fingerprint === next.certificate.fingerprint;
    if (isSame) return before;
    this.material.set(next);
    return next;
  }
}

/** Milliseconds between two looks at the clock. */
const LOOK_INTERVAL = 60_000;

/** The content of a store: a key, then its roots, newest first. */
interface StoredRoots {
  readonly text: string;
  readonly key: PrivateKey;
  readonly roots: readonly Certificate[];
}

async function firstRoots(options: SelfSignedOptions): Promise<StoredRoots> {
  const { store, clock, keyBits } = options;
  for (;;) {
    const text = await store.read();
    if (text !== undefined) return await readRoots(text, store.place);
    const key = await PrivateKey.generate({ type: "RSA", bits: keyBits });
    const made = await makeRoots(key, [], clock.now(), options);
    if (await store.create(made.text)) return made;
  }
}

/** Makes a new root for a key, in front of the old roots. */
async function makeRoots(
  key: PrivateKey,
  old: readonly Certificate[],
  now: number,
  { organization, lifetime }: SelfSignedOptions,
): Promise<StoredRoots> {
  const validity = { notBefore: now - CLOCK_SKEW, notAfter: now + lifetime };
  const der = await issueRoot(key, { ...validity, subject: old[0]?.subjectDer ?? { organization } });
  return storedRoots(key, [readCertificate(der), ...old]);
}

function storedRoots(key: PrivateKey, all: readonly Certificate[]): StoredRoots {
  const roots = kept(distinct(all));
  return { key, roots, text: joinPem([key.pem(), writeCertificates(roots)]) };
}

/**
 * Most roots in a store. When there are more roots, the first root and the oldest roots stay: a clock that is ahead
 * adds a root with each look, in front of the right root.
 */
const MOST_KEPT = 8;

function kept(roots: readonly Certificate[]): readonly Certificate[] {
  return roots.length <= MOST_KEPT ? roots : [roots[0]!, ...roots.slice(1 - MOST_KEPT)];
}

async function readRoots(text: string, place: string): Promise<StoredRoots> {
  const roots = distinct(readCertificates(text, place));
  const key = await PrivateKey.read(text, place);
  if (!roots.every((root) => root.isCa && isKeyOf(key, root))) {
    throw new PkiError(`${place}: expected a private key and root certificates of that key`);
  }
  return { text, key, roots };
}

/** Most roots to hand out. All roots have the same key, so the oldest roots are not needed. */
const MOST_ROOTS = 3;

/**
 * The signing root at a time, and the valid roots. If no root is valid, the first root stands in, and does not sign.
 */
function materialAt({ key, roots }: StoredRoots, now: number): SigningMaterial {
  const valid = roots.filter((root) => isValid(root, now)).slice(0, MOST_ROOTS);
  const [current] = [...valid, ...roots];
  if (current === undefined) throw new PkiError("expected a root certificate, got none");
  return materialOf(current, key, { path: [current], roots: valid.length === 0 ? [current] : valid });
}

function isValid({ notBefore, notAfter }: Certificate, now: number): boolean {
  return notBefore <= now && now < notAfter;
}
