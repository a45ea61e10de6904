/**
 * Faults of options that keep the node agent from starting.
 *
 * @module
 */

import { errorMessage } from "../../kernel/text/error_message.ts";
import { type OptionFault, OptionFaults } from "../../kernel/lifecycle/option_faults.ts";

/** Options that may have a fault at start. */
export type NodeAgentOption = "runDir" | "healthPort" | "monitoringPort" | "introspection";

/** A failed start of the node agent. `faults` names every option at fault. */
export class NodeAgentStartError extends OptionFaults<NodeAgentOption> {
  override readonly name = "NodeAgentStartError";
}

/** Runs several steps and reports all failures at the end. */
export class Attempts {
  readonly #faults: OptionFault<NodeAgentOption>[] = [];

  /** Runs a step. Returns undefined when the step fails. */
  async try<T>(
    option: NodeAgentOption,
    value: string | number,
    expected: string,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const said = errorMessage(error);
      this.#faults.push({ option, text: `got ${JSON.stringify(value)}, expected ${expected} (${said})` });
      return undefined;
    }
  }

  /** @throws {NodeAgentStartError} when something failed. */
  check(): void {
    if (this.#faults.length > 0) throw new NodeAgentStartError(this.#faults);
  }
}
