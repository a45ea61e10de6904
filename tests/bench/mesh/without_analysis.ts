/**
 * Takes the analysis out of a server, for comparison: it notes no object, so there is nothing to look at. For the probe,
 * which runs before the server's main module.
 *
 * @module
 */

/** Environment variable with the root of a tree whose server is to run without analysis. */
export const WITHOUT_ANALYSIS = "MESH_BENCH_WITHOUT_ANALYSIS";

/** The methods by which the analysis hears of objects. */
const HEARS = ["reset", "changed"] as const;

/**
 * Has the servers of a tree in this process analyze nothing.
 *
 * @throws TypeError when the class is another than this knows: it would be measured twice with the analysis
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
