/**
 * Runs scenarios on this tree and another tree in turn.
 *
 * Permissions: the permissions of `./session.ts`.
 *
 * @module
 */
import { comparePairs, type Comparison, LEAST_PAIRS, type Pair } from "./pairs.ts";
import type { RunOptions, Scenario } from "./scenarios/scenario.ts";
import { showComparison } from "./table.ts";

/** The result of a comparison. */
export interface Compared {
  readonly comparisons: readonly Comparison[];
  /** Number of scenarios that failed on a tree and could not be compared. */
  readonly failures: number;
}

/**
 * Compares all scenarios. The first tree alternates from pair to pair, so after-effects of a run (a warm disk, a hot
 * processor) favour neither tree.
 *
 * @param options `tree` is the other tree
 */
export async function runPairs(
  scenarios: readonly Scenario[],
  options: RunOptions,
  count: number,
  print: (line: string) => void,
): Promise<Compared> {
  const { tree: _, ...hereOptions } = options;
  const comparisons: Comparison[] = [];
  let failures = 0;
  if (count < LEAST_PAIRS) print(`${count} pairs: a median says something from ${LEAST_PAIRS} pairs on`);
  for (const scenario of scenarios) {
    print(`\n${scenario.name}: ${count} pairs, this tree / ${options.tree}`);
    try {
      const pairs: Pair[] = [];
      for (let i = 0; i < count; i++) {
        pairs.push(await onePair(i, () => scenario.run(hereOptions), () => scenario.run(options)));
      }
      const found = comparePairs(pairs);
      comparisons.push(...found);
      for (const [work, rows] of Map.groupBy(found, (c) => c.work)) {
        print(`  ${work}`);
        for (const row of rows) print(`    ${showComparison(row)}`);
      }
    } catch (error) {
      failures++;
      print(`  failed: ${error instanceof Error ? error.stack : error}`);
    }
  }
  return { comparisons, failures };
}

/** Runs both; the other tree begins in every second pair. */
export async function onePair<T>(
  index: number,
  here: () => Promise<T>,
  there: () => Promise<T>,
): Promise<{ readonly here: T; readonly there: T }> {
  if (index % 2 === 0) return { here: await here(), there: await there() };
  const before = await there();
  return { here: await here(), there: before };
}
