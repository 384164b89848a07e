import net from "node:net";

/**
 * Forwards a port to wherever a server is now, as a virtual IP does.
 *
 * @param {() => number} portNow asked for each connection
 */
export async function startForwarder(portNow) {
  /** @type {Set<net.Socket>} */
  const open = new Set();
  const server = net.createServer((socket) => {
    const onward = net.connect(portNow(), "127.0.0.1");
    for (const [one, other] of /** @type {const} */ ([
      [socket, onward],
      [onward, socket],
    ])) {
      open.add(one);
      one.setNoDelay();
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  /** Ends every connection, so that each caller connects to the present server. */
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const close = () => {
    cut();
    return new Promise((resolve) => server.close(resolve));
  };
  return { port, cut, close };
}
