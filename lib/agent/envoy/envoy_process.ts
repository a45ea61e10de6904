/**
 * One running Envoy: start, watch, drain, end.
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

/** How an Envoy is started. */
export interface EnvoyStart {
  readonly binary: string;
  readonly arguments: readonly string[];
  /** User and group of the process. Absent: the agent's own. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Variables in addition to the agent's own. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** The reason why a process did not start: the system's error, or a missing permission of the agent. */
function startFault(error: Error): string {
  if (!(error instanceof Deno.errors.NotCapable)) return error.message;
  return 'binaryPath: the agent may only run /usr/local/bin/envoy, or "envoy" from the PATH: put a link there';
}

/**
 * Starts a process with the agent's standard output and error.
 * @throws {Error} With the path of the binary when the process cannot be started.
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
  /** Resolves when the process has ended, in any way. */
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  readonly #admin: EnvoyAdmin;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #hurry = new AbortController();
  readonly #readiness: ProxyReadiness;
  #draining: Promise<void> | undefined;
  #ending = false;

  /** @param checks Further conditions of readiness. */
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

  get pid(): number {
    return this.#child.pid;
  }

  /** Whether Envoy serves. Not ready from the beginning of a drain. */
  get readiness(): ProxyReadiness {
    return this.#readiness;
  }

  /**
   * Envoy drains and goes on. A later {@linkcode EnvoyProcess.drain} ends Envoy at once.
   * @throws {Error} When Envoy does not accept the call.
   */
  async drainAndStay({ inboundOnly }: Pick<DrainRules, "inboundOnly">): Promise<void> {
    this.#readiness.drain();
    await this.#admin.drain(inboundOnly);
    this.#draining ??= Promise.resolve();
  }

  /** Drains Envoy and then ends the process. A second call changes nothing. Resolves when the process has ended. */
  async drain(rules: DrainRules): Promise<ProcessEnd> {
    this.#readiness.drain();
    this.#draining ??= drainEnvoy(this.#admin, rules, this.#clock, this.#log, this.#hurry.signal);
    await this.#draining;
    return await this.end();
  }

  /** Ends Envoy now. */
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

/** Exit code of an agent after the end of Envoy: Envoy's code, or 128 plus the number of the signal. */
export function exitCodeOf({ code, signal }: ProcessEnd): number {
  return signal === null ? code : code > 128 ? code : 128 + (SIGNALS[signal] ?? 0);
}

const SIGNALS: Readonly<Record<string, number>> = { SIGINT: 2, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 };
