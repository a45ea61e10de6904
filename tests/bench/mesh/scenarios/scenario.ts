/**
 * The interface of a scenario, and the sessions in which scenarios measure.
 *
 * Permissions: the permissions of `../session.ts`.
 *
 * @module
 */
import type { KeySpec } from "../../../../lib/pki/public_key.ts";
import type { BenchApi } from "../api.ts";
import type { Calibrator } from "../calibrator.ts";
import type { Shape } from "../configuration.ts";
import { CALLED } from "../load/calls.ts";
import type { Row } from "../result.ts";
import type { ServerOptions } from "../server_child.ts";
import { type Measured, Session } from "../session.ts";

/** How a run is made. */
export interface RunOptions extends ServerOptions {
  /** Edits of each kind. */
  readonly rounds: number;
  /** Small sizes, to try the benchmarks themselves. */
  readonly quick: boolean;
  readonly calibrator: Calibrator;
}

/** The measurements of a server. */
export interface Scenario {
  /** Prefix of the rows' IDs. */
  readonly name: string;
  run(options: RunOptions): Promise<Row[]>;
}

/** Number of services in the usual mesh and in the large mesh. */
export const USUAL = 1000, LARGE = 5000;

/** Number and kind of proxies, and size of the mesh. */
export interface LoadSpec {
  readonly services: number;
  readonly proxies: number;
  readonly delta: boolean;
  readonly gzip: boolean;
  /** The proxies connect over mutual TLS. */
  readonly mutualTls?: boolean;
  /** Key of the authority for mutual TLS. Default: P-256. */
  readonly authorityKey?: KeySpec;
  /** The agents answer DNS by the mesh's names. */
  readonly names?: boolean;
  /** The mesh configuration is an editable file. */
  readonly editsMesh?: boolean;
  /** The proxies ask for what they call. */
  readonly onDemand?: boolean;
  /** Proxies count as reached when the server has received their ACK. */
  readonly untilAcknowledged?: boolean;
}

/** A mesh of so many services. */
export function shapeOf(services: number): Shape {
  return { services, endpoints: 10, namespaces: 10, routed: services / 10 };
}

/** The load, smaller by ten for a quick run. */
export function sized(load: LoadSpec, { quick }: RunOptions): LoadSpec {
  return quick ? { ...load, services: load.services / 10, proxies: Math.ceil(load.proxies / 10) } : load;
}

/** A load in words. */
export function label({ proxies, delta, gzip, mutualTls, names, onDemand }: LoadSpec): string {
  const wire = `${gzip ? "gzip" : "no gzip"}${mutualTls ? ", mutual TLS" : ""}${names ? ", DNS" : ""}`;
  return `${proxies} proxies${onDemand ? ` that ask, each for ${CALLED} hosts` : ""}, ${
    delta ? "delta" : "state of the world"
  }, ${wire}`;
}

/** Uses a session, and stops the session afterwards. */
export async function withSession<T>(
  load: LoadSpec,
  { calibrator, tree, profile, analysis }: RunOptions,
  use: (session: Session) => Promise<T>,
  shape: Shape = shapeOf(load.services),
  api?: BenchApi,
  started?: () => Promise<void>,
): Promise<T> {
  const session = await Session.start({
    ...load,
    shape,
    calibrator,
    ...tree !== undefined && { tree },
    ...profile !== undefined && { profile },
    ...analysis !== undefined && { analysis },
    ...api !== undefined && { api },
    ...started !== undefined && { started },
  });
  try {
    return await use(session);
  } finally {
    await session.stop();
  }
}

/**
 * The step, if all proxies were reached.
 *
 * @throws Otherwise, because the figures would have no meaning.
 */
export function checked(measured: Measured, proxies: number): Measured {
  if (measured.errors.length > 0 || measured.reached !== proxies) {
    const errors = measured.errors.slice(0, 5).join("; ");
    throw new Error(`${measured.reached} of ${proxies} proxies got what they waited for; ${errors || "no errors"}`);
  }
  return measured;
}

/** Makes the same edit some times. */
export async function rounds(count: number, proxies: number, edit: () => Promise<Measured>): Promise<Measured[]> {
  const found: Measured[] = [];
  for (let i = 0; i < count; i++) found.push(checked(await edit(), proxies));
  return found;
}
