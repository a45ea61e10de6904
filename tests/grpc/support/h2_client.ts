/**
 * The client's side of an HTTP/2 connection over a transport in memory.
 * @module
 */
import { FrameType, PREFACE } from "../../../lib/grpc/h2/constants.ts";
import { H2Connection, type H2Limits } from "../../../lib/grpc/h2/connection.ts";
import { frame, FrameReader, settingsFrame } from "../../../lib/grpc/h2/frames.ts";
import { encodeHeaders } from "../../../lib/grpc/h2/hpack.ts";
import { SendBudget } from "../../../lib/grpc/h2/outbound.ts";
import type { H2Stream } from "../../../lib/grpc/h2/stream.ts";
import { SendTurns } from "../../../lib/grpc/budget/send_turns.ts";
import { Turns } from "../../../lib/grpc/budget/turns.ts";
import { MemoryTransport } from "./memory_transport.ts";

/** A frame from the server. */
export interface Frame {
  type: number;
  flags: number;
  stream: number;
  payload: Uint8Array;
}

/** All input is worked off at once. */
export const AT_ONCE: Turns = new Turns({ now: () => 0, nextTurn() {} });

/** A connection, with the client's actions and observations. */
export function connect(limits: H2Limits = { maxConcurrentStreams: 10 }) {
  const transport = new MemoryTransport();
  const streams: H2Stream[] = [];
  const events: string[] = [];
  const budget = new SendBudget(100_000, undefined, new SendTurns({ now: () => 0, nextTurn() {} }));
  const connection = new H2Connection(transport, budget, { turns: AT_ONCE, ...limits }, {
    stream(stream) {
      streams.push(stream);
      stream.listener = {
        data: (bytes) => events.push(`data ${bytes.length}`),
        end: () => events.push("end"),
        close: () => events.push("close"),
      };
    },
    close: () => events.push("connection closed"),
  });
  const reader = new FrameReader();
  reader.push(PREFACE);
  reader.next();
  let read = 0;
  const frames = async (): Promise<Frame[]> => {
    await new Promise((resolve) => setTimeout(resolve, 0));
    const out: Frame[] = [];
    for (; read < transport.written.length; read++) {
      reader.push(transport.written[read]!);
      while (reader.next()) {
        const { type, flags, stream, payload } = reader;
        out.push({ type, flags, stream, payload: payload.slice() });
      }
    }
    return out;
  };
  const send = (...parts: Uint8Array[]) => {
    for (const part of parts) transport.receive(part);
  };
  return { transport, connection, streams, events, frames, send };
}

/** HEADERS of a request. */
export const request = (stream: number, flags = 4) =>
  frame(FrameType.HEADERS, flags, stream, encodeHeaders({ ":method": "POST", ":path": "/x", ":scheme": "http" }));
/** The first frames of every client. */
export const hello = () => [PREFACE, settingsFrame({})];
/** The last number of a payload: an error code, or an increment. */
export const code = (f: Frame) =>
  new DataView(f.payload.buffer, f.payload.byteOffset + f.payload.length - 4).getUint32(0);
