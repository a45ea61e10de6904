/**
 * The SETTINGS of a peer (RFC 9113, section 6.5.2).
 *
 * @module
 */
import { ErrorCode, MAX_FRAME, MAX_WINDOW, Setting } from "./constants.ts";
import { ConnectionError } from "./frames.ts";

/**
 * Checks every entry.
 *
 * @param payload of the frame
 * @returns the initial window of streams (the last, if repeated); undefined: unchanged. Other settings do not matter:
 * nothing is pushed here, no table is kept for sent headers, and frames are sent in a size that every peer takes.
 * @throws ConnectionError for a forbidden value
 */
export function readSettings(payload: Uint8Array): number | undefined {
  if (payload.length % 6 !== 0) throw new ConnectionError(ErrorCode.FRAME_SIZE_ERROR, "SETTINGS");
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
  let initialWindow: number | undefined;
  for (let at = 0; at < payload.length; at += 6) {
    const id = view.getUint16(at);
    const value = view.getUint32(at + 2);
    if (id === Setting.ENABLE_PUSH && value > 1) throw wrong("ENABLE_PUSH", value, "0 or 1");
    if (id === Setting.MAX_FRAME_SIZE && (value < MAX_FRAME || value > 0xffffff)) {
      throw wrong("MAX_FRAME_SIZE", value, "16,384 to 16,777,215");
    }
    if (id !== Setting.INITIAL_WINDOW_SIZE) continue;
    if (value > MAX_WINDOW) {
      throw wrong("INITIAL_WINDOW_SIZE", value, "at most 2,147,483,647", ErrorCode.FLOW_CONTROL_ERROR);
    }
    initialWindow = value;
  }
  return initialWindow;
}

function wrong(
  name: string,
  value: number,
  expected: string,
  code: number = ErrorCode.PROTOCOL_ERROR,
): ConnectionError {
  return new ConnectionError(code, `setting ${name}: ${value}, expected ${expected}`);
}
