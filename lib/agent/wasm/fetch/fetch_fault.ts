/**
 * Why a module cannot be had.
 *
 * @module
 */

/** How a fetch failed, as in the metric `wasm_remote_fetch_count`. */
export type FetchFailure = "download_failure" | "manifest_failure" | "checksum_mismatched" | "fetch_failure";

/** A failed fetch. */
export class FetchFault extends Error {
  override readonly name = "FetchFault";
  /** @param isPassing another attempt soon may do */
  constructor(message: string, readonly failure: FetchFailure, readonly isPassing = false) {
    super(message);
  }
}
