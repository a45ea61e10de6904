/**
 * The command `explain`: the way of a request over both proxies, and the fields that decided.
 *
 * Permissions: read of the named paths, env (the program's variables), net (the address of a server).
 *
 * @module
 */
import { type Invocation, type Output, UsageError } from "../../lib/cli/command.ts";
import { NO_TERMINAL } from "../../lib/cli/terminal/terminal.ts";
import { type Explanation, isServed } from "../../lib/debug/explanation.ts";
import { explainRequest } from "../../lib/offline/explain/explain.ts";
import { onWay, worldOf } from "../../lib/offline/explain/of_mesh.ts";
import { BadQuestion, readQuestion } from "../../lib/offline/explain/question.ts";
import { proxiesOf } from "../../lib/offline/workloads.ts";
import { FieldPlaces } from "../../lib/offline/field_place.ts";
import { askServer, serverOfFlag } from "./ask_server.ts";
import { explanationText } from "./explain_text.ts";
import { namedProxy, readMesh, tellFindings } from "./offline.ts";
import type { explainFlags } from "./offline_flags.ts";

/**
 * Prints the way. Resolves with 0 when an endpoint or a proxy answers with a status below 400, and with 1 when the
 * request, or a share of such requests, fails on its way.
 */
export async function runExplain({ flags, args, output }: Invocation<typeof explainFlags>): Promise<number> {
  const explanation = flags.server === "" ? await inFiles(flags, args, output) : await atServer(flags, args);
  if (flags.output === "json") output.out(`${JSON.stringify(explanation, undefined, 2)}\n`);
  else output.out(explanationText(explanation, output.terminals?.out ?? NO_TERMINAL, { all: flags.all }));
  return isServed(explanation) ? 0 : 1;
}

type ExplainFlags = Invocation<typeof explainFlags>["flags"];

function asked(flags: ExplainFlags) {
  try {
    return readQuestion({ to: flags.to, method: flags.method, headers: flags.header });
  } catch (error) {
    if (error instanceof BadQuestion) throw new UsageError(`flags --to, --method, --header: ${error.message}`);
    throw error;
  }
}

async function inFiles(flags: ExplainFlags, args: readonly string[], output: Output): Promise<Explanation> {
  if (args.length === 0) throw new UsageError("explain: got no files, expected a folder, a file, - or --server");
  const question = asked(flags);
  const { mesh, texts } = await readMesh(args, flags, output);
  const { proxy, note } = namedProxy("flag --from", flags.from, mesh);
  const world = worldOf(mesh, proxiesOf(mesh).proxies, new FieldPlaces((file) => texts.textOf(file)));
  const explained = await explainRequest(question, onWay(proxy), world);
  tellFindings(mesh, output);
  return note === undefined ? explained : { ...explained, notes: [note, ...explained.notes] };
}

/** A running server knows the proxies and their resources. */
async function atServer(flags: ExplainFlags, args: readonly string[]): Promise<Explanation> {
  const server = serverOfFlag(flags.server);
  if (args.length > 0) throw new UsageError(`explain: got ${args.join(" ")} and --server, expected one of them`);
  asked(flags);
  const url = new URL("/debug/explain", server);
  const { from, to, method, header } = flags;
  for (const [name, value] of Object.entries({ from, to, method })) url.searchParams.set(name, value);
  if (header.length > 0) url.searchParams.set("headers", header.join("\n"));
  return await askServer("GET", url, { field: "hops" }) as Explanation;
}
