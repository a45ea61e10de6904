/**
 * The random values of properties (fast-check) in a run of the tests: the same in each run, or others where
 * `MESH_PROPERTY_RUNS` asks for a search for faults.
 *
 * @module
 */

/** What the processes of a run get. */
export interface PropertyValues {
  /** Options of `deno test`. */
  readonly options: readonly string[];
  /** Variables of the process. */
  readonly variables: Readonly<Record<string, string>>;
  /** The seed of a search for faults. Undefined: the values are the same in each run. */
  readonly seed?: number;
}

const RUNS = "MESH_PROPERTY_RUNS";
const SEED = "MESH_PROPERTY_SEED";

/**
 * Decides which values properties take.
 *
 * @param variable Reads a variable of the runner.
 * @param newSeed Used if `MESH_PROPERTY_SEED` is not set.
 * @throws Error if a variable is not a number, or if a seed is set without a number of runs.
 */
export function propertyValues(variable: (name: string) => string | undefined, newSeed: number): PropertyValues {
  const runs = whole(RUNS, variable(RUNS), 1);
  const seed = whole(SEED, variable(SEED), 0);
  if (runs === undefined) {
    if (seed !== undefined) throw new Error(`${SEED}: expected ${RUNS} beside it, got none`);
    return { options: ["--preload=scripts/test/fixed_seed.ts"], variables: {} };
  }
  const used = seed ?? newSeed;
  return {
    options: ["--preload=scripts/test/long_values.ts"],
    variables: { [RUNS]: String(runs), [SEED]: String(used) },
    seed: used,
  };
}

/** A group's permissions, and where values are searched for, the permission to read the two variables. */
export function withPropertyValues(permissions: readonly string[], { variables }: PropertyValues): readonly string[] {
  const names = Object.keys(variables);
  // Deno takes the option once. Without a list, it stands for all variables.
  if (names.length === 0 || permissions.includes("--allow-env")) return permissions;
  return [...permissions, `--allow-env=${names.join(",")}`];
}

function whole(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new Error(`${name}: expected a number from ${least} to 999999999, got ${JSON.stringify(text.slice(0, 40))}`);
}
