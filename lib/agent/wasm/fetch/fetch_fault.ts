/**
 * Why a module cannot be fetched.
 *
 * @module
 */

/** How a fetch failed, as in the metric `wasm_remote_fetch_count`. */
export type FetchFailure = "download_failure" | "manifest_failure" | "checksum_mismatched" | "fetch_failure";

/** A failed fetch. */
export class FetchFault extends Error {
  override readonly name = "FetchFault";
  /** @param isTemporary Whether another attempt soon may succeed. */
  constructor(message: string, readonly failure: FetchFailure, readonly isTemporary = false) {
    super(message);
  }
}
