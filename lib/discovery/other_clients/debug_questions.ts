/**
 * Debug pages on discovery's streams, for clients with a proven identity. `../../debug/audience.ts` has the rule of
 * access. The types `istio.io/debug/syncz` and `/config_dump` show the proxies that the client may see.
 *
 * @module
 */
import { audienceOf, type PageAudience, shownTo } from "../../debug/audience.ts";
import type { DebugView } from "../../debug/view.ts";
import { Code } from "../../grpc/codes.ts";
import { RpcError } from "../../grpc/status.ts";
import { paced } from "../../kernel/time/paced.ts";
import { parseWorkloadIdentity } from "../../pki/spiffe.ts";
import { NodeRefused } from "../../translate/proxy/identity.ts";
import type { XdsConnection } from "../../xds/connection.ts";
import { DEBUG, type DebugAnswers, type DebugQuestion, type DebugResource } from "../../xds/protocol/questions.ts";
import { XdsRefusal } from "../../xds/protocol/source.ts";
import { clientStatus } from "../../xds/questions/client_status.ts";
import type { DiscoveryCallers } from "../identity/callers.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { NodeReader } from "../pipeline/node_reader.ts";

/** Type of the question for the state of proxies. */
const SYNCZ = `${DEBUG}/syncz`;

/** Type of the question for the configuration of one proxy. The resource has the proxy's name. */
const CONFIG_DUMP = `${DEBUG}/config_dump`;

/** Inputs of answers. */
export interface DebugQuestionParts {
  readonly callers: Pick<DiscoveryCallers, "identify" | "identityAs">;
  readonly nodes: NodeReader;
  readonly pipeline: Pick<Pipeline, "mesh">;
  readonly view: DebugView;
}

/**
 * Answers with the debug pages. The modules of the pages are loaded at the first question.
 *
 * @param systemNamespace identities of this namespace may see everything
 */
export function debugQuestions(
  systemNamespace: string,
  { callers, nodes, pipeline, view }: DebugQuestionParts,
): DebugAnswers {
  const audience = (uri: string) =>
    audienceOf({ uri, namespace: parseWorkloadIdentity(uri)?.namespace }, systemNamespace);
  return {
    async identify(request) {
      const caller = await callers.identify(request);
      if (caller === undefined) return undefined;
      try {
        const proxy = nodes.read(request.node, request.delta, pipeline.mesh);
        return callers.identityAs(proxy, caller, request.peer.address);
      } catch (error) {
        if (error instanceof NodeRefused) throw new XdsRefusal(Code.INVALID_ARGUMENT, error.message);
        throw error;
      }
    },
    sees: (identity, other) => audience(identity).confined === undefined || other === identity,
    async answer(question, signal) {
      const sees = audience(question.identity);
      const shown = shownTo(view, sees);
      if (question.typeUrl === CONFIG_DUMP) return await dumpOf(question, shown, signal);
      if (question.typeUrl !== SYNCZ) return await pageOf(question, view, sees, signal);
      const { shownStreams } = await import("../../debug/select.ts");
      return await paced(statuses(shownStreams(shown)), { signal });
    },
  };
}

function* statuses(streams: Iterable<XdsConnection>): Generator<void, DebugResource[]> {
  const found: DebugResource[] = [];
  for (const connection of streams) {
    found.push(clientStatus(connection));
    yield;
  }
  return found;
}

/** The dump of a proxy. When the proxy is not connected, the answer is the text of the debug page. */
async function dumpOf({ typeUrl, names }: DebugQuestion, view: DebugView, signal: AbortSignal) {
  const name = soleName(names, "the name of a proxy, such as cart-1.shop");
  const { chosenProxy, isAnswer } = await import("../../debug/select.ts");
  const connection = chosenProxy(name, view);
  if (isAnswer(connection)) return [{ name, typeUrl, runs: [new TextEncoder().encode(String(connection.body))] }];
  const { dumpMessages } = await import("../../debug/dump_messages.ts");
  const { MAX_PAGE } = await import("../../debug/asked_page.ts");
  const parts = await paced(dumpMessages(connection), { signal });
  const length = parts.flatMap(({ runs }) => runs).reduce((sum, run) => sum + run.length, 0);
  if (length <= MAX_PAGE) return parts;
  const most = `${MAX_PAGE / 1024 / 1024} MiB`;
  throw new RpcError(Code.RESOURCE_EXHAUSTED, `the dump has more than ${most}: ask ${DEBUG} for some of its types`);
}

function soleName(names: readonly string[], expected: string): string {
  const [name] = names;
  if (name && names.length === 1) return name;
  const got = name === "" && names.length === 1 ? "an empty one" : names.length;
  throw new RpcError(Code.INVALID_ARGUMENT, `resource_names: got ${got}, expected ${expected}`);
}

async function pageOf(
  { typeUrl, names }: DebugQuestion,
  view: DebugView,
  audience: PageAudience,
  signal: AbortSignal,
): Promise<DebugResource[]> {
  if (typeUrl !== DEBUG) {
    const got = JSON.stringify(typeUrl);
    const expected = `expected ${DEBUG}, ${SYNCZ} or ${CONFIG_DUMP}`;
    throw new RpcError(Code.INVALID_ARGUMENT, `type_url: got ${got}, ${expected}`);
  }
  const name = soleName(names, "the name of one page, such as config_dump?proxyID=NAME");
  const { askedPage } = await import("../../debug/asked_page.ts");
  const page = await askedPage(name, { view, audience, signal });
  if ("runs" in page) return [{ name, typeUrl, runs: page.runs }];
  if (page.refused === "too long") throw new RpcError(Code.RESOURCE_EXHAUSTED, page.why);
  throw new RpcError(Code.PERMISSION_DENIED, page.why);
}
