/**
 * The services that the workloads beside simulated proxies call.
 *
 * @module
 */
import { service, type Shape } from "../configuration.ts";

/** Services that each workload calls. */
export const CALLED = 5;

/** Workloads that call service 0, whose rule is edited. */
export const CALLERS = 20;

/** The hosts that a workload calls. Each workload calls other services, and the first workloads also service 0. */
export function calledHosts(shape: Shape, index: number): string[] {
  const others = Array.from({ length: CALLED }, (_, at) => 1 + (index * CALLED + at) % (shape.services - 1));
  const called = index < CALLERS ? [0, ...others.slice(1)] : others;
  return called.map((number) => service(shape, number).host);
}
