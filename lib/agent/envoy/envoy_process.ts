/**
 * One running Envoy: started, watched, drained, ended.
 *
 *     running ── it ends by itself ─────────────────────────> over (its own exit code)
 *        │ drain()                                              ^
 *        v                                                      │
 *     draining ── drained ──> SIGTERM ── 5 s later ── SIGKILL ──┘
 *        │ end(): at once                    ^
 *        └───────────────────────────────────┘
 *
 * Permissions: run (Envoy).
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { ProxyReadiness, type ReadinessCheck } from "../status/readiness.ts";
import type { EnvoyAdmin } from "./admin.ts";
import { drainEnvoy, type DrainRules } from "./drain.ts";

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number;
  readonly signal: string | null;
}

/** A process of the operating system. */
export interface ChildProcess {
  readonly pid: number;
  readonly ended: Promise<ProcessEnd>;
  kill(signal: "SIGTERM" | "SIGKILL"): void;
}

/** Options with which an Envoy is started. */
export interface EnvoyStart {
  readonly binary: string;
  readonly arguments: readonly string[];
  /** User and group that it runs as; absent: those of the agent. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Variables beside those of the agent. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Why the system, or the permissions of this program, did not let it start. */
function startFault(error: Error): string {
  if (!(error instanceof Deno.errors.NotCapable)) return error.message;
  return 'binaryPath: the agent\'s permissions name /usr/local/bin/envoy, and as "envoy" that of the PATH: put a link there';
}

/**
 * Starts a process whose output goes where the agent's goes.
 *
 * @throws Error naming the binary when it cannot be started.
 */
export function startProcess({ binary, arguments: args, user, variables }: EnvoyStart): ChildProcess {
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(binary, {
      args: [...args],
      stdin: "null",
      stdout: "inherit",
      stderr: "inherit",
      ...(variables === undefined ? {} : { env: variables }),
      ...(user ?? {}),
    }).spawn();
  } catch (error) {
    throw new Error(`${binary} cannot be started: ${startFault(error as Error)}`, { cause: error });
  }
  let over = false;
  return {
    pid: child.pid,
    ended: child.status.then(({ code, signal }) => {
      over = true;
      return { code, signal };
    }),
    kill(signal) {
      if (!over) child.kill(signal);
    },
  };
}

/** Time from SIGTERM to SIGKILL, ms. */
const KILL_AFTER = 5000;

/** A running Envoy. */
export class EnvoyProcess {
  /** Resolves when it has ended, however. */
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  readonly #admin: EnvoyAdmin;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #hurry = new AbortController();
  readonly #readiness: ProxyReadiness;
  #draining: Promise<void> | undefined;
  #ending = false;

  /** @param checks further conditions of its readiness */
  constructor(
    child: ChildProcess,
    admin: EnvoyAdmin,
    clock: Clock,
    log: Logger,
    checks: readonly ReadinessCheck[] = [],
  ) {
    this.#child = child;
    this.#admin = admin;
    this.#readiness = new ProxyReadiness(admin, checks);
    this.#clock = clock;
    this.#log = log;
    this.ended = child.ended;
    child.ended.then(() => this.#hurry.abort());
  }

  /** Its process. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Whether it serves; not from when it drains. */
  get readiness(): ProxyReadiness {
    return this.#readiness;
  }

  /**
   * Has it drain and go on; {@linkcode EnvoyProcess.drain} ends it at once from then on.
   *
   * @throws Error when it does not take the call
   */
  async drainAndStay({ inboundOnly }: Pick<DrainRules, "inboundOnly">): Promise<void> {
    this.#readiness.drain();
    await this.#admin.drain(inboundOnly);
    this.#draining ??= Promise.resolve();
  }

  /** Drains and then ends it; a second call changes nothing. Resolves when it has ended. */
  async drain(rules: DrainRules): Promise<ProcessEnd> {
    this.#readiness.drain();
    this.#draining ??= drainEnvoy(this.#admin, rules, this.#clock, this.#log, this.#hurry.signal);
    await this.#draining;
    return await this.end();
  }

  /** Ends it now. */
  async end(): Promise<ProcessEnd> {
    this.#hurry.abort();
    if (!this.#ending) {
      this.#ending = true;
      this.#child.kill("SIGTERM");
      const cancel = this.#clock.after(KILL_AFTER, () => {
        this.#log.warn(`Envoy did not end within ${KILL_AFTER / 1000} s after SIGTERM`);
        this.#child.kill("SIGKILL");
      });
      await this.ended;
      cancel();
    }
    return await this.ended;
  }
}

/** Exit code by which an agent reports the end of its Envoy: that of Envoy, or 128 and the number of its signal. */
export function exitCodeOf({ code, signal }: ProcessEnd): number {
  return signal === null ? code : code > 128 ? code : 128 + (SIGNALS[signal] ?? 0);
}

const SIGNALS: Readonly<Record<string, number>> = { SIGINT: 2, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 };
