/**
 * What keeps the node agent from starting, by what the user can change.
 *
 * @module
 */

/** Options at fault. */
export type StartOption = "runDir" | "healthPort" | "monitoringPort";

/** One fault: the option, and what was got and expected. */
export interface StartFault {
  readonly option: StartOption;
  readonly text: string;
}

/** All that keeps it from starting, at once. */
export class StartError extends Error {
  override readonly name = "StartError";
  /** @param faults One for each option. */
  constructor(readonly faults: readonly StartFault[]) {
    super(faults.map(({ option, text }) => `${option}: ${text}`).join("\n"));
  }
}

/** Tries things one after the other, and tells at the end of all that failed. */
export class Attempts {
  readonly #faults: StartFault[] = [];

  /** Does it; undefined when that fails. */
  async try<T>(
    option: StartOption,
    value: string | number,
    expected: string,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      this.#faults.push({ option, text: `got ${JSON.stringify(value)}, expected ${expected} (${said})` });
      return undefined;
    }
  }

  /** @throws {StartError} when something failed. */
  check(): void {
    if (this.#faults.length > 0) throw new StartError(this.#faults);
  }
}
