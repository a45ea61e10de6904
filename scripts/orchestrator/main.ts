/**
 * Builds the orchestrator's missing programs for tests.
 *
 *     deno task orchestrator                             all of them
 *     deno task orchestrator kube-apiserver ...          some
 *
 * Permissions: the permissions of `./binaries.ts`.
 *
 * @module
 */
import { buildPrograms, ORCHESTRATOR_PROGRAMS } from "./binaries.ts";

const unknown = Deno.args.filter((arg) => !ORCHESTRATOR_PROGRAMS.some((program) => program === arg));
if (unknown.length > 0) {
  console.error(`${unknown.join(", ")}: expected programs out of ${ORCHESTRATOR_PROGRAMS.join(", ")}`);
  Deno.exit(2);
}
const wanted = ORCHESTRATOR_PROGRAMS.filter((program) => Deno.args.length === 0 || Deno.args.includes(program));
try {
  await buildPrograms(wanted, (line) => console.error(line));
} catch (error) {
  console.error((error as Error).message);
  Deno.exit(1);
}
