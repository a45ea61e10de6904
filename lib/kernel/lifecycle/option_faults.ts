/**
 * Options that keep a server from starting, all of them at once.
 *
 * @module
 */

/** One fault of one option. */
export interface OptionFault<Option extends string> {
  readonly option: Option;
  /** One sentence that follows the option's name: `got "/nowhere", expected a folder that exists (...)`. */
  readonly text: string;
}

/** The error of a server that did not start. */
export class OptionFaults<Option extends string> extends Error {
  /** Every fault that was found. */
  readonly faults: readonly OptionFault<Option>[];

  constructor(faults: readonly OptionFault<Option>[], cause?: unknown) {
    super(faults.map(({ option, text }) => `${option}: ${text}`).join("\n"), { cause });
    this.faults = faults;
  }
  /** An error of the same class with further faults; itself where there are none. */
  and(more: readonly OptionFault<string>[]): this {
    if (more.length === 0) return this;
    const Same = this.constructor as new (faults: readonly OptionFault<string>[], cause?: unknown) => this;
    return new Same([...this.faults, ...more], this.cause);
  }
}
