/**
 * The input of one connection: bytes are cut into frames, and frames are worked off in turns with other connections.
 *
 * @module
 */
import type { InputQueue, Turns } from "../budget/turns.ts";
import type { RemoteTime } from "../../sockets/patience.ts";
import type { Transport } from "../../sockets/transport/transport.ts";
import { ConnectionError, FrameReader } from "./frames.ts";

/** Works off frames. */
export interface FrameHandler {
  /** Takes the frame found by the reader. */
  frame(frame: FrameReader): void;
  /** Whether a part of the frame before is left. */
  unread(): boolean;
  /** Continues the frame before. Called before the next frame. */
  resume(): void;
  /** A frame, or its content, violates the protocol. The input must be closed. */
  violation(error: ConnectionError): void;
}

/** The input of a connection, until closed. */
export class FrameInput implements InputQueue {
  readonly #reader = new FrameReader();
  readonly #transport: Transport;
  readonly #turns: Turns;
  readonly #time: RemoteTime;
  readonly #handler: FrameHandler;
  #since: number | undefined;
  #paused = false;
  #closed = false;

  constructor(transport: Transport, turns: Turns, time: RemoteTime, handler: FrameHandler) {
    this.#transport = transport;
    this.#turns = turns;
    this.#time = time;
    this.#handler = handler;
  }

  /** The preface has come. */
  get started(): boolean {
    return this.#reader.started;
  }

  /** Received bytes wait to be worked off. */
  get waits(): boolean {
    return this.#handler.unread() || this.#reader.unread;
  }

  /** When the unfinished frame began; undefined: between frames. */
  get insideSince(): number | undefined {
    return this.#since;
  }

  /** Takes the next bytes. */
  receive(chunk: Uint8Array): void {
    if (this.#closed) return;
    this.#reader.push(chunk);
    this.#turns.add(this);
  }

  /** Nothing is worked off any more. */
  close(): void {
    this.#closed = true;
    this.#turns.remove(this);
  }

  /** Works off received frames; called in turns with the other connections of the server. */
  work(enough: () => boolean): boolean {
    let frames = 0;
    try {
      while (!this.#closed) {
        if (this.#handler.unread()) this.#handler.resume();
        else if (this.#reader.next()) {
          this.#handler.frame(this.#reader);
          frames++;
        } else break;
        if (this.waits && enough()) {
          this.#pause(true);
          return true;
        }
      }
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      this.#handler.violation(error);
    }
    if (!this.#reader.insideFrame) this.#since = undefined;
    else if (frames > 0 || this.#since === undefined) this.#since = this.#time.now;
    this.#pause(false);
    return false;
  }

  /** Reads no more from the transport while there is enough to work off. */
  #pause(paused: boolean): void {
    if (paused === this.#paused || this.#closed) return;
    this.#paused = paused;
    if (paused) this.#transport.pause();
    else this.#transport.resume();
  }
}
