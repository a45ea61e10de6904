/**
 * Counts the outcomes of tests by profile, and compares outcomes with the list of known failures.
 *
 * @module
 */
import type { Outcome } from "./output.ts";
import type { SuiteList, SuiteProfile, SuiteTest } from "./suite.ts";

/** Outcomes by the name of the test. */
export type Outcomes = ReadonlyMap<string, Outcome>;

/** The tests that do not pass, by name. The text is the reason: what was expected, and what was answered. */
export type KnownFailures = Readonly<Record<string, string>>;

/** Counts of tests. A skipped test, and a test that the suite did not come to, has not passed. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly notRun: number;
}

/** The tests of a profile: all features of the test are the profile's. */
export function testsOf({ core, extended }: SuiteProfile, tests: readonly SuiteTest[]) {
  const all = new Set([...core, ...extended]);
  const inside = tests.filter(({ features }) => features.every((feature) => all.has(feature)));
  const isCore = ({ features }: SuiteTest) => features.every((feature) => core.includes(feature));
  return { core: inside.filter(isCore), extended: inside.filter((test) => !isCore(test)) };
}

/** The counts of tests. */
function countsOf(tests: readonly SuiteTest[], outcomes: Outcomes): Counts {
  const count = (outcome: Outcome | undefined) => tests.filter(({ name }) => outcomes.get(name) === outcome).length;
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped"), notRun: count(undefined) };
}

/** A line for the core tests and a line for the extended tests of each profile with outcomes, for people. */
export function summaryLines({ profiles, tests }: SuiteList, outcomes: Outcomes): string[] {
  return profiles.flatMap((profile) => {
    const parts = testsOf(profile, tests);
    return (["core", "extended"] as const).flatMap((part) => {
      const counts = countsOf(parts[part], outcomes);
      const { passed, failed, skipped, notRun } = counts;
      if (passed + failed + skipped === 0) return [];
      const rest = Object.entries({ failed, skipped, "not run": notRun }).filter(([, count]) => count > 0)
        .map(([word, count]) => `, ${count} ${word}`).join("");
      return [`${profile.name} ${part}: ${passed} of ${parts[part].length} passed${rest}`];
    });
  });
}

/** What differs from the list of known failures: nothing if each test ended as the list says. */
export function differences(outcomes: Outcomes, known: KnownFailures): string[] {
  return [...outcomes].flatMap(([name, outcome]) => {
    const listed = Object.hasOwn(known, name);
    if (outcome === "passed") return listed ? [`${name} passes: its row in known.ts goes`] : [];
    return listed ? [] : [`${name} ${outcome}, and has no row in known.ts`];
  });
}
