/**
 * The demo's application: answers with the application's version.
 *
 * Permissions: net (loopback).
 *
 * @module
 */

/** A running application. */
export interface DemoService {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a version of the application on a free port of the loopback device. */
export function startService(version: string): DemoService {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(`hello from ${version}\n`, { headers: { "x-version": version } }),
  );
  return { port: server.addr.port, stop: () => server.shutdown() };
}
