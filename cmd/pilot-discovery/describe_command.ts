/**
 * The commands `describe pod` and `describe service`, of a running server or of files.
 *
 * Permissions: read of the named paths, env (the program's variables), net (the address of a server).
 *
 * @module
 */
import { type Invocation, type Output, UsageError } from "../../lib/cli/command.ts";
import { NO_TERMINAL } from "../../lib/cli/terminal/terminal.ts";
import { type FoundDescription, withFindings } from "../../lib/debug/describe.ts";
import { paced } from "../../lib/kernel/time/paced.ts";
import { checkMesh } from "../../lib/offline/check/check.ts";
import { NoSuchService } from "../../lib/offline/describe/find_service.ts";
import { describeInMesh } from "../../lib/offline/describe/of_mesh.ts";
import { NoSuchProxy } from "../../lib/offline/find_proxy.ts";
import { askServer, serverOfFlag } from "./ask_server.ts";
import { descriptionText } from "./describe_text.ts";
import type { describeFlags } from "./describe_flags.ts";
import { readMesh } from "./offline.ts";

/** What is described. */
export type DescribedSort = "pod" | "service";

type DescribeFlags = Invocation<typeof describeFlags>["flags"];

/** Prints the description. Resolves with 0, or with 1 if a finding about its objects is an error. */
export async function runDescribe(
  sort: DescribedSort,
  { flags, args, given, output }: Invocation<typeof describeFlags>,
): Promise<number> {
  const name = fullName(sort, args[0] ?? "", flags.namespace);
  if (flags.files.length > 0 && given.has("server")) {
    throw new UsageError(`describe: got --files and --server, expected one of them`);
  }
  const described = flags.files.length > 0
    ? await inFiles(sort, name, flags, output)
    : await atServer(sort, name, flags);
  if (flags.output === "json") output.out(`${JSON.stringify(described, undefined, 2)}\n`);
  else output.out(descriptionText(described, output.terminals?.out ?? NO_TERMINAL));
  return described.findings.some(({ severity }) => severity === "error") ? 1 : 0;
}

/** A name with the namespace of the flag. */
function fullName(sort: DescribedSort, name: string, namespace: string): string {
  const short = name.startsWith(`${sort}/`) ? name.slice(sort.length + 1) : name;
  if (short === "") throw new UsageError(`describe ${sort}: got no name, expected name.namespace`);
  if (namespace === "") return name;
  if (!/^[a-z0-9-]+$/.test(namespace)) {
    throw new UsageError(`flag --namespace: got ${JSON.stringify(namespace)}, expected the name of a namespace`);
  }
  if (/[/.]/.test(short)) {
    const [other] = short.includes("/") ? short.split("/") : short.split(".").slice(1);
    if (other === namespace) return short;
    throw new UsageError(`describe ${sort}: got ${name} and --namespace ${namespace}, expected one namespace`);
  }
  return `${short}.${namespace}`;
}

async function inFiles(
  sort: DescribedSort,
  name: string,
  flags: DescribeFlags,
  output: Output,
): Promise<FoundDescription> {
  const { mesh, texts } = await readMesh(flags.files, flags, output);
  try {
    const described = describeInMesh({ [sort]: name }, mesh);
    const options = { assumeServices: false, textOf: (file: string) => texts.textOf(file) };
    const { findings } = await paced(checkMesh(mesh, options));
    return withFindings(described, findings);
  } catch (error) {
    const isOfName = error instanceof NoSuchProxy || error instanceof NoSuchService;
    throw isOfName ? new UsageError(`describe ${sort}: ${error.message}`) : error;
  }
}

async function atServer(sort: DescribedSort, name: string, flags: DescribeFlags): Promise<FoundDescription> {
  const url = new URL("/debug/describe", serverOfFlag(flags.server));
  url.searchParams.set(sort, name);
  return await askServer("GET", url, { field: "findings" }) as FoundDescription;
}
