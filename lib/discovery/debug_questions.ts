/**
 * Debug pages on discovery's streams, for clients that prove an identity:
 *
 *     identity                    `istio.io/debug`                          `istio.io/debug/syncz`
 *     of the system namespace     every page that GET has                   all proxies
 *     of another namespace        pages about one proxy of that identity    proxies of that identity
 *
 * @module
 */
import type { DebugView } from "../debug/view.ts";
import { Code } from "../grpc/codes.ts";
import { RpcError } from "../grpc/status.ts";
import { paced } from "../kernel/time/paced.ts";
import { parseWorkloadIdentity } from "../pki/spiffe.ts";
import { NodeRefused } from "../translate/proxy/identity.ts";
import type { XdsConnection } from "../xds/connection.ts";
import { DEBUG, type DebugAnswers, type DebugQuestion, type DebugResource } from "../xds/protocol/questions.ts";
import { XdsRefusal } from "../xds/protocol/source.ts";
import { clientStatus } from "../xds/questions/client_status.ts";
import type { DiscoveryCallers } from "./callers.ts";
import type { Pipeline } from "./pipeline.ts";
import type { NodeReader } from "./node_reader.ts";

/** Type of the question for the state of proxies. */
const SYNCZ = `${DEBUG}/syncz`;

/** What answers are made of. */
export interface DebugQuestionParts {
  readonly callers: Pick<DiscoveryCallers, "identify" | "identityAs">;
  readonly nodes: NodeReader;
  readonly pipeline: Pick<Pipeline, "mesh">;
  /** Asked for when a question has come. */
  readonly view: () => DebugView;
}

/**
 * Answers by the debug pages. Their modules are loaded once one is asked for.
 *
 * @param systemNamespace identities of this namespace may see everything
 */
export function debugQuestions(
  systemNamespace: string,
  { callers, nodes, pipeline, view }: DebugQuestionParts,
): DebugAnswers {
  const isConfinedTo = (identity: string) => parseWorkloadIdentity(identity)?.namespace !== systemNamespace;
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
    sees: (identity, other) => !isConfinedTo(identity) || other === identity,
    async answer(question, signal) {
      const { identity } = question;
      const isConfined = isConfinedTo(identity);
      const isShown = ({ stream }: XdsConnection) => stream?.view.identity === identity;
      const shown = isConfined ? { ...view(), isShown } : view();
      if (question.typeUrl !== SYNCZ) return await pageOf(question, shown, isConfined, signal);
      const { shownStreams } = await import("../debug/select.ts");
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

async function pageOf(
  { typeUrl, names, identity }: DebugQuestion,
  view: DebugView,
  isConfined: boolean,
  signal: AbortSignal,
): Promise<DebugResource[]> {
  if (typeUrl !== DEBUG) {
    const got = JSON.stringify(typeUrl);
    throw new RpcError(Code.INVALID_ARGUMENT, `type_url: got ${got}, expected ${DEBUG} or ${SYNCZ}`);
  }
  const [name] = names;
  if (name === undefined || names.length > 1) {
    const expected = "expected the name of one page, such as config_dump?proxyID=NAME";
    throw new RpcError(Code.INVALID_ARGUMENT, `resource_names: got ${names.length}, ${expected}`);
  }
  const { askedPage } = await import("../debug/asked_page.ts");
  const page = await askedPage(name, { view, isConfined, signal });
  if ("runs" in page) return [{ name, typeUrl, runs: page.runs }];
  if (page.refused === "too long") throw new RpcError(Code.RESOURCE_EXHAUSTED, page.why);
  throw new RpcError(Code.PERMISSION_DENIED, `${page.why}, as ${identity} is of another namespace than the server`);
}
