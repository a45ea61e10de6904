/**
 * The command `wait`: waits until an object is in force on all proxies of a server.
 *
 * Permissions: net (the address of the server).
 *
 * @module
 */
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import { wrap } from "../../lib/cli/terminal/layout.ts";
import { safeText } from "../../lib/cli/terminal/style.ts";
import { NO_TERMINAL } from "../../lib/cli/terminal/terminal.ts";
import { askServer, serverOfFlag } from "./ask_server.ts";
import type { waitFlags } from "./server_flags.ts";

/** The part of the server's answer about an object that is shown. */
interface Live {
  readonly object: string;
  /** Absent: no version is in force. */
  readonly hash?: string;
  readonly live: number;
  readonly total: number;
  /** Node tunnels that should have the object. Absent: none. */
  readonly tunnels?: { readonly wanted: number; readonly acknowledged: number };
  readonly everywhere: boolean;
  readonly goneEverywhere?: boolean;
  readonly why: readonly string[];
  /** The findings that refuse the newest version. */
  readonly refused?: readonly { readonly message: string }[];
}

/** Longest wait of the server's page, in milliseconds. */
const LONGEST_WAIT = 300_000;

/** Resolves with 0 when the object is in force everywhere, or with 1 if it is not after the time. */
export async function runWait({ flags, args, output }: Invocation<typeof waitFlags>): Promise<number> {
  const server = serverOfFlag(flags.server);
  if (flags.timeout < 0 || flags.timeout > LONGEST_WAIT) {
    throw new UsageError(`flag --timeout: got ${flags.timeout / 1000}s, expected 0s to ${LONGEST_WAIT / 1000}s`);
  }
  const url = new URL("/debug/live", server);
  url.searchParams.set("object", objectOf(args));
  url.searchParams.set("wait", `${flags.timeout / 1000}s`);
  // The page answers 404, with the same content, while no version is in force.
  const answer = await askServer("GET", url, { waits: flags.timeout, alsoStatus: 404, field: "why" }) as Live;
  const isDone = flags.for === "delete" ? answer.goneEverywhere === true : answer.everywhere;
  if (flags.output === "json") output.out(`${JSON.stringify(answer, undefined, 2)}\n`);
  else {
    const { object, why, refused = [] } = answer;
    const state = flags.for === "delete" ? stateGone(answer) : stateInForce(answer);
    const width = (output.terminals?.out ?? NO_TERMINAL).width;
    const reasons = [...refused.map(({ message }) => message), ...why];
    const lines = isDone ? [] : reasons.map((one) => wrap(one, width, "  "));
    output.out(safeText([`${object} ${state}`, ...lines, ""].join("\n")));
  }
  return isDone ? 0 : 1;
}

function stateGone({ goneEverywhere, total }: Live): string {
  return `${goneEverywhere === true ? "is gone from" : "is not gone from"} ${total} proxies`;
}

/** Proxies may have a version that is in force no longer, so their number says nothing about a missing object. */
function stateInForce({ hash, live, total, tunnels, refused = [] }: Live): string {
  if (hash === undefined) return "is not in force";
  const version = refused.length > 0 && total > 0 ? " in its last good version" : "";
  const ofTunnels = tunnels && `${tunnels.acknowledged} of ${tunnels.wanted} node tunnels`;
  const ofProxies = total > 0 || ofTunnels === undefined ? [`${live} of ${total} proxies`] : [];
  return `is in force${version} on ${[...ofProxies, ...ofTunnels === undefined ? [] : [ofTunnels]].join(" and ")}`;
}

/** `vs/shop/reviews` of `vs reviews.shop`, `vs shop/reviews` or `vs/shop/reviews`. */
function objectOf([first = "", second]: readonly string[]): string {
  if (second === undefined) return first;
  if (second.includes("/")) return `${first}/${second}`;
  const dot = second.lastIndexOf(".");
  return dot < 0 ? `${first}/${second}` : `${first}/${second.slice(dot + 1)}/${second.slice(0, dot)}`;
}
