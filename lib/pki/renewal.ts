/**
 * When to renew a certificate.
 *
 * @module
 */
import type { Cancel, Clock } from "../kernel/time/clock.ts";

/** The share of a certificate's lifetime left at the renewal. */
export interface RenewalOptions {
  /** 0 to 1: 0.5 renews at half of the lifetime. */
  readonly graceRatio: number;
  /** The share is random between `graceRatio - jitter` and `graceRatio + jitter`. Default: 0. */
  readonly jitter?: number;
  /** A number from 0 up to 1. Needed with a jitter. */
  readonly random?: () => number;
}

/** Time at which to renew a certificate, in milliseconds since 1970. Always within the certificate's lifetime. */
export function renewalTime(
  { notBefore, notAfter }: { readonly notBefore: number; readonly notAfter: number },
  { graceRatio, jitter = 0, random = () => 0.5 }: RenewalOptions,
): number {
  const ratio = Math.min(1, Math.max(0, graceRatio + (2 * random() - 1) * jitter));
  return notAfter - ratio * (notAfter - notBefore);
}

/** Milliseconds between two looks at the clock, because the clock may be set in the meantime. */
const LOOK_INTERVAL = 60_000;

/**
 * Calls back once when a certificate is due, or when the clock was set to a time outside the certificate's lifetime.
 *
 * @param times Milliseconds since 1970 of the certificate and its renewal. `least`: the shortest time to wait, ms.
 * @returns A function that cancels the wait.
 */
export function whenDue(
  times: { readonly notBefore: number; readonly notAfter: number; readonly due: number; readonly least: number },
  clock: Pick<Clock, "now" | "after">,
  renew: () => void,
): Cancel {
  const { notBefore, notAfter, due, least } = times;
  let cancel: Cancel = () => {};
  const wait = (atLeast: number) => {
    const ms = Math.max(atLeast, Math.min(LOOK_INTERVAL, due - clock.now()));
    cancel = clock.after(ms, () => {
      const now = clock.now();
      if (now >= due || now < notBefore || now > notAfter) renew();
      else wait(0);
    });
  };
  wait(least);
  return () => cancel();
}
