/**
 * Notices that a name server refuses questions over UDP: nothing listens on its port, or a firewall rejects the
 * questions.
 *
 * The kernel reports a refused datagram to connected sockets only, and Deno 2.8.3 has no connected datagram sockets
 * (decision 8). Over TCP the kernel reports a refusal to everybody, and name servers have to listen there too (RFC
 * 7766). So when a server has been silent for a moment, a TCP connection is tried: a refused connection means that no
 * answer will come.
 *
 * A firewall may let DNS pass only over UDP. A server that answers over UDP although TCP is refused is remembered.
 * Refused connections no longer count for such a server until a connection succeeds.
 *
 * Permissions: net (the name servers).
 *
 * @module
 */
import net from "node:net";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import type { NameServer } from "./transport.ts";

/** Silence after which the server is tried over TCP, ms. Cached answers take less, even from far away. */
export const SILENCE_MS = 150;
/** Time for which a refusal answers further questions, ms. Then the next question tries the server again. */
export const REFUSAL_MS = 100;
/** Pause between tries of a silent server that does not refuse, ms. */
const PAUSE_MS = 1000;
/** Time after which a connection that is neither accepted nor refused proves nothing, ms. */
const CONNECT_MS = 1000;
/** Interval of tries over TCP while a server without TCP answers over UDP, ms. */
const RECHECK_MS = 60_000;

/** Errors of a connection that also mean that questions do not reach the server. */
const REFUSALS: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EACCES", "EPERM"]);

/** The state of a name server over UDP. */
export class Contact {
  /** Questions to the server that wait for an answer. */
  #waiting = 0;
  /** Whether the server has answered since the timer was set, and since the connection was begun. */
  #heard = false;
  #heardWhileTrying = false;
  #timer: Cancel | undefined;
  /** Ends the attempted connection. */
  #trying: Cancel | undefined;
  #refusal: { readonly reason: string; readonly until: number } | undefined;
  /** The time of the next try over TCP, for a server that answers over UDP but refuses TCP. Undefined: TCP counts. */
  #withoutTcp: number | undefined;

  readonly #clock: Clock;
  readonly #refused: (contact: Contact, reason: string) => void;

  /** @param refused Called when the server refuses: no waiting question to the server will be answered. */
  constructor(readonly server: NameServer, clock: Clock, refused: (contact: Contact, reason: string) => void) {
    this.#clock = clock;
    this.#refused = refused;
  }

  /** Whether the server has an IPv6 address. */
  get v6(): boolean {
    return this.server.hostname.includes(":");
  }

  /** Whether no question waits and nothing is being tried. */
  get idle(): boolean {
    return this.#waiting === 0 && this.#trying === undefined;
  }

  /** Whether the last connection was refused, and no answer has come since. */
  get refuses(): boolean {
    return this.#refusal !== undefined;
  }

  /** Why a question need not be sent now. Undefined: send the question. */
  refusal(): string | undefined {
    const refusal = this.#refusal;
    if (refusal === undefined || this.#clock.monotonic() >= refusal.until) return undefined;
    return refusal.reason;
  }

  /** A question was sent, and waits for an answer until {@link Contact.ended}. */
  asked(): void {
    this.#waiting++;
    if (this.#refusal !== undefined) this.#tryTcp();
    else if (this.#timer === undefined) this.#watch(SILENCE_MS);
  }

  /** A question no longer waits, whether answered or not. */
  ended(): void {
    this.#waiting--;
  }

  /** The server answered over UDP. */
  answered(): void {
    this.#heard = this.#heardWhileTrying = true;
    if (this.#refusal !== undefined) {
      // The server may have come back, so TCP is tried again soon.
      this.#refusal = undefined;
      this.#withoutTcp = this.#clock.monotonic() + PAUSE_MS;
    } else if (this.#withoutTcp !== undefined && this.#clock.monotonic() >= this.#withoutTcp) this.#tryTcp();
  }

  /** Forgets timers and connections. */
  close(): void {
    this.#timer?.();
    this.#trying?.();
    this.#timer = this.#trying = undefined;
  }

  #watch(ms: number): void {
    this.#heard = false;
    this.#timer = this.#clock.after(ms, () => {
      this.#timer = undefined;
      if (this.#waiting === 0) return;
      if (this.#heard) this.#watch(SILENCE_MS);
      else this.#tryTcp();
    });
  }

  #tryTcp(): void {
    if (this.#trying !== undefined) return;
    this.#heardWhileTrying = false;
    this.#trying = connect(this.server, this.#clock, (result, reason) => {
      this.#trying = undefined;
      if (result === "refused") this.#wasRefused(reason);
      else {
        this.#refusal = undefined;
        if (result === "open") this.#withoutTcp = undefined;
      }
      if (this.#waiting > 0 && this.#refusal === undefined && this.#timer === undefined) this.#watch(PAUSE_MS);
    });
  }

  #wasRefused(reason: string): void {
    const now = this.#clock.monotonic();
    if (this.#heardWhileTrying || this.#withoutTcp !== undefined) {
      this.#withoutTcp = now + RECHECK_MS;
      return;
    }
    this.#refusal = { reason, until: now + REFUSAL_MS };
    this.#refused(this, reason);
  }
}

/** Tries a connection, and calls `done` once unless the returned function ends the try before. */
function connect(
  server: NameServer,
  clock: Clock,
  done: (result: "open" | "refused" | "unknown", reason: string) => void,
): Cancel {
  const socket = net.connect({ host: server.hostname, port: server.port });
  const end = () => {
    stopTimer();
    socket.removeAllListeners("connect");
    socket.removeAllListeners("error");
    // Destroying a connecting socket may report one more error.
    socket.on("error", () => {});
    socket.destroy();
  };
  const finish = (result: "open" | "refused" | "unknown", reason = "") => {
    end();
    done(result, reason);
  };
  const stopTimer = clock.after(CONNECT_MS, () => finish("unknown"));
  socket.on("connect", () => finish("open"));
  socket.on("error", (error: Error & { code?: string }) => {
    finish(REFUSALS.has(error.code) ? "refused" : "unknown", error.message);
  });
  return end;
}
