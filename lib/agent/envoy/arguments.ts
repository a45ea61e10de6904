/**
 * The command line of a workload's Envoy.
 *
 * @module
 */

/** Inputs of the command line. */
export interface EnvoyArgumentsInput {
  /** The bootstrap file. */
  readonly configFile: string;
  /** YAML that Envoy merges over the bootstrap. Absent: none. */
  readonly override?: string;
  /** Time to drain connections, ms. */
  readonly drainDuration: number;
  /** Worker threads; undefined: as many as the machine has. */
  readonly concurrency: number | undefined;
  readonly logLevel: string;
  /** Levels of components, by name. */
  readonly componentLevels: Readonly<Record<string, string>>;
  /** Log lines are JSON, as the bootstrap says, instead of text. */
  readonly logAsJson: boolean;
  readonly skipDeprecatedLogs: boolean;
  readonly coreDump: boolean;
  /** Address family of Envoy's own address. */
  readonly ipv6: boolean;
}

/** Time, level, component, text. */
const LOG_FORMAT = "%Y-%m-%dT%T.%fZ\t%l\tenvoy %n %g:%#\t%v\tthread=%t";

export function envoyArguments(input: EnvoyArgumentsInput): string[] {
  const components = Object.entries(input.componentLevels).map(([name, level]) => `${name}:${level}`).join(",");
  return [
    ...["-c", input.configFile],
    ...["--drain-time-s", String(Math.ceil(input.drainDuration / 1000)), "--drain-strategy", "immediate"],
    ...["--local-address-ip-version", input.ipv6 ? "v6" : "v4"],
    ...["--file-flush-interval-msec", "1000", "--disable-hot-restart", "--allow-unknown-static-fields"],
    ...["-l", input.logLevel],
    ...(components === "" ? [] : ["--component-log-level", components]),
    ...(input.logAsJson ? [] : ["--log-format", LOG_FORMAT]),
    ...(input.skipDeprecatedLogs ? ["--skip-deprecated-logs"] : []),
    ...(input.coreDump ? ["--enable-core-dump"] : []),
    ...(input.override === undefined ? [] : ["--config-yaml", input.override]),
    ...(input.concurrency === undefined ? [] : ["--concurrency", String(input.concurrency)]),
  ];
}

/** Inputs to the number of worker threads. */
export interface ConcurrencyInput {
  /** The flag `--concurrency`; 0: not given. */
  readonly flag: number;
  /** The setting of the proxy. 0: one thread for each core. Undefined: not set. */
  readonly setting: number | undefined;
  /** `MESH_CPU_LIMIT`, in cores, rounded up; 0: not known. */
  readonly cpuLimit: number;
}

/** Worker threads. Undefined: one for each core of the machine. */
export function concurrencyOf({ flag, setting, cpuLimit }: ConcurrencyInput): number | undefined {
  const chosen = flag > 0 ? flag : setting ?? cpuLimit;
  return chosen > 0 ? chosen : undefined;
}
