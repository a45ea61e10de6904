/**
 * Tests with one API server for each file, and a namespace for each test.
 *
 * Permissions: the permissions of `./api_server.ts`.
 * @module
 */
import { type ApiServer, type ApiServerOptions, startApiServer } from "./api_server.ts";
import { noApiServer } from "./programs.ts";

/** The argument of a test. */
export interface ApiServerTest {
  readonly server: ApiServer;
  /** A namespace used by no other test. */
  readonly namespace: string;
}

/** Registers a test. */
export type DefineApiServerTest = (name: string, run: (test: ApiServerTest) => Promise<void>) => void;

/**
 * Starts a server before the tests of the calling file and stops the server afterwards. Call once a file.
 *
 * @param lacks Why this machine cannot run the tests even with a server. Default: the machine can.
 */
export function apiServerTests(options: ApiServerOptions = {}, lacks?: string): DefineApiServerTest {
  let server: ApiServer | undefined;
  const reason = noApiServer ?? lacks;
  const ignore = reason !== undefined;
  if (!ignore) {
    Deno.test.beforeAll(async () => void (server = await startApiServer(options)));
    Deno.test.afterAll(async () => await server?.[Symbol.asyncDispose]());
  }
  return (name, run) => {
    Deno.test({
      name: ignore ? `${name} (ignored: ${reason})` : name,
      ignore,
      fn: async () => await run({ server: server!, namespace: await server!.namespace() }),
    });
  };
}
