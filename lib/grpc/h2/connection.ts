/**
 * One HTTP/2 connection on the server side (RFC 9113), with the part of the protocol that gRPC needs. Everything that a
 * client can cause has a limit. Priorities are read and ignored, as the RFC recommends.
 *
 * Here are the beginning and the end of a connection, and the way of each frame to its part. Why not `node:http2`:
 * docs/decisions/0020-the-wire.md.
 *
 * @module
 */
import { HeldBytes } from "../budget/held.ts";
import { RemoteTime } from "../../sockets/patience.ts";
import type { Transport } from "../../sockets/transport/transport.ts";
import { Turns } from "../budget/turns.ts";
import { ErrorCode, Flag, FrameType, Setting } from "./constants.ts";
import { ConnectionError, frame, type FrameReader, numberFrame, settingsFrame, violation } from "./frames.ts";
import { type HeaderBlock, HeaderBlocks, MAX_HEADERS } from "./header_blocks.ts";
import { FrameInput } from "./input.ts";
import { Nuisances } from "./nuisances.ts";
import { Outbound, type SendBudget } from "./outbound.ts";
import { Requests } from "./requests.ts";
import { readSettings } from "./settings.ts";
import type { H2Stream } from "./stream.ts";
import { Streams } from "./streams.ts";
import { ReceiveWindows, SendWindows } from "./windows.ts";

/** Limits of a connection, and the budgets shared with the server's other connections. */
export interface H2Limits {
  /** Streams that a client may have open at once. */
  readonly maxConcurrentStreams: number;
  /**
   * Bytes of a stream that a client may send before the server takes them. The server takes bytes at once. Default 256
   * KiB.
   */
  readonly streamWindow?: number;
  /**
   * The held bytes of incomplete messages. The connection's window is never larger than the room left below their
   * limit.
   */
  readonly held?: HeldBytes;
  /** The turns in which received input is worked off. Default: new turns. */
  readonly turns?: Turns;
  /** The clock for the client's time limits. Default: a new clock. */
  readonly time?: RemoteTime;
}

/** The events of a connection. */
export interface H2Events {
  /** A client has opened a stream; the listener must be set before the call returns. */
  stream(stream: H2Stream): void;
  /** The connection is over. Called exactly once, after the end of all streams. */
  close(): void;
}

const STREAM_WINDOW = 256 * 1024;
/** Milliseconds for a client to close its half after GOAWAY. */
const LINGER = 1000;

/** A connection of which no byte has been read yet. */
export class H2Connection {
  readonly outbound: Outbound;
  readonly #input: FrameInput;
  readonly #nuisances = new Nuisances();
  readonly #blocks: HeaderBlocks;
  readonly #streams: Streams;
  readonly #sendWindows: SendWindows;
  readonly #requests: Requests;
  readonly #events: H2Events;
  #closed = false;
  #gotSettings = false;
  #batchesAtPing = 0;
  #linger: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly transport: Transport, budget: SendBudget, limits: H2Limits, events: H2Events) {
    const { maxConcurrentStreams, streamWindow = STREAM_WINDOW } = limits;
    const { held = new HeldBytes(), turns = new Turns(), time = new RemoteTime() } = limits;
    this.#events = events;
    const nuisances = this.#nuisances;
    const localEnd: Streams["localEnd"] = (queue) => this.#streams.localEnd(queue);
    const outbound = this.outbound = new Outbound(transport, budget, time, localEnd, () => this.destroy());
    const streams = this.#streams = new Streams(outbound, held, nuisances, () => this.#finishIfDone());
    const receiveWindows = new ReceiveWindows(outbound, held, streamWindow);
    const sendWindows = this.#sendWindows = new SendWindows(outbound, streams);
    held.onRoom = () => receiveWindows.replenish();
    held.onTurn = () => {
      receiveWindows.replenish();
      for (const stream of streams.open.values()) if (!stream.remoteEnded) receiveWindows.replenishStream(stream);
    };
    this.#blocks = new HeaderBlocks(nuisances, time);
    this.#requests = new Requests({
      streams,
      receiveWindows,
      sendWindows,
      nuisances,
      held,
      maxConcurrentStreams,
      opened: (stream) => events.stream(stream),
    });
    this.#input = new FrameInput(transport, turns, time, {
      frame: (reader) => this.#frame(reader),
      unread: () => this.#requests.unread,
      resume: () => this.#requests.resume(),
      violation: ({ code }) => this.#fail(code),
    });
    outbound.control(settingsFrame({
      [Setting.MAX_CONCURRENT_STREAMS]: maxConcurrentStreams,
      [Setting.INITIAL_WINDOW_SIZE]: streamWindow,
      [Setting.MAX_HEADER_LIST_SIZE]: MAX_HEADERS,
    }));
    receiveWindows.announce();
    transport.start({ data: (chunk) => this.#input.receive(chunk), close: () => this.destroy() });
  }

  /** Open streams by number. */
  get streams(): ReadonlyMap<number, H2Stream> {
    return this.#streams.open;
  }

  /** The client has proved to speak HTTP/2. */
  get started(): boolean {
    return this.#gotSettings;
  }

  /** Received input waits to be worked off. */
  get waitsForTurn(): boolean {
    return this.#input.waits;
  }

  /** When the unfinished frame or header block began; undefined: between frames. */
  get insideSince(): number | undefined {
    return this.#blocks.insideSince ?? this.#input.insideSince;
  }

  /** Asks the client for a sign of life. Any bytes count. */
  ping(): void {
    this.outbound.control(frame(FrameType.PING, 0, 0, new Uint8Array(8)));
  }

  /**
   * Asks the client to open no more streams (GOAWAY). The connection closes at the end of the last stream. Later
   * streams of the client are ignored: the client opens them again elsewhere (section 6.8).
   */
  goAway(code: number = ErrorCode.NO_ERROR): void {
    if (this.#streams.goingAway || this.#closed) return;
    this.#streams.goingAway = true;
    this.outbound.control(numberFrame(FrameType.GOAWAY, 0, this.#streams.last, code));
    this.#finishIfDone();
  }

  /** Breaks the connection off. */
  destroy(): void {
    clearTimeout(this.#linger);
    this.transport.destroy();
    this.#end();
  }

  /** Ends all streams. Nothing more is read or sent, except the bytes already in the transport. */
  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.close();
    this.outbound.close();
    this.#streams.closeAll();
    this.#events.close();
  }

  /** Sends the bytes of the transport, and closes. */
  #finish(): void {
    this.outbound.flush();
    this.transport.end();
    this.#linger ??= setTimeout(() => this.destroy(), LINGER);
  }

  #finishIfDone(): void {
    if (this.#streams.goingAway && this.#streams.open.size === 0 && !this.#closed) this.#finish();
  }

  /** Ends the connection with an error code. */
  #fail(code: number): void {
    if (!this.#input.started) return this.destroy();
    this.outbound.control(numberFrame(FrameType.GOAWAY, 0, this.#streams.last, code));
    this.#finish();
    this.#end();
  }

  #frame({ type, flags, stream: id, payload }: FrameReader): void {
    if (!this.#gotSettings && type !== FrameType.SETTINGS) throw violation("the first frame is not SETTINGS");
    this.#blocks.check(type, id);
    switch (type) {
      case FrameType.DATA:
        return this.#requests.data(flags, id, payload);
      case FrameType.HEADERS:
        return this.#headers(this.#blocks.headers(flags, id, payload));
      case FrameType.CONTINUATION:
        return this.#headers(this.#blocks.continuation(flags, payload));
      case FrameType.PRIORITY:
        return this.#priority(id, payload);
      case FrameType.RST_STREAM:
        if (payload.length !== 4) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "RST_STREAM");
        return this.#streams.reset(id);
      case FrameType.SETTINGS:
        return this.#settings(flags, id, payload);
      case FrameType.PING:
        return this.#pinged(flags, id, payload);
      case FrameType.WINDOW_UPDATE:
        return this.#sendWindows.update(id, payload);
      case FrameType.PUSH_PROMISE:
        throw violation("a client pushes");
      case FrameType.GOAWAY:
        // The client opens no more streams, and closes when the last stream is done.
        if (id !== 0) throw violation("GOAWAY on a stream");
        return;
      default:
        // Unknown types mean nothing.
        this.#nuisances.add();
    }
  }

  #headers(block: HeaderBlock | undefined): void {
    if (block !== undefined) this.#requests.headers(block);
  }

  #priority(id: number, payload: Uint8Array): void {
    if (id === 0) throw violation("PRIORITY on no stream");
    if (payload.length !== 5) return this.#streams.fail(id, ErrorCode.FRAME_SIZE_ERROR);
    this.#nuisances.add();
  }

  #settings(flags: number, id: number, payload: Uint8Array): void {
    if (id !== 0) throw violation("SETTINGS on a stream");
    this.#gotSettings = true;
    if (flags & Flag.ACK) {
      if (payload.length > 0) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "SETTINGS");
      return;
    }
    this.#nuisances.add();
    const window = readSettings(payload);
    if (window !== undefined) this.#sendWindows.change(window);
    this.outbound.control(frame(FrameType.SETTINGS, Flag.ACK, 0));
  }

  #pinged(flags: number, id: number, payload: Uint8Array): void {
    if (id !== 0) throw violation("PING on a stream");
    if (payload.length !== 8) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "PING");
    if (flags & Flag.ACK) return;
    // Clients measure the path with a ping when data come. The server decides how often data go out, so such pings are
    // not counted.
    if (this.outbound.batches === this.#batchesAtPing) this.#nuisances.add();
    this.#batchesAtPing = this.outbound.batches;
    this.outbound.control(frame(FrameType.PING, Flag.ACK, 0, payload));
  }
}
