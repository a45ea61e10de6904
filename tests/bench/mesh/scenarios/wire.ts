/**
 * The cost of legal but greedy clients for the server and for other clients.
 *
 * Permissions: the permissions of `../session.ts`.
 *
 * @module
 */
import { encode } from "../../../../lib/pb/codec.ts";
import { ENDPOINTS } from "../../../../lib/xds/protocol/types.ts";
import { atMost, calibrationOf, DEBOUNCE, delayFigure, figure } from "../figures.ts";
import type { FloodKind } from "../load/flood.ts";
import { scanResponse } from "../load/response.ts";
import { GrpcStream } from "../load/stream.ts";
import { startFlood } from "../load_child.ts";
import { type Figure, quantile } from "../result.ts";
import type { ServerChild } from "../server_child.ts";
import type { Session } from "../session.ts";
import { label, type LoadSpec, type RunOptions, type Scenario, shapeOf, sized, withSession } from "./scenario.ts";

/** Connections of a flood. */
const FLOODERS = 4;
/** Time limit for edits, ms: under a flood each edit may take long. */
const LONGEST = 40_000;

interface Edits {
  /** Milliseconds from each edit to each proxy's ACK. */
  readonly p99: number;
  readonly delay: number;
  readonly calibration: number;
}

/** Innocent proxies see and acknowledge edits while others flood the server. */
export const floods: Scenario = {
  name: "floods",
  run(options) {
    const full: LoadSpec = { services: 1000, proxies: 10, delta: true, gzip: false, untilAcknowledged: true };
    const load = { ...sized(full, options), proxies: options.quick ? 2 : full.proxies };
    const count = options.quick ? 3 : 6 * options.rounds;
    return withSession(load, options, async (session) => {
      await session.connect();
      const quiet = await edits(session, options, count);
      const under = async (kind: FloodKind) => {
        const flood = await startFlood({ target: session.server.target, kind, connections: FLOODERS });
        const found = await edits(session, options, count).catch(async (error: unknown) => {
          await flood.stop();
          throw error;
        });
        const { sent, errors } = await flood.stop();
        await session.server.idle();
        // The server may disconnect flooding clients. The flood was then smaller, as the note reports.
        const ended = errors.length === 0 ? "" : `, ${errors.length} times a connection ended (${errors[0]})`;
        return { ...found, note: `${sent} ${kind === "headers" ? "calls" : "messages"} were sent${ended}` };
      };
      const headers = await under("headers");
      const gzip = await under("gzip");
      const waited = DEBOUNCE;
      const compared = (name: string, found: Edits): Figure[] => [
        figure(`edit to ACK, 99 %, under ${name}`, "ms", found.p99, { waited }),
        figure(`the quiet 99 %, under ${name}`, "x", found.p99 / quiet.p99, atMost(2)),
      ];
      return [{
        id: "floods",
        work: `${label(load)}: route rules change while ${FLOODERS} other connections flood the server`,
        istio: "not measured",
        figures: [
          figure("edit to ACK, 99 %, quiet", "ms", quiet.p99, { waited }),
          ...compared("header blocks of 32 kB", headers),
          ...compared("gzip messages of 4 MB", gzip),
          delayFigure(quiet.delay, headers.delay, gzip.delay),
        ],
        calibrations: [calibrationOf([quiet, headers, gzip])],
        note: `${headers.note}; ${gzip.note}`,
      }];
    });
  },
};

async function edits(session: Session, { calibrator }: RunOptions, count: number): Promise<Edits> {
  const { result, calibration } = await calibrator.beside(async () => {
    const all: number[] = [];
    let longest = 0;
    const started = performance.now();
    for (let i = 0; i < count && performance.now() - started < LONGEST; i++) {
      const { ms, delay } = await session.changeRouteUnderLoad();
      all.push(...ms);
      longest = Math.max(longest, delay);
    }
    return { p99: quantile(all, 0.99), delay: longest };
  });
  return { ...result, calibration };
}

const METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

/** A client subscribes to names one by one, like an on-demand client. */
export const subscriptions: Scenario = {
  name: "subscriptions",
  run(options) {
    const names = options.quick ? 1000 : 10_000;
    const load: LoadSpec = { services: 100, proxies: 0, delta: true, gzip: false };
    return withSession(load, options, async (session) => {
      const { server } = session;
      const measure = (count: number) => options.calibrator.beside(() => subscribe(server, count));
      // The first of all compiles the code.
      await subscribe(server, names / 10);
      const half = await measure(names / 2);
      const all = await measure(names);
      const speed = all.calibration / half.calibration;
      return [{
        id: "subscriptions",
        work: `delta: one client subscribes to ${names} names, each in a request of its own`,
        istio: "not measured",
        figures: [
          figure("", "CPU s", all.result.cpu, atMost(1)),
          figure("", "s", all.result.seconds),
          figure("the CPU of half as many names", "x", all.result.cpu / half.result.cpu / speed, atMost(2.2)),
          figure("more resident", "MiB", all.result.grown),
          delayFigure(half.result.delay, all.result.delay),
        ],
        calibrations: [all.calibration],
      }];
    }, { ...shapeOf(load.services), routed: 0 });
  },
};

interface Subscribed {
  readonly cpu: number;
  readonly seconds: number;
  readonly grown: number;
  readonly delay: number;
}

/** Sends all requests at once, acknowledges each response; over when the server has taken all and is idle. */
async function subscribe(server: ServerChild, count: number): Promise<Subscribed> {
  const request = (fields: object) => encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", fields);
  const errors: string[] = [];
  const stream = new GrpcStream({
    message(bytes) {
      const { typeUrl, nonce } = scanResponse(bytes);
      stream.send(request({ type_url: typeUrl, response_nonce: nonce }));
    },
    wire() {},
    ended: (reason) => errors.push(reason),
  });
  const [hostname, port] = server.target.split(":");
  const before = await server.measure();
  const started = performance.now();
  void stream.open(hostname!, Number(port), METHOD, false);
  const node = { id: "sidecar~10.8.0.1~subscriber.ns-0~ns-0.svc.cluster.local" };
  for (let i = 0; i < count; i++) {
    const name = `outbound|80||svc-${i}.ns.svc.cluster.local`;
    stream.send(request({ ...i === 0 && { node }, type_url: ENDPOINTS, resource_names_subscribe: [name] }));
  }
  await stream.answered();
  const seconds = (performance.now() - started) / 1000;
  await server.idle();
  const after = await server.measure();
  stream.close();
  if (errors.length > 0) throw new Error(`subscriptions: ${errors.join("; ")}`);
  const { cpu, resident, delay } = after;
  return { cpu: cpu - before.cpu, seconds, grown: resident - before.resident, delay };
}
