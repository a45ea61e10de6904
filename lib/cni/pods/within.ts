/**
 * Work on a connection with a deadline.
 *
 * @module
 */

/**
 * Does work on a connection and closes the connection. Closing does not end a waiting read (the runtime keeps the
 * read), so late work is left behind: for processes that end soon.
 * @param open Makes the connection, within the same time.
 * @param ms Longest time for everything, milliseconds.
 * @throws {Error} When the work is late, and the errors of the work.
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
    // The result of late work is not used.
    worked.catch(() => {});
    close(connection);
  }
}

function close(connection: Deno.Conn | undefined): void {
  try {
    connection?.close();
  } catch {
    // The peer or the work has closed the connection already.
  }
}
