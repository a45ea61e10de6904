/**
 * Work on a connection that ends in time.
 *
 * @module
 */

/**
 * Does work on a connection and closes it. Closing alone does not end a read that waits (the runtime keeps it), so that
 * the work is left behind when it is late: for processes that end soon.
 *
 * @param open Makes the connection; in time too.
 * @param ms Longest time for all of it, milliseconds.
 * @throws {Error} when it is late, and the errors of the work.
 */
export async function withinTime<T>(
  ms: number,
  open: () => Promise<Deno.Conn>,
  work: (connection: Deno.Conn) => Promise<T>,
): Promise<T> {
  let connection: Deno.Conn | undefined;
  let over = false;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${ms} ms`)), ms);
  const all = async () => {
    connection = await open();
    if (over) connection.close();
    return await work(connection);
  };
  const worked = all();
  try {
    return await Promise.race([worked, late.promise]);
  } finally {
    over = true;
    clearTimeout(timer);
    // The result of work that is late is not used any more.
    worked.catch(() => {});
    close(connection);
  }
}

function close(connection: Deno.Conn | undefined): void {
  try {
    connection?.close();
  } catch {
    // It was closed by its other end, or by the work.
  }
}
