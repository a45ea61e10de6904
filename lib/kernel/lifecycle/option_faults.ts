/**
 * Faults of options that keep a server from starting, reported together.
 *
 * @module
 */

/** A fault of an option. */
export interface OptionFault<Option extends string> {
  readonly option: Option;
  /** The text behind the option's name: `got "/nowhere", expected a folder that exists (...)`. */
  readonly text: string;
}

/** The error of a failed start. */
export class OptionFaults<Option extends string> extends Error {
  /** Every fault found. */
  readonly faults: readonly OptionFault<Option>[];

  constructor(faults: readonly OptionFault<Option>[], cause?: unknown) {
    super(faults.map(({ option, text }) => `${option}: ${text}`).join("\n"), { cause });
    this.faults = faults;
  }
  /** An error of the same class with further faults. Returns the same error if there are none. */
  and(more: readonly OptionFault<string>[]): this {
    if (more.length === 0) return this;
    const Same = this.constructor as new (faults: readonly OptionFault<string>[], cause?: unknown) => this;
    return new Same([...this.faults, ...more], this.cause);
  }
}
