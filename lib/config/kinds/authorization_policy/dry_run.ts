/**
 * Policies on trial.
 *
 * @module
 */

/** Whether a policy is a dry run: the policy's decisions are counted and logged, but not enforced. */
export function isDryRun({ meta, spec: { action } }: {
  readonly meta: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec: { readonly action?: string };
}): boolean {
  return (action === "ALLOW" || action === "DENY") && /^(?:1|t|true)$/i.test(meta.annotations["mesh.io/dry-run"] ?? "");
}
