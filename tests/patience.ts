/**
 * How long tests wait for what has to come.
 *
 * A wait ends by the event that it is for. The limit is there for a test that hangs, and says nothing about speed: it
 * is long enough for a machine many times slower than usual, and short against the limit of a group (scripts/test.ts).
 *
 * @module
 */
import assert from "node:assert/strict";

/** The longest wait for an event that has to come, ms. */
export const PATIENCE = 90_000;

/** Waits until something holds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + PATIENCE; !await holds();) {
    assert.ok(performance.now() < end, `${what}: not within ${PATIENCE / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
