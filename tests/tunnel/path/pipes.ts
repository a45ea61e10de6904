/**
 * Bytes between two connections.
 *
 * @module
 */
import type { Duplex } from "node:stream";

let joined = 0;

/** Connections that are carried now. */
export function carried(): number {
  return joined;
}

/** Carries bytes both ways. An end of one side ends the other side's writing; an error ends both. */
export function join(one: Duplex, other: Duplex): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let open = 2;
  joined++;
  const carry = (from: Duplex, to: Duplex) => {
    from.pipe(to);
    from.on("error", () => to.destroy());
    from.on("close", () => {
      // A side that closes without an end leaves no half behind.
      if (!from.readableEnded) to.destroy();
      if (--open > 0) return;
      joined--;
      resolve();
    });
  };
  carry(one, other);
  carry(other, one);
  return promise;
}
