/**
 * Disables a server's analysis, for comparison: the analysis notes no object, so there is nothing to analyze. For the
 * probe, which runs before the server's main module.
 *
 * @module
 */

/** Environment variable with the root of a tree whose server is to run without analysis. */
export const WITHOUT_ANALYSIS = "MESH_BENCH_WITHOUT_ANALYSIS";

/** The methods that inform the analysis about objects. */
const HEARS = ["reset", "changed"] as const;

/**
 * Disables the analysis for servers of a tree in this process.
 *
 * @throws TypeError when the class is unknown, because otherwise both servers would be measured with the analysis.
 */
export async function withoutAnalysis(tree: string): Promise<void> {
  const { Analysis } = await import(`${tree}/lib/analyze/analysis.ts`) as {
    readonly Analysis: { readonly prototype: Record<string, unknown> };
  };
  for (const name of HEARS) {
    if (typeof Analysis.prototype[name] !== "function") throw new TypeError(`the analysis has no method ${name}`);
    Analysis.prototype[name] = () => {};
  }
}
