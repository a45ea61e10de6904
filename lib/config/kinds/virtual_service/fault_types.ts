/**
 * Faults that a VirtualService injects.
 *
 * @module
 */
import type { Percent } from "../common/types.ts";

/** Faults for tests of resilience. */
export interface HttpFaultInjection {
  /** Delays some requests. */
  readonly delay?: FaultDelay;
  /** Answers some requests with an error. */
  readonly abort?: FaultAbort;
}

/** Delay some requests. One of the delays is set. */
export interface FaultDelay {
  /** Deprecated, 0..100. */
  readonly percent?: number;
  /** Time that each request waits. */
  readonly fixedDelay?: number;
  /** Not used by the proxy. */
  readonly exponentialDelay?: number;
  /** Share of the requests; absent: none. */
  readonly percentage?: Percent;
}

/** Abort some requests. One of the codes is set. */
export interface FaultAbort {
  /** 200..599. */
  readonly httpStatus?: number;
  /** Name (UNAVAILABLE) of a gRPC status. */
  readonly grpcStatus?: string;
  /** Not used by the proxy. */
  readonly http2Error?: string;
  /** Share of the requests; absent: none. */
  readonly percentage?: Percent;
}
