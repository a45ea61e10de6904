/**
 * Draining: ends an Envoy without breaking connections.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { EnvoyAdmin } from "./admin.ts";

/** The duration of draining. Times in ms. */
export interface DrainRules {
  /** Sidecars drain only inbound listeners: the application may need outbound listeners until the end. */
  readonly inboundOnly: boolean;
  /** Time from the start of draining to the end of Envoy. */
  readonly terminationDrainDuration: number;
  /** Drains until no client is connected, instead of for `terminationDrainDuration`. */
  readonly untilIdle: boolean;
  /** With `untilIdle`: time before connections are counted. */
  readonly minimumDrainDuration: number;
}

/** Time between counts of connections, ms. */
const COUNT_EVERY = 1000;
/** Failed counts in a row after which draining is over: Envoy is gone or hangs. */
const PATIENCE = 5;
/** Attempts to start draining. */
const ATTEMPTS = 3;

/**
 * Drains, and resolves when Envoy may end. Never rejects: failures are logged, and time goes on.
 *
 * @param signal Aborts when Envoy is to end at once.
 */
export async function drainEnvoy(
  admin: EnvoyAdmin,
  rules: DrainRules,
  clock: Clock,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  await startDraining(admin, rules.inboundOnly, log, signal);
  try {
    if (!rules.untilIdle) {
      log.info(`draining for ${rules.terminationDrainDuration / 1000} s`);
      return await clock.sleep(rules.terminationDrainDuration, signal);
    }
    log.info(`draining for at least ${rules.minimumDrainDuration / 1000} s, until no client is connected`);
    await clock.sleep(rules.minimumDrainDuration, signal);
    await untilIdle(admin, clock, log, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function startDraining(admin: EnvoyAdmin, inboundOnly: boolean, log: Logger, signal: AbortSignal) {
  for (let attempt = 1; attempt <= ATTEMPTS && !signal.aborted; attempt++) {
    try {
      return await admin.drain(inboundOnly);
    } catch (error) {
      log.warn(`draining could not be started (attempt ${attempt} of ${ATTEMPTS}): ${(error as Error).message}`);
    }
  }
}

async function untilIdle(admin: EnvoyAdmin, clock: Clock, log: Logger, signal: AbortSignal): Promise<void> {
  for (let failures = 0; failures < PATIENCE;) {
    try {
      const active = await admin.activeConnections();
      if (active === undefined || active === 0) return log.info("no client is connected any more");
      log.info(`${active} connections of clients are open`);
      failures = 0;
    } catch (error) {
      failures++;
      log.warn(`connections could not be counted (${failures} of ${PATIENCE}): ${(error as Error).message}`);
    }
    await clock.sleep(COUNT_EVERY, signal);
  }
}
