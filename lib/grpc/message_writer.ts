/**
 * A protobuf message under construction, for messages without descriptors at hand.
 *
 * @module
 */
import { concatBytes } from "../resource/block.ts";
import { fieldSize, putField, putVarint, utf8Bytes, varintSize } from "../resource/protowire.ts";

/** Collects fields in order; field numbers up to 31. */
export class MessageWriter {
  readonly #parts: Uint8Array[] = [];

  /** A length-delimited field; left out when undefined. */
  bytes(field: number, value: Uint8Array | undefined): this {
    if (value === undefined) return this;
    if (field < 16) {
      const out = new Uint8Array(fieldSize(value.length));
      putField(out, 0, field, value);
      this.#parts.push(out);
    } else {
      this.#parts.push(varints(field * 8 + 2, value.length), value);
    }
    return this;
  }

  /** A string field; left out when empty. */
  string(field: number, value: string): this {
    return value === "" ? this : this.bytes(field, utf8Bytes(value));
  }

  /** A varint field (also bool and enum; negative numbers as 64 bit); left out when zero. */
  varint(field: number, value: number): this {
    if (value === 0) return this;
    this.#parts.push(value > 0 ? varints(field * 8, value) : concatBytes([varints(field * 8), negative(value)]));
    return this;
  }

  /** A varint field that is written even when zero, because an absent field has another meaning. */
  present(field: number, value: number): this {
    this.#parts.push(varints(field * 8, value));
    return this;
  }

  /** The encoded message. */
  finish(): Uint8Array {
    return concatBytes([new Uint8Array(0), ...this.#parts]);
  }
}

function varints(...values: number[]): Uint8Array {
  const out = new Uint8Array(values.reduce((sum, value) => sum + varintSize(value), 0));
  let at = 0;
  for (const value of values) at = putVarint(out, at, value);
  return out;
}

function negative(value: number): Uint8Array {
  let rest = BigInt.asUintN(64, BigInt(value));
  const out = new Uint8Array(10);
  for (let i = 0; i < 10; i++, rest >>= 7n) out[i] = Number(rest & 127n) | (i < 9 ? 128 : 0);
  return out;
}
