/**
 * The command `explain`: where a request goes, over both proxies on its way, and which field decided.
 *
 * Permissions: read of what is named, env (the program's variables), net (a server that is asked).
 *
 * @module
 */
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import { NO_TERMINAL } from "../../lib/cli/terminal/terminal.ts";
import { explainRequest } from "../../lib/offline/explain/explain.ts";
import { onWay, worldOf } from "../../lib/offline/explain/of_mesh.ts";
import { BadQuestion, readQuestion } from "../../lib/offline/explain/question.ts";
import { proxiesOf } from "../../lib/offline/workloads.ts";
import { FieldPlaces } from "../../lib/offline/field_place.ts";
import { explanationText } from "./explain_text.ts";
import { namedProxy, readMesh, tellFindings } from "./offline.ts";
import type { explainFlags } from "./offline_flags.ts";

/**
 * Prints the way; resolves with 0 when an endpoint or a proxy answers with a status below 400, 1 when the request fails on
 * its way.
 */
export async function runExplain({ flags, args, output }: Invocation<typeof explainFlags>): Promise<number> {
  const question = asked(flags);
  const { mesh, texts } = await readMesh(args, flags, output);
  const { proxy, note } = namedProxy("flag --from", flags.from, mesh);
  const { proxies } = proxiesOf(mesh);
  const world = worldOf(mesh, proxies, new FieldPlaces((file) => texts.textOf(file)));
  const explained = await explainRequest(question, onWay(proxy), world);
  const explanation = note === undefined ? explained : { ...explained, notes: [note, ...explained.notes] };
  tellFindings(mesh, output);
  if (flags.output === "json") output.out(`${JSON.stringify(explanation, undefined, 2)}\n`);
  else output.out(explanationText(explanation, output.terminals?.out ?? NO_TERMINAL));
  const { kind, status = 200 } = explanation.end;
  return kind === "forwarded" || (kind === "answered" && status < 400) ? 0 : 1;
}

function asked(flags: Invocation<typeof explainFlags>["flags"]) {
  try {
    return readQuestion({ to: flags.to, method: flags.method, headers: flags.header });
  } catch (error) {
    if (error instanceof BadQuestion) throw new UsageError(`flags --to, --method, --header: ${error.message}`);
    throw error;
  }
}
