/**
 * Inputs of the check of the rules, and why a check could not succeed although the rules work.
 *
 * @module
 */
import type { RedirectionConfig } from "./model/config.ts";
import type { Input, InputFinding } from "./input.ts";

/** Inputs of the check. */
export interface ProbeInputs {
  /** Dialled port. */
  readonly port: Input;
  /** Time for each family. `milliseconds` is the value of the text. */
  readonly timeout: Input & { readonly milliseconds: number };
  /** Named in errors about an excluded device. */
  readonly interfacesExcluded: Input;
  /** Named in errors about an excluded port. */
  readonly outboundPortsExcluded: Input;
}

/**
 * Problems of the inputs.
 *
 * @param config The redirection to be found in place; undefined when no check is asked for, or the rest cannot be read.
 */
export function probeProblems(inputs: ProbeInputs, config: RedirectionConfig | undefined): InputFinding[] {
  const problems: InputFinding[] = [];
  const refuse = ({ name, value }: Input, expected: string) => problems.push({ name, value, expected });
  const port = Number(inputs.port.value);
  if (port < 1) refuse(inputs.port, "a port from 1 to 65535");
  if (!(inputs.timeout.milliseconds > 0)) refuse(inputs.timeout, "a time above 0, such as 5s");
  if (config === undefined) return problems;
  const notRedirected = exceptionOf(port, config, inputs);
  if (notRedirected !== undefined) {
    refuse(inputs.port, `a port that the rules redirect, for the check: ${notRedirected}`);
  }
  if (
    config.interfacesExcluded.some((name) =>
      "lo" === name || (name.endsWith("+") && "lo".startsWith(name.slice(0, -1)))
    )
  ) {
    refuse(inputs.interfacesExcluded, "devices other than lo, by which the check goes");
  }
  return problems;
}

/** The exception for the proxy's own connections to a port, in words. Undefined: there is none. */
function exceptionOf(port: number, config: RedirectionConfig, inputs: ProbeInputs): string | undefined {
  if (port === config.tunnelPort) return "this is the port of inbound tunnels";
  if (port === 53 && config.dns !== undefined) return "port 53 is DNS";
  const excluded = config.outboundPortsExcluded.some(({ first, last }) => first <= port && port <= last);
  return excluded ? `this one is excluded by ${inputs.outboundPortsExcluded.name}` : undefined;
}
