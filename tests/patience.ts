/**
 * How long tests wait for expected events. A wait ends by its event. The limit is for a hanging test, and says nothing
 * about speed: it is long enough for a machine many times slower than usual, and short against the limit of a group
 * (scripts/test.ts).
 * @module
 */
import assert from "node:assert/strict";

/** The longest wait for an expected event, ms. */
export const PATIENCE = 90_000;

/**
 * Waits until something holds.
 *
 * @param pause Between two looks, ms. Default: 20. A look that starts a process needs a longer pause.
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>, pause = 20): Promise<void> {
  for (const end = performance.now() + PATIENCE; !await holds();) {
    assert.ok(performance.now() < end, `${what}: not within ${PATIENCE / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
